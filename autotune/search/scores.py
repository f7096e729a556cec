"""Times as scores: how fast a config is among others, whatever the unit."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

MOST_TELLING = 192
FASTEST_TELLING = 96


def normal_scores(times: ArrayLike) -> NDArray[np.float64]:
    """Return the normal scores of ``times``, with mean 0: the fastest has the least.

    A time that is not finite is of one that failed: it ranks behind all others, and if there are
    no others, all scores are 0.
    """
    times = np.asarray(times, dtype=np.float64)
    ran = np.isfinite(times)
    ranks = np.full(len(times), ran.sum() + 1.0)
    ranks[ran] = _ranks(times[ran])
    scores: NDArray[np.float64] = ndtri((ranks - 0.5) / (ran.sum() + (not ran.all())))
    return centred(scores) if ran.any() else np.zeros(len(times))


def _ranks(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks of ``times`` from 1; equal ones share their mean rank."""
    _, which, count = np.unique(times, return_inverse=True, return_counts=True)
    mean: NDArray[np.float64] = (np.cumsum(count) - (count - 1) / 2)[which]
    return mean


def telling(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return where in ``scores`` to look if all are too many: the best, and some of the others."""
    by_score = np.argsort(scores, kind="stable")
    others = by_score[FASTEST_TELLING:]
    every = max(1, math.ceil(len(others) / (MOST_TELLING - FASTEST_TELLING)))
    return np.sort(np.concatenate([by_score[:FASTEST_TELLING], others[::every]]))


def centred(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``scores`` less their mean."""
    less: NDArray[np.float64] = scores - scores.mean()
    return less
