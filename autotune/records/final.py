"""A final: the best configs of a problem, measured again in turns; and what decides it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, median, stdev

from autotune.records.config import Config
from autotune.records.identity import canonical_json
from autotune.records.trial import Trial

SIGMAS = 3.0
FEWEST_ROUNDS = 3  # of which a standard error says anything
SPREAD_STEP = 0.05  # finer differences of spread are chance, and would choose by it


@dataclass(frozen=True, slots=True, kw_only=True)
class Finalist:
    """One config of a final.

    Attributes:
        config: The point of the space.
        rounds_ns: Its median in each round, in ns; empty if it failed in one of them. All that
            did not fail were measured in every round.
    """

    config: Config
    rounds_ns: tuple[float, ...]

    @property
    def failed(self) -> bool:
        """True if it was right before and was not in the final."""
        return not self.rounds_ns


def leaders(finalists: Sequence[Finalist]) -> tuple[Config, ...]:
    """Return the fastest config of a final, first, and those that cannot be told from it.

    A round finds all finalists under the same clock and temperature, so they are compared round
    by round: who is slower than the fastest by more than ``SIGMAS`` standard errors of the mean
    difference is slower. Of fewer than ``FEWEST_ROUNDS`` rounds nobody can tell.
    """
    through = [each for each in finalists if not each.failed]
    if not through:
        return ()
    fastest = min(through, key=lambda each: median(each.rounds_ns))
    others = (each for each in through if each is not fastest)
    return (fastest.config, *(each.config for each in others if _ties(each, fastest)))


def front(finalists: Sequence[Finalist], trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials of the leaders that are among ``trials``, the winner first."""
    of = {trial.config: trial for trial in trials}
    return sorted((of[config] for config in leaders(finalists) if config in of), key=tie_order)


def tie_order(trial: Trial) -> tuple[int, int, int, str]:
    """Return what decides between trials that are equally fast; the smallest wins.

    Smaller spread, in steps of ``SPREAD_STEP``, then fewer registers, then fewer stages, then the
    config's canonical JSON: measuring again does not change the winner for nothing.
    """
    spread = trial.measurement.spread if trial.measurement else 0.0
    registers = trial.resources.registers if trial.resources else 0
    stages = trial.config.get("stages", 0)
    fields = canonical_json(trial.config.as_dict())
    return int(spread / SPREAD_STEP), registers, stages if isinstance(stages, int) else 0, fields


def _ties(other: Finalist, fastest: Finalist) -> bool:
    pairs = zip(other.rounds_ns, fastest.rounds_ns, strict=True)
    apart = [theirs - best for theirs, best in pairs]
    if len(apart) < FEWEST_ROUNDS:
        return True
    return fmean(apart) <= SIGMAS * stdev(apart) / sqrt(len(apart))
