"""What the rule for untuned problems costs, and the weights that it costs least with.

Each problem is left out in turn and answered by the entries that the others alone would have
made. Only what the database has measured is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.dispatch.nearest import steps
from autotune.records import Config
from autotune.table.answered import Answered

RULE = "nearest"
LEAST_GAIN = 0.005  # mean regret that other weights must save: less is noise
_FACTORS = (1, 2, 3, 4)
_MOST_FIELDS = 4  # whose weights are chosen together

Choose = Callable[[Sequence[Answered]], list[Answered]]
Losses = NDArray[np.float64]  # NaN where the database cannot tell
Weights = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Weights, and what the rule costs with them.

    Attributes:
        weights: One for each scaled field.
        losses: The regret of each problem that was left out; NaN where it is not known.
        rule: What answered: ``nearest`` or ``tree``.
    """

    weights: Weights
    losses: Losses
    rule: str = RULE

    def as_dict(self) -> dict[str, Any]:
        """Return what a table says of it."""
        return {"rule": self.rule, "problems": len(self.losses), **summary(self.losses)}


def summary(losses: Losses) -> dict[str, float | None]:
    """Return how many losses are known, their mean, what 95 % stay below, and the worst."""
    known = losses[~np.isnan(losses)]
    if not known.size:
        return {"judged": 0, "mean": None, "p95": None, "worst": None}
    return {
        "judged": len(known),
        "mean": round(float(known.mean()), 4),
        "p95": round(float(np.quantile(known, 0.95)), 4),
        "worst": round(float(known.max()), 4),
    }


def judged(case: LeftOut) -> Judgement:
    """Choose the weights by what each problem would have cost had it not been tuned.

    All fields count alike unless other weights save ``LEAST_GAIN`` also on problems that had no
    say in them, and leave no more problems unjudged.

    Args:
        case: All problems of one kernel.
    """
    tried = grid(case.fields)
    losses = np.array([case.losses(weights) for weights in tried])
    plain = losses[0]
    gains = np.nan_to_num(plain - losses)  # what either does not know is no gain
    gains[(~np.isnan(losses)).sum(axis=1) < (~np.isnan(plain)).sum()] = 0.0
    others = gains.sum(axis=1, keepdims=True) - gains  # without the say of each problem
    unseen, every = others.argmax(axis=0), np.arange(len(plain))
    least = LEAST_GAIN * (~np.isnan(plain)).sum()
    if every.size and gains[unseen, every].sum() > least:
        return Judgement(weights=tried[gains.sum(axis=1).argmax()], losses=losses[unseen, every])
    return Judgement(weights=tried[0], losses=plain)


class LeftOut:
    """Every problem left out in turn: who may answer for it, how far away and at what cost.

    Args:
        problems: All of one kernel.
        choose: Gives the entries that a table of some problems would have.

    Attributes:
        problems: The same, smaller ones first.
        fields: How many scaled fields they have.
        entries: What a table would have without each of them.
    """

    def __init__(self, problems: Sequence[Answered], choose: Choose) -> None:
        scaled = problems[0].evidence.kernel.scaled_fields if problems else ()
        self.fields = len(scaled)
        ordered = sorted(problems, key=lambda each: each.sizes)  # equals go to the smaller one
        self.problems = ordered
        shape = (len(ordered), len(ordered))
        places = np.array([[steps(size) for size in each.sizes] for each in ordered], np.int64)
        places = places.reshape(len(ordered), self.fields)
        self._apart = np.abs(places[:, None] - places[None])
        self._may = np.zeros(shape, bool)
        self._cost = np.full(shape, np.nan)
        self._fallback = np.full(len(ordered), np.nan)  # of a problem without neighbours
        self.entries = [choose([*ordered[:at], *ordered[at + 1 :]]) for at in range(len(ordered))]
        for at, problem in enumerate(ordered):
            self._leave_out(at, problem, self.entries[at])

    def losses(self, weights: Weights) -> Losses:
        """Return the regret of each of ``problems`` under ``weights``; NaN if it is not known."""
        far = np.iinfo(np.int64).max
        distance = np.where(self._may, self._apart @ np.array(weights, np.int64), far)
        if not distance.size:
            return np.full(len(distance), np.nan)
        nearest = distance.argmin(axis=1)
        every = np.arange(len(distance))
        return np.where(self._may.any(axis=1), self._cost[every, nearest], self._fallback)

    def _leave_out(self, at: int, problem: Answered, entries: list[Answered]) -> None:
        others = [place for place in range(len(self._may)) if place != at]
        for entry, place in zip(entries, others, strict=True):
            if entry.exact_key != problem.exact_key:
                continue
            self._fallback[at] = loss(problem, problem.default)  # where no neighbour may answer
            if problem.admits(entry.config, entry):
                self._may[at, place] = True
                self._cost[at, place] = loss(problem, entry.config)


def loss(problem: Answered, config: Config | None) -> float:
    """Return what is lost by a config, as a share; NaN if that is not known."""
    share = None if config is None else problem.loss_of(config)
    return np.nan if share is None else share


def grid(fields: int) -> list[Weights]:
    """Return the weights that are tried, all alike first, each ratio once."""
    if fields > _MOST_FIELDS:
        ones = (1,) * fields
        heavier = [
            (*ones[:at], factor, *ones[at + 1 :]) for at in range(fields) for factor in _FACTORS[1:]
        ]
        return [ones, *heavier]
    every = product(_FACTORS, repeat=fields)
    return sorted((w for w in every if gcd(*w) <= 1), key=lambda weights: (sum(weights), weights))
