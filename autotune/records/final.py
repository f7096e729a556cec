"""A final: the best configs of a problem, measured again in turns; and what decides it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from autotune.records.config import Config
from autotune.records.tie import SIGMAS, tie_order
from autotune.records.trial import Trial

EVEN = 0.01  # of a time: fresh processes find one and the same binary as far apart
FEWEST_ROUNDS = 3  # of which a standard error says anything


@dataclass(frozen=True, slots=True, kw_only=True)
class Finalist:
    """One config of a final.

    Attributes:
        config: The point of the space.
        rounds_ns: Its median in each round, in ns, from the first on; empty if it failed in one
            of them. One with fewer rounds than others was too slow to go on.
    """

    config: Config
    rounds_ns: tuple[float, ...]

    @property
    def failed(self) -> bool:
        """True if it was right before and was not in the final."""
        return not self.rounds_ns


def leaders(finalists: Sequence[Finalist]) -> tuple[Config, ...]:
    """Return the fastest config of a final, first, and those that might as well have come first.

    These are behind it by no more than one standard error.
    """
    return _together(finalists, even=0.0, sigmas=1.0)


def tied(finalists: Sequence[Finalist]) -> tuple[Config, ...]:
    """Return the fastest config of a final, first, and those that tie with it, leaders or not.

    A round finds all finalists under the same clock and temperature, so they are compared round
    by round: who is behind the fastest by more than ``SIGMAS`` standard errors of the mean
    difference, and by more than ``EVEN``, is slower. Of fewer than ``FEWEST_ROUNDS`` rounds nobody
    can tell.
    """
    return _together(finalists, even=EVEN, sigmas=SIGMAS)


def tied_trials(finalists: Sequence[Finalist], trials: Iterable[Trial]) -> list[Trial]:
    """Return those of ``trials`` that tie in a final: the winner, other leaders, then the rest."""
    of = {trial.config: trial for trial in trials}
    leading = leaders(finalists)
    met = [config for config in tied(finalists) if config in of]
    return sorted((of[each] for each in met), key=lambda t: (t.config not in leading, tie_order(t)))


def _together(finalists: Sequence[Finalist], *, even: float, sigmas: float) -> tuple[Config, ...]:
    """Return the fastest of those in the last round, and who is behind by no more than allowed."""
    most = max((len(each.rounds_ns) for each in finalists), default=0)
    through = [each for each in finalists if most and len(each.rounds_ns) == most]
    if not through:
        return ()
    fastest = min(through, key=lambda each: fmean(each.rounds_ns))

    def holds(other: Finalist) -> bool:
        pairs = zip(other.rounds_ns, fastest.rounds_ns, strict=True)
        apart = [theirs / best - 1 for theirs, best in pairs]
        if len(apart) < FEWEST_ROUNDS:
            return True
        return fmean(apart) <= max(even, sigmas * stdev(apart) / sqrt(len(apart)))

    others = (each for each in through if each is not fastest)
    return (fastest.config, *(each.config for each in others if holds(each)))
