"""Grow a tree of questions that leads to configs which lose little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
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
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Which measure decides, and up to which value the first way is gone."""

    measure: int
    at_most: int


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

    def __init__(self, measures: Measures, losses: Losses, weights: NDArray[np.float64]) -> None:
        self.measures, self._weights = measures, weights
        self._losses = losses * weights[:, None]
        self._traits = np.minimum(losses, CLIPPED) * weights[:, None]

    def best(self, rows: Rows) -> int:
        """Return the config that loses least on some of them."""
        return int(self._losses[rows].sum(axis=0).argmin())

    def question(self, rows: Rows) -> tuple[float, Question | None]:
        """Return the question that gains most, and its gain.

        What counts is what is lost less, and how much more alike the problems of either side are:
        by the first alone, most questions that a good second one needs would gain nothing.
        """
        gain, best = LEAST_GAIN, None
        for measure in range(self.measures.shape[1]):
            order = rows[self.measures[rows, measure].argsort(kind="stable")]
            values = self.measures[order, measure]
            gains = np.where(values[1:] > values[:-1], self._gains(order), 0.0)
            gains[: LEAST_SAMPLES - 1] = gains[len(gains) - LEAST_SAMPLES + 1 :] = 0.0
            at = int(gains.argmax()) if gains.size else 0
            if gains.size and gains[at] > gain:
                middle = int(values[at] + values[at + 1]) // 2
                gain, best = float(gains[at]), Question(measure=measure, at_most=middle)
        return gain, best

    def _gains(self, order: Rows) -> NDArray[np.float64]:
        """Return what is gained by a cut after each of them but the last."""
        lost, traits = self._losses[order].cumsum(axis=0), self._traits[order].cumsum(axis=0)
        weight = self._weights[order].cumsum()
        before, after = lost[:-1].min(axis=1), (lost[-1] - lost[:-1]).min(axis=1)
        parts = (traits[:-1] ** 2).sum(axis=1) / weight[:-1]
        parts += ((traits[-1] - traits[:-1]) ** 2).sum(axis=1) / (weight[-1] - weight[:-1])
        parts -= (traits[-1] ** 2).sum() / weight[-1]
        gains: NDArray[np.float64] = lost[-1].min() - before - after + parts
        return gains


def grown(samples: Samples) -> list[Grown]:
    """Return a tree, first step first: the question that gains most is added again and again."""
    every = np.arange(len(samples.measures))
    steps, rows, depths = [Grown(None, 0, samples.best(every))], [every], [0]
    tickets = count()  # of two questions that gain as much the older one goes first
    open_ends = [(-gain, next(tickets), 0, q) for gain, q in [samples.question(every)] if q]
    heapify(open_ends)
    while open_ends and (len(steps) + 1) // 2 < MOST_ENDS:
        _, _, at, question = heappop(open_ends)
        steps[at] = Grown(question, len(steps), steps[at].config)
        low = samples.measures[rows[at], question.measure] <= question.at_most
        for some in (rows[at][low], rows[at][~low]):
            gain, further = samples.question(some)
            if further and depths[at] + 1 < MOST_DEPTH:
                heappush(open_ends, (-gain, next(tickets), len(steps), further))
            steps.append(Grown(None, 0, samples.best(some)))
            rows.append(some)
            depths.append(depths[at] + 1)
    return steps


def led(steps: Sequence[Grown], measures: NDArray[np.int64]) -> int:
    """Return the config that a tree leads to from the measures of one problem."""
    step = steps[0]
    while step.question is not None:
        beyond = measures[step.question.measure] > step.question.at_most
        step = steps[step.next + int(beyond)]
    return step.config
