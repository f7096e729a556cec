"""A final: the best configs of a problem, measured again in turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, median, stdev

from autotune.records.config import Config

SIGMAS = 3.0
FEWEST_ROUNDS = 3  # of which a standard error says anything


@dataclass(frozen=True, slots=True, kw_only=True)
class Finalist:
    """One config of a final.

    Attributes:
        config: The point of the space.
        rounds_ns: Its median in each round, in ns. All finalists were measured in each.
    """

    config: Config
    rounds_ns: tuple[float, ...]

    @property
    def median_ns(self) -> float:
        """The median round, in ns."""
        return median(self.rounds_ns)


def leaders(finalists: Sequence[Finalist]) -> tuple[Finalist, ...]:
    """Return the fastest finalist, first, and those that its rounds cannot be told from.

    A round finds all finalists under the same clock and temperature, so they are compared round
    by round: who is slower than the fastest by more than ``SIGMAS`` standard errors of the mean
    difference is slower. Of fewer than ``FEWEST_ROUNDS`` rounds nobody can tell.
    """
    fastest = min(finalists, key=lambda each: each.median_ns)
    others = (each for each in finalists if each is not fastest)
    return (fastest, *(each for each in others if _ties(each, fastest)))


def _ties(other: Finalist, fastest: Finalist) -> bool:
    apart = [theirs - best for theirs, best in zip(other.rounds_ns, fastest.rounds_ns, strict=True)]
    if len(apart) < FEWEST_ROUNDS:
        return True
    return fmean(apart) <= SIGMAS * stdev(apart) / sqrt(len(apart))
