"""Grow a tree of questions that leads to configs which lose little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

import numpy as np
from numpy.typing import NDArray

from autotune.table.imagined import Losses

MOST_ENDS = 64
MOST_DEPTH = 8  # questions, one after the other: they are what a lookup takes
LEAST_SAMPLES = 4  # at an end
CLIPPED = 0.5  # larger losses are alike when it comes to telling problems apart
LEAST_GAIN = 1e-6

Measures = NDArray[np.int64]  # [problem, measure]
Orders = NDArray[np.int64]  # [measure, place]: the same problems each time, by that measure
Places = NDArray[np.int64]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Which measure decides, up to which value the first way is gone, and what asking gains."""

    measure: int
    at_most: int
    gain: float


@dataclass(frozen=True, slots=True)
class Grown:
    """A step of a tree: a question and the place of the first of two ways on, or a config.

    Attributes:
        question: What is asked, or None at an end.
        next: Where it goes on: there, or one further.
        config: The place of the config that loses least.
    """

    question: Question | None
    next: int
    config: int


class Samples:
    """Problems to learn from.

    Args:
        measures: What may be asked of each problem.
        losses: What each config loses on each.
        weights: How much each problem counts.
    """

    def __init__(self, measures: Measures, losses: Losses, weights: Numbers) -> None:
        self._measures, self._weights = measures, weights
        self._losses = losses * weights[:, None]
        self._traits = np.minimum(losses, CLIPPED) * weights[:, None]

    def orders(self) -> Orders:
        """Return all problems in the order of each measure."""
        return self._measures.argsort(axis=0, kind="stable").T

    def parted(self, orders: Orders, question: Question) -> tuple[Orders, Orders]:
        """Return what goes the first way, and the others, both in the order of each measure."""
        first = (self._measures[:, question.measure] <= question.at_most)[orders]
        return orders[first].reshape(len(orders), -1), orders[~first].reshape(len(orders), -1)

    def best(self, orders: Orders) -> int:
        """Return the config that loses least on some of them."""
        rows = np.sort(orders[0])  # in no measure's order: a sum of floats depends on it
        return int(self._losses[rows].sum(axis=0).argmin())

    def question(self, orders: Orders) -> Question | None:
        """Return the question that gains most, or None if none gains anything.

        What counts is what is lost less, and how much more alike the problems of either side are:
        by the first alone, most questions that a good second one needs would gain nothing.
        """
        values = np.take_along_axis(self._measures.T, orders, axis=1)
        cuts = values[:, 1:] > values[:, :-1]
        cuts[:, : LEAST_SAMPLES - 1] = cuts[:, cuts.shape[1] - LEAST_SAMPLES + 1 :] = False
        measure, after = cuts.nonzero()
        gains = self._gains(orders, measure, after)
        if not gains.size or gains.max() <= LEAST_GAIN:
            return None
        best = int(gains.argmax())
        asked, at = int(measure[best]), int(after[best])
        middle = int(values[asked, at : at + 2].sum()) // 2
        return Question(measure=asked, at_most=middle, gain=float(gains[best]))

    def _gains(self, orders: Orders, measure: Places, after: Places) -> Numbers:
        """Return what is gained by cuts, each after a place in the order of a measure."""
        lost, traits = self._losses[orders].cumsum(axis=1), self._traits[orders].cumsum(axis=1)
        weights = self._weights[orders].cumsum(axis=1)
        every, kinds, weight = lost[:, -1], traits[:, -1], weights[:, -1]
        low, low_kinds, low_weight = (some[measure, after] for some in (lost, traits, weights))
        saved = _least(every)[measure] - _least(low) - _least(every[measure] - low)
        alike = _alike(low_kinds, low_weight)
        alike += _alike(kinds[measure] - low_kinds, weight[measure] - low_weight)
        return saved + (alike - _alike(kinds, weight)[measure])


def _least(lost: Numbers) -> Numbers:
    """Return what the best config loses of each."""
    least: Numbers = lost.T.copy().min(axis=0)  # faster than along short rows
    return least


def _alike(traits: Numbers, weights: Numbers) -> Numbers:
    """Return how much more alike the traits of some problems are than those of any."""
    squares: Numbers = (traits**2).sum(axis=1)
    return squares / weights


def grown(samples: Samples) -> list[Grown]:
    """Return a tree, first step first: the question that gains most is added again and again."""
    every = samples.orders()
    steps, orders, depths = [Grown(None, 0, samples.best(every))], [every], [0]
    tickets = count()  # of two questions that gain as much the older one goes first
    first = samples.question(every)
    open_ends = [(-first.gain, next(tickets), 0, first)] if first else []
    while open_ends and (len(steps) + 1) // 2 < MOST_ENDS:
        _, _, at, question = heappop(open_ends)
        steps[at] = Grown(question, len(steps), steps[at].config)
        for some in samples.parted(orders[at], question):
            further = samples.question(some) if depths[at] + 1 < MOST_DEPTH else None
            if further:
                heappush(open_ends, (-further.gain, next(tickets), len(steps), further))
            steps.append(Grown(None, 0, samples.best(some)))
            orders.append(some)
            depths.append(depths[at] + 1)
    return steps


def led(steps: Sequence[Grown], measures: NDArray[np.int64]) -> int:
    """Return the config that a tree leads to from the measures of one problem."""
    step = steps[0]
    while step.question is not None:
        beyond = measures[step.question.measure] > step.question.at_most
        step = steps[step.next + int(beyond)]
    return step.config
