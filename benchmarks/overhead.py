"""The framework's own time for each trial, without the compiler's and the device's.

    python benchmarks/overhead.py --json benchmarks/results/overhead.json

Two studies, each into a new SQLite file on disk, every row committed: one on the shipped
recording with the default sampler, and one of small C++ products on the host device in random
order, whose binaries were all built by the same study just before. From a row to the next:

- ``ask``: the sampler chooses a config;
- ``find``: its key is made of all that it is built from, and its binary is found;
- ``store``: the row is written and committed;
- ``tell``: the sampler learns what became of it;
- ``rest``: what is left of the loop (records, the best so far, progress);
- ``own``: all of these. ``own, cpu`` is the processor time of the same, which a busy machine
  does not prolong, and which lacks the wait for the disk.

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
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
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
PARTS = ("ask", "find", "store", "tell", "rest")
ELSEWHERE = "device"
CPU = "own, cpu"
CALLS = ("ask", "find", "store", "tell", ELSEWHERE)
_Answer = TypeVar("_Answer")


class Clock(Silent):
    """Splits the time from one trial to the next; listens to a study.

    Attributes:
        trials: For each trial the time of each part, in ms.
    """

    def __init__(self) -> None:
        self.trials: list[dict[str, float]] = []
        self._spent: dict[str, float] = {}
        self._since = self._cpu_since = 0.0

    def problem_started(self, problem: Problem, *, planned: int, done: int, valid: int) -> None:
        """Begin to count."""
        del problem, planned, done, valid
        self._restart()

    def trial(self, problem: Problem, trial: Trial, best: Trial | None) -> None:
        """Close the account of one trial; what comes after belongs to the next."""
        del problem, trial, best
        parts = dict.fromkeys((*PARTS, ELSEWHERE, CPU), 0.0) | self._spent
        parts["rest"] = time.perf_counter() - self._since - sum(parts[each] for each in CALLS)
        parts[CPU] += time.process_time() - self._cpu_since
        self.trials.append({name: 1e3 * seconds for name, seconds in parts.items()})
        self._restart()

    def timed(self, part: str, call: Callable[[], _Answer]) -> _Answer:
        """Make a call on the account of ``part``."""
        began, cpu_began = time.perf_counter(), time.process_time()
        try:
            return call()
        finally:
            self._add(part, time.perf_counter() - began)
            if part == ELSEWHERE:
                self._add(CPU, cpu_began - time.process_time())

    def _add(self, part: str, seconds: float) -> None:
        self._spent[part] = self._spent.get(part, 0.0) + seconds

    def _restart(self) -> None:
        self._spent = {}
        self._since, self._cpu_since = time.perf_counter(), time.process_time()


class TimedSearcher:
    """A sampler with a clock around it."""

    def __init__(self, searcher: Searcher, clock: Clock) -> None:
        self._searcher, self._clock = searcher, clock

    def ask(self) -> Config | None:
        """Ask the sampler."""
        return self._clock.timed("ask", self._searcher.ask)

    def tell(self, config: Config, status: Status, median_ns: float | None) -> None:
        """Tell the sampler."""
        self._clock.timed("tell", lambda: self._searcher.tell(config, status, median_ns))


class TimedStore(Store):
    """A store with a clock around what it writes for each trial."""

    clock: Clock

    def record(self, study_id: int, context: Context, trial: Trial) -> Trial:
        """Write one trial."""
        write = super().record
        return self.clock.timed("store", lambda: write(study_id, context, trial))


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
    kernel: str, problem: Mapping[str, int], *, trials: int, sampler: str = "tpe"
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


def summary(device: str, clock: Clock) -> dict[str, Any]:
    """Return a row: median and 95th percentile of each part and of all together, in ms."""
    own = [sum(trial[part] for part in PARTS) for trial in clock.trials]
    by_part = {part: [trial[part] for trial in clock.trials] for part in (CPU, *PARTS, ELSEWHERE)}
    return {
        "on": device,
        "trials": len(clock.trials),
        **{name: _spread(values) for name, values in {"own": own, **by_part}.items()},
    }


def _spread(values_ms: Sequence[float]) -> dict[str, float]:
    p95 = quantiles(values_ms, n=20, method="inclusive")[-1]
    return {"median_ms": round(median(values_ms), 3), "p95_ms": round(p95, 3)}


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print medians and 95th percentiles, in ms."""
    columns = ("own", CPU, *PARTS, ELSEWHERE)
    print(f"{'ms: median (95 %)':18}{'trials':>7}", *(f"{name:>16}" for name in columns))
    for row in rows:
        cells = (f"{row[name]['median_ms']:.2f} ({row[name]['p95_ms']:.2f})" for name in columns)
        print(f"{row['on']:18}{row['trials']:7}", *(f"{cell:>16}" for cell in cells))


if __name__ == "__main__":
    main()
