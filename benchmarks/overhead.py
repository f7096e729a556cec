"""The framework's own time for each trial, without the compiler's and the device's.

    python benchmarks/overhead.py --json benchmarks/results/overhead.json

Two studies, each into a new SQLite file on disk, every row committed: one on the shipped
recording with the sampler ``gp``, and one of small C++ products on the host device in random
order, whose binaries were all built by the same study just before. From a row to the next:

- ``ask``: the sampler chooses a config;
- ``find``: its key is made of all that it is built from, and its binary is found;
- ``store``: the row is written and committed;
- ``tell``: the sampler learns what became of it;
- ``rest``: what is left of the loop (records, the best so far, progress);
- ``own``: all of these.

Each is given in ms of the clock on the wall, and of this process's processors, which other work
on the machine hardly prolongs and which lacks the wait for the disk.

Not counted is the time in which the device measures: on the recording it looks up, on the host
the lane verifies and times. Readings of the yardstick and the final
re-measure and are no trials; both are off. The calls are the real ones, with a clock around.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median, quantiles
from typing import Any, TypeVar
from unittest.mock import patch

from results_file import write_json

from autotune.device import Device, open_device
from autotune.records import (
    QUICK,
    Binary,
    Candidate,
    Config,
    Failure,
    Limits,
    Outcome,
    Policy,
    Problem,
    Status,
    Trial,
    load_kernel,
)
from autotune.search import Searcher, make_searcher
from autotune.store import Context, Store
from autotune.study import DriftSpec, FinalSpec, Silent, StudySpec, run_study
from autotune.toolchain.pool import usable_cpus

PACKAGES = ("autotune-kernels", "numpy", "optuna", "sqlalchemy")
CALLS = ("ask", "find", "store", "tell")
ELSEWHERE = "device"
PARTS = ("own", *CALLS, "rest", ELSEWHERE)
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, in ms of the wall's clock and of the processors."""

    wall_ms: float = 0.0
    cpu_ms: float = 0.0

    @classmethod
    def now(cls) -> Span:
        """Return the time since some moment that never changes."""
        return cls(1e3 * time.perf_counter(), 1e3 * time.process_time())

    def __add__(self, other: Span) -> Span:
        return Span(self.wall_ms + other.wall_ms, self.cpu_ms + other.cpu_ms)

    def __sub__(self, other: Span) -> Span:
        return Span(self.wall_ms - other.wall_ms, self.cpu_ms - other.cpu_ms)


class Clock(Silent):
    """Splits the time from one trial to the next; listens to a study.

    Attributes:
        trials: For each trial the time of each part.
    """

    def __init__(self) -> None:
        self.trials: list[dict[str, Span]] = []
        self._spent: defaultdict[str, Span] = defaultdict(Span)
        self._since = Span()

    def problem_started(self, problem: Problem, *, planned: int, done: int, valid: int) -> None:
        """Begin to count."""
        del problem, planned, done, valid
        self._restart()

    def trial(self, problem: Problem, trial: Trial, best: Trial | None) -> None:
        """Close the account of one trial; what comes after belongs to the next."""
        del problem, trial, best
        own = Span.now() - self._since - self._spent[ELSEWHERE]
        rest = own - sum((self._spent[part] for part in CALLS), Span())
        self.trials.append({**self._spent, "rest": rest, "own": own})
        self._restart()

    def timed(self, part: str, call: Callable[[], _Answer]) -> _Answer:
        """Make a call on the account of ``part``."""
        began = Span.now()
        try:
            return call()
        finally:
            self._spent[part] += Span.now() - began

    def _restart(self) -> None:
        self._spent = defaultdict(Span)
        self._since = Span.now()


class TimedSearcher:
    """A sampler with a clock around it."""

    def __init__(self, searcher: Searcher, clock: Clock) -> None:
        self._searcher, self._clock = searcher, clock

    def ask(self) -> Config | None:
        """Ask the sampler."""
        return self._clock.timed("ask", self._searcher.ask)

    def tell(
        self,
        config: Config,
        status: Status,
        median_ns: float | None,
        further: Sequence[float | None] = (),
    ) -> None:
        """Tell the sampler."""
        self._clock.timed("tell", lambda: self._searcher.tell(config, status, median_ns, further))

    def chance(self, gain: float) -> float | None:
        """Ask what is still to be gained, which these studies never do."""
        return self._searcher.chance(gain)


class TimedStore(Store):
    """A store with a clock around what it writes for each trial."""

    clock: Clock

    def record(
        self, study_id: int, context: Context, trial: Trial, *, replaces: Trial | None = None
    ) -> Trial:
        """Write one trial."""
        write = partial(super().record, study_id, context, trial, replaces=replaces)
        return self.clock.timed("store", write)


class TimedDevice:
    """A device with a clock around what finds binaries and what measures."""

    def __init__(self, device: Device, clock: Clock) -> None:
        self._device, self._clock = device, clock

    def __getattr__(self, name: str) -> Any:
        """Return what the device has."""
        return getattr(self._device, name)

    def build(self, candidate: Candidate) -> Future[Binary | Failure]:
        """Find a binary."""
        return self._clock.timed("find", lambda: self._device.build(candidate))

    def measure(
        self,
        candidate: Candidate,
        binary: Binary,
        policy: Policy,
        *,
        best_ns: float | None = None,
    ) -> Outcome:
        """Verify and time ``candidate``."""
        return self._clock.timed(
            ELSEWHERE,
            lambda: self._device.measure(candidate, binary, policy, best_ns=best_ns),
        )


def main() -> None:
    """Run both studies, print a table, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    rows = [_recorded(arguments.trials), _hosted(arguments.trials)]
    show(rows)
    if arguments.json is not None:
        about = {
            "processors": usable_cpus(),
            "machine": platform.machine(),
            "load_at_start": load,
        }
        write_json(arguments.json, rows, packages=PACKAGES, about=about)


def _recorded(trials: int) -> dict[str, Any]:
    spec = _spec("gemm", {"m": 4096, "n": 4096, "k": 4096}, trials=trials)
    with closing(open_device("recording:h200", limits=Limits())) as device:
        return summary("recording:h200", timed(spec, device))


def _hosted(trials: int) -> dict[str, Any]:
    spec = _spec("host_matmul", {"m": 32, "n": 32, "k": 32}, trials=trials, sampler="random")
    with closing(open_device("host", limits=Limits())) as device:
        timed(spec, device)  # builds every binary
        return summary("host", timed(spec, device))


def _spec(
    kernel: str, problem: Mapping[str, int], *, trials: int, sampler: str = "gp"
) -> StudySpec:
    loaded = load_kernel(kernel)
    return StudySpec(
        name="overhead",
        kernel_ref=kernel,
        kernel=loaded,
        problems=(loaded.problem_type.parse(problem),),
        sampler=sampler,
        trials=trials,
        policy=QUICK,
        final=FinalSpec(candidates=0),
        drift=DriftSpec(every=0),
    )


def timed(spec: StudySpec, device: Device) -> Clock:
    """Run a study into a new database and return what its trials took."""
    clock = Clock()
    watched: Any = TimedDevice(device, clock)

    def searcher(*arguments: Any, **named: Any) -> TimedSearcher:
        return TimedSearcher(make_searcher(*arguments, **named), clock)

    with (
        tempfile.TemporaryDirectory() as folder,
        closing(TimedStore.open(f"{folder}/results.db")) as store,
        patch("autotune.study.loop.make_searcher", searcher),
    ):
        store.clock = clock
        run_study(spec, device=watched, store=store, observer=clock)
    return clock


def summary(on: str, clock: Clock) -> dict[str, Any]:
    """Return a row: median and 95th percentile of each part and of all together, in ms."""
    spans = {part: [trial.get(part, Span()) for trial in clock.trials] for part in PARTS}
    return {
        "on": on,
        "trials": len(clock.trials),
        "wall": {part: _spread([each.wall_ms for each in some]) for part, some in spans.items()},
        "cpu": {part: _spread([each.cpu_ms for each in some]) for part, some in spans.items()},
    }


def _spread(values_ms: Sequence[float]) -> dict[str, float]:
    p95 = quantiles(values_ms, n=20, method="inclusive")[-1]
    return {"median_ms": round(median(values_ms), 3), "p95_ms": round(p95, 3)}


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print medians and 95th percentiles, in ms."""
    print(f"{'ms: median (95 %)':18}{'trials':>7}     ", *(f"{name:>16}" for name in PARTS))
    for row, clock in product(rows, ("wall", "cpu")):
        spreads = (row[clock][part] for part in PARTS)
        cells = (f"{each['median_ms']:.2f} ({each['p95_ms']:.2f})" for each in spreads)
        print(f"{row['on']:18}{row['trials']:7} {clock:4}", *(f"{cell:>16}" for cell in cells))


if __name__ == "__main__":
    main()
