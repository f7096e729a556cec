"""Fit what the prediction of Hopper's mechanisms knows of the device to what was measured on it.

    python benchmarks/fit_prior.py

The constants of ``kernel_space/gemm/hopper/prior.py`` that say "fitted" are those that predict
best, by least squares of logarithms, how the configs of a problem differ: those of the recording
that ships, drawn at random for sixteen problems, and those that ``unseen.py`` timed on 200 random
problems. Fast configs count most, and by how much all of a problem's are off counts a little.

Then it says what is lost by the config that is predicted to be the fastest, on random problems
that had no say: the constants are fitted to one half of them and to the recording, and to the
other half. It takes some minutes, and changes no file.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from resampled import recorded_times
from scipy.optimize import least_squares

from autotune.records import Config
from autotune.records.targets import TARGETS
from kernel_space.gemm import Gemm, GemmProblem, hopper
from kernel_space.gemm.hopper import prior

KERNEL, DEVICE = Gemm(), TARGETS["sm_90a"]
UNSEEN = Path(__file__).parent / "results" / "unseen_h200.json"
# Each with what it is rounded to. A name with a dot is a key of a table.
FITTED = {
    "LATENCY_CLK": 100,
    "TILE_CLK": 100,
    "CLUSTER_FACTOR": 0.01,
    "RAGGED_SHARE": 0.1,
    "NARROW": 0.1,
    "PART_CLK": 100,
    "PARTIAL_BYTES_PER_CLK": 1,
    "ODD_FACTOR": 0.1,
    "WAIT_CLK.ws_basic": 10,
    "WAIT_CLK.ws_cooperative": 10,
    "EXPOSED.ws_basic": 0.1,
    "EXPOSED.ws_cooperative": 0.1,
}
NEAR = 0.15  # behind the fastest: what is so far behind counts 1/e of it
LEAST = 0.02  # that any counts
LEVEL = 0.3  # what a problem's mean counts, beside the differences within
RECORDED = 10.0  # what a recorded problem counts, in random ones: there are few, with many configs
STAY = 0.02  # what it counts to stay near today's constants

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A problem, and what was measured of configs on it.

    Attributes:
        problem: The problem.
        times_ns: By config.
        weight: What the problem counts.
    """

    problem: GemmProblem
    times_ns: Mapping[Config, float]
    weight: float

    @property
    def measured(self) -> Floats:
        """The times in ns."""
        return np.array([*self.times_ns.values()])

    def predicted(self) -> Floats:
        """Return the times that the constants of now predict, in ns."""
        known = KERNEL.estimates(self.problem, self.times_ns, DEVICE)
        return np.array([known[config] for config in self.times_ns])

    def errors(self) -> Floats:
        """Return by how much each time is mispredicted, weighed."""
        measured = self.measured
        counts = LEAST + np.exp((1 - measured / measured.min()) / NEAR)
        counts /= counts.sum()
        off = np.log(measured / self.predicted())
        mean = counts @ off
        return math.sqrt(self.weight) * np.append(np.sqrt(counts) * (off - mean), LEVEL * mean)

    def loss(self) -> float:
        """Return what is lost by the config that is predicted to be the fastest, as a share."""
        measured = self.measured
        return float(measured[self.predicted().argmin()] / measured.min() - 1)


def main() -> None:
    """Print the fitted constants beside those of today, and what either loses."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    today, recorded_cases, random_cases = values(), [*recorded()], [*timed()]
    halves = random_cases[::2], random_cases[1::2]
    lost = []
    for seen, other in (halves, halves[::-1]):
        put(fitted([*recorded_cases, *seen], today))
        lost += [case.loss() for case in other]
    best = fitted([*recorded_cases, *random_cases], today)
    print(f"{'constant':26}{'today':>10}{'fitted':>10}")
    for (name, step), now, then in zip(FITTED.items(), today, best, strict=True):
        print(f"{name:26}{now:10.4g}{step * round(then / step):10.4g}")
    put(today)
    for what, cases in {"recorded": recorded_cases, "random": random_cases}.items():
        print(f"{what + ', today':26}{_told([case.loss() for case in cases])}")
    print(f"{'random, had no say':26}{_told(lost)}")


def recorded() -> Iterator[Case]:
    """Yield the problems of the recording that ships."""
    _, times = recorded_times("h200", KERNEL)
    for problem, times_ns in times.items():
        yield _case(problem.as_dict(), times_ns, RECORDED)


def timed() -> Iterator[Case]:
    """Yield the random problems, with what was timed briefly and found right."""
    rows = json.loads(UNSEEN.read_text(encoding="utf-8"))["rows"]
    configs = {row["name"]: Config(row["config"]) for row in rows if "config" in row}
    for row in rows:
        if row.get("best"):
            right = {name: us for name, us in row["brief_us"].items() if name not in row["wrong"]}
            times = {configs[name]: 1e3 * us for name, us in right.items() if name in configs}
            yield _case(row, times, 1.0)


def _case(fields: Mapping[str, Any], times_ns: Mapping[Config, float], weight: float) -> Case:
    problem = GemmProblem.parse({name: fields[name] for name in ("m", "n", "k", "dtype", "layout")})
    of_hopper = {
        config: ns for config, ns in times_ns.items() if config["mechanism"] in hopper.MECHANISMS
    }
    return Case(problem=problem, times_ns=of_hopper, weight=weight)


def fitted(cases: Sequence[Case], start: Sequence[float]) -> list[float]:
    """Return the constants that predict the cases best, near ``start``."""

    def errors(logs: Floats) -> Floats:
        put(np.exp(logs))
        return np.concatenate([*(case.errors() for case in cases), STAY * (logs - begin)])

    begin = np.log(start)
    found = least_squares(errors, begin, loss="soft_l1", f_scale=0.03, diff_step=1e-2, max_nfev=12)
    return [float(value) for value in np.exp(found.x)]


def values() -> list[float]:
    """Return the constants of now."""
    return [_table(name)[_key(name)] for name in FITTED]


def put(constants: Iterable[float]) -> None:
    """Predict with these constants from now on."""
    for name, value in zip(FITTED, constants, strict=True):
        _table(name)[_key(name)] = float(value)


def _table(name: str) -> dict[str, Any]:
    table: dict[str, Any] = vars(prior)
    return table[name.partition(".")[0]] if "." in name else table


def _key(name: str) -> str:
    return name.rpartition(".")[2]


def _told(losses: Sequence[float]) -> str:
    return f"loses {np.mean(losses):.1%}, 95 % at most {np.quantile(losses, 0.95):.1%}"


if __name__ == "__main__":
    main()
