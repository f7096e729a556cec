"""From the searches of one sampler on one landscape to its score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autotune.score.baseline import Baseline
from autotune.score.landscape import Floats, Landscape

NEAR = (0.02, 0.05)  # of the best: from here on a search has found it, for practical ends
LOOKS = (50, 100, 200)  # measurements after which a search is looked at
RESAMPLED = 1000
TAIL = 10  # percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One sampler on one landscape.

    Attributes:
        sampler: Its name.
        landscape: Where.
        score: The performance score: 0 is random search, 1 the best from the start.
        resampled: The score of each bootstrap sample of the repeats, [1000].
        curve: The gain over random search at each moment of the window, [1000]; NaN where random
            search is expected to have the best already.
        each: The score of each repeat by itself, [repeat].
        until: Measurements until a repeat is so near the best, [repeat]; infinite if it never was.
        quality: Best value there is ÷ best found after so many measurements, [repeat].
    """

    sampler: str
    landscape: Landscape
    score: float
    resampled: Floats
    curve: Floats
    each: Floats
    until: Mapping[float, Floats]
    quality: Mapping[int, Floats]

    @property
    def interval(self) -> tuple[float, float]:
        """Bounds within which the score lies with 95 %."""
        return interval_of(self.resampled)

    @property
    def tail(self) -> float:
        """The score that nine of ten repeats reach by themselves."""
        return float(np.percentile(self.each, TAIL))


def interval_of(resampled: Floats) -> tuple[float, float]:
    """Return the middle 95 % of bootstrap samples."""
    low, high = np.percentile(resampled, (2.5, 97.5))
    return float(low), float(high)


def judged(
    sampler: str, landscape: Landscape, runs: Sequence[Sequence[int]], *, seed: int
) -> Judged:
    """Return how good ``sampler`` was in ``runs``: the rows that each asked for, in order.

    Args:
        sampler: Its name.
        landscape: What was searched.
        runs: One for each repeat; none is empty.
        seed: Of the bootstrap.
    """
    baseline = Baseline(landscape)
    ranks = np.array([_ranks(landscape, baseline, np.asarray(run)) for run in runs])
    curve = baseline.gains(baseline.values(ranks.mean(axis=0)))
    found = [np.minimum.accumulate(landscape.value_ns[np.asarray(run)]) for run in runs]
    return Judged(
        sampler=sampler,
        landscape=landscape,
        score=_mean(curve),
        resampled=_resampled(baseline, ranks, seed),
        curve=curve,
        each=np.array([_mean(baseline.gains(baseline.values(each))) for each in ranks]),
        until={near: _until(found, (1 + near) * baseline.best_ns) for near in NEAR},
        quality={
            count: np.array([baseline.best_ns / best[min(count, len(best)) - 1] for best in found])
            for count in LOOKS
        },
    )


def _ranks(landscape: Landscape, baseline: Baseline, run: NDArray[np.intp]) -> Floats:
    """Return the rank of the best that a run had found at each moment of the window, [1000]."""
    ranks = np.maximum.accumulate(baseline.ranks(landscape.value_ns[run]))
    done = np.searchsorted(np.cumsum(landscape.cost_ns[run]), baseline.times_ns, "right")
    so_far: Floats = np.concatenate(([0.0], ranks))[done]
    return so_far


def _resampled(baseline: Baseline, ranks: Floats, seed: int) -> Floats:
    """Return the score of bootstrap samples of the repeats."""
    repeats = len(ranks)
    drawn = np.random.default_rng(seed).multinomial(repeats, [1 / repeats] * repeats, RESAMPLED)
    gains = baseline.gains(baseline.values(drawn @ ranks / repeats))
    scores: Floats = np.nanmean(gains, axis=1)
    return scores


def _until(found: Sequence[Floats], enough_ns: float) -> Floats:
    reached = ((best <= enough_ns) for best in found)
    return np.array([1.0 + np.argmax(each) if each.any() else np.inf for each in reached])


def _mean(gains: Floats) -> float:
    return float(np.nanmean(gains))
