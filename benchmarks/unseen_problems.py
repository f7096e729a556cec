"""Random problems of the families that the suite's shapes are of, and those that were tuned.

A family keeps what all its shapes have in common: its extents lie between the least and the largest
of them, are multiples of the power of two that divides them all (64 at most), and are equal if they
always are. What the suite would count to another family, or has itself, is drawn again.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from random import Random

from suite import STUDIES, Groups, grouped

from autotune.dispatch.nearest import octaves
from autotune.records import Config
from autotune.store import Filter, Store
from autotune.study import load_study
from kernel_space.gemm import Gemm, GemmProblem

STUDY_NAMES = ("suite_small", "suite_large")
WHOLE = 64  # a multiple of it leaves no tail in any tile
KERNEL = Gemm()
KIND = {"dtype": "bf16", "layout": "nt"}  # of the suite's problems
Measured = dict[GemmProblem, dict[Config, float]]  # median times in ns, fastest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """What the shapes of a family have in common.

    Attributes:
        low: The least m, n and k.
        high: The largest.
        step: What each is a multiple of.
        cubes: Whether all three are always equal.
    """

    low: tuple[int, ...]
    high: tuple[int, ...]
    step: tuple[int, ...]
    cubes: bool

    @classmethod
    def of(cls, problems: Sequence[GemmProblem]) -> Family:
        """Return the family that these are of."""
        shapes = [*map(extents, problems)]
        fields = tuple(zip(*shapes, strict=True))
        return cls(
            low=tuple(map(min, fields)),
            high=tuple(map(max, fields)),
            step=tuple(math.gcd(WHOLE, *field) for field in fields),
            cubes=all(len(set(shape)) == 1 for shape in shapes),
        )

    def draw(self, random: Random) -> tuple[int, int, int]:
        """Return extents that are spread evenly over octaves."""
        bounds = zip(self.low, self.high, self.step, strict=True)
        m, n, k = (_spread(*each, random) for each in bounds)
        return (m, m, m) if self.cubes else (m, n, k)


def suite() -> Groups:
    """Return the suite's shapes by family, as the shipped studies have them."""
    specs = [load_study(STUDIES / f"{name}.toml") for name in STUDY_NAMES]
    return grouped(problem for spec in specs for problem in spec.problems)  # type: ignore[misc]


def drawn(groups: Mapping[str, Sequence[GemmProblem]], count: int, seed: int) -> list[GemmProblem]:
    """Return ``count`` distinct problems, of each family in turn, the same for the same seed."""
    random = Random(seed)  # noqa: S311 - reproducible shapes
    known = {problem for some in groups.values() for problem in some}
    found: list[GemmProblem] = []
    for name in islice(cycle(groups), count):
        problem = _drawn(name, Family.of(groups[name]), random)
        while problem in known:
            problem = _drawn(name, Family.of(groups[name]), random)
        known.add(problem)
        found.append(problem)
    return found


def family_of(problem: GemmProblem) -> str:
    """Return the name of the family that a problem belongs to."""
    return next(iter(grouped([problem])))


def measured_in(paths: Iterable[Path]) -> Measured:
    """Return what databases hold of problems like the suite's; the first that knows one decides."""
    times: dict[GemmProblem, dict[Config, float]] = defaultdict(dict)
    for path in paths:
        with Store.open(f"sqlite:///{path.resolve()}", read_only=True) as store:
            for row in store.rows(Filter(kernel=KERNEL.name, problem=KIND)):
                trial = row.trial
                if trial.median_ns is not None and trial.verified:
                    problem = GemmProblem.parse(row.context.problem.as_dict())
                    times[problem].setdefault(trial.config, trial.median_ns)
    return {problem: _by_time(some) for problem, some in times.items()}


def nearest(problem: GemmProblem, tuned: Iterable[GemmProblem], count: int) -> list[GemmProblem]:
    """Return the tuned problems at the smallest distance by the rule of a table."""
    alike = [p for p in tuned if (p.dtype, p.layout) == (problem.dtype, problem.layout)]
    return sorted(alike, key=lambda other: octaves(extents(other), extents(problem)))[:count]


def extents(problem: GemmProblem) -> tuple[int, int, int]:
    """Return m, n and k."""
    return problem.m, problem.n, problem.k


def _drawn(name: str, family: Family, random: Random) -> GemmProblem:
    problem = GemmProblem(*family.draw(random))
    while family_of(problem) != name:
        problem = GemmProblem(*family.draw(random))
    return problem


def _spread(low: int, high: int, step: int, random: Random) -> int:
    size = 2 ** random.uniform(math.log2(low), math.log2(high))
    return step * round(size / step)


def _by_time(times: Mapping[Config, float]) -> dict[Config, float]:
    return {config: times[config] for config in sorted(times, key=times.__getitem__)}
