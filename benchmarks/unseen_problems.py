"""Random problems of the families that the suite's shapes are of.

A family keeps what all its shapes have in common: its extents lie between the least and the largest
of them, are multiples of the power of two that divides them all (64 at most), and are equal if they
always are. What the suite would count to another family, or has itself, is drawn again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from random import Random

from suite import STUDIES, Groups, grouped

from autotune.study import load_study
from kernel_space.gemm import GemmProblem

STUDY_NAMES = ("suite_small", "suite_large")
WHOLE = 64  # a multiple of it leaves no tail in any tile


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
        shapes = [(each.m, each.n, each.k) for each in problems]
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


def _drawn(name: str, family: Family, random: Random) -> GemmProblem:
    problem = GemmProblem(*family.draw(random))
    while family_of(problem) != name:
        problem = GemmProblem(*family.draw(random))
    return problem


def _spread(low: int, high: int, step: int, random: Random) -> int:
    octaves = random.uniform(math.log2(low), math.log2(high))
    return step * round(2**octaves / step)
