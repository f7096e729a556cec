"""A Gaussian process over configs: what those that were measured say of the others.

Two configs are alike by ``exp(-sum(weight * distance))`` over the axes. On an ordered axis the
distance is the share of its length between two levels, on another it is 0 or 1. A heavy axis is
one that matters: the weights are fitted to what was measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, solve_triangular

from autotune.search.pool import Axis

Codes = NDArray[np.integer]
Floats = NDArray[np.float64]

NOISE = 0.01  # variance of a score that no axis explains
TYPICAL = 0.4  # a weight is expected around it, most of them within …
FACTOR = 4.5  # … this factor: few rows must not make one axis everything
STEPS = (4.0, 1 / 4, 16.0, 1 / 16)
_ROOM = 64
_AT_ONCE = 16_384  # configs: bounds the memory of a prediction


class Likeness:
    """How alike configs are that are given by their codes on some axes.

    Args:
        axes: Those of a pool.
    """

    def __init__(self, axes: Sequence[Axis]) -> None:
        self._tables = [_table(axis) for axis in axes]
        starts = np.cumsum([0, *(len(table) for table in self._tables)])
        self._parts = [slice(start, end) for start, end in pairwise(starts.tolist())]
        self._levels = int(starts[-1])

    def distances(self, codes: Codes) -> Floats:
        """Return the distance between each two configs on each axis [axis, config, config]."""
        pairs = zip(self._tables, codes, strict=True)
        return np.array([table[code[:, None], code[None, :]] for table, code in pairs])

    def profile(self, codes: Codes) -> NDArray[np.float32]:
        """Return which level of which axis each config has: 1 there, else 0 [config, level].

        Its product with ``pull`` is a weighted distance: many at once cost one product.
        """
        profile = np.zeros((codes.shape[1], self._levels), dtype=np.float32)
        every = np.arange(codes.shape[1])
        for part, code in zip(self._parts, codes, strict=True):
            profile[every, part.start + code.astype(np.intp)] = 1
        return profile

    def pull(self, code: Codes, weights: Floats) -> NDArray[np.float32]:
        """Return the weighted distance from one config to each level of each axis [level]."""
        each = zip(weights, self._tables, code, strict=True)
        parts = [weight * table[at] for weight, table, at in each]
        return np.concatenate(parts).astype(np.float32)


class Posterior:
    """What is known of some configs, measured config by measured config.

    It holds the factor ``L`` of the covariance of what was added, and ``inv(L)`` times its
    covariance with every config of interest: to add one costs one product with it.

    Args:
        likeness: Of the axes.
        weights: Of the axes.
        codes: Of the configs of interest [axis, config].

    Attributes:
        added: What was added, in order, by the names that it was given.
    """

    def __init__(self, likeness: Likeness, weights: Floats, codes: Codes) -> None:
        self._likeness = likeness
        self._weights = weights
        self._codes = codes
        self._profile = likeness.profile(codes)
        self._own = np.zeros((_ROOM, self._profile.shape[1]), dtype=np.float32)
        self._lower = np.zeros((_ROOM, _ROOM))
        self._reach = np.zeros((_ROOM, len(self._profile)), dtype=np.float32)
        self._explained = np.zeros(len(self._profile))
        self.added: list[int] = []

    def add(self, name: int, code: Codes) -> None:
        """Learn that the config with this code is measured; ``mean`` is told its score."""
        count = len(self.added)
        self._make_room(count + 1)
        pull = self._likeness.pull(code, self._weights)
        line = self._solved(np.exp(-(self._own[:count] @ pull)).astype(np.float64))
        rest = math.sqrt(max(1 + NOISE - float(line @ line), NOISE))
        explained = line.astype(np.float32) @ self._reach[:count]
        self._reach[count] = (np.exp(-(self._profile @ pull)) - explained) / rest
        self._explained += self._reach[count] ** 2
        self._lower[count, :count], self._lower[count, count] = line, rest
        self._own[count] = self._likeness.profile(code[:, None])[0]
        self.added.append(name)

    def keep(self, count: int) -> None:
        """Forget all but the first that were added."""
        if count == len(self.added):
            return
        del self.added[count:]
        self._explained[:] = 0
        for reach in self._reach[:count]:  # in the order in which it came, to the last bit
            self._explained += reach**2

    def mean(self, scores: Floats) -> tuple[Floats, float]:
        """Return the expected score of each config of interest, and the variance of all scores.

        Args:
            scores: Those of the first that were added; their mean is 0.
        """
        solved = self._solved(scores)
        expected = solved.astype(np.float32) @ self._reach[: len(scores)]
        return expected.astype(np.float64), float(solved @ solved) / len(scores)

    def uncertainty(self) -> Floats:
        """Return the share of that variance which is left to each config of interest."""
        left: Floats = np.maximum(1 - self._explained, 1e-9)
        return left

    def covariance(self, some: NDArray[np.intp]) -> Floats:
        """Return the shares of that variance which some configs of interest are left together.

        Args:
            some: Where they are among those of interest.
        """
        alike = _alike(self._weights, self._likeness.distances(self._codes[:, some]))
        reach = self._reach[: len(self.added), some].astype(np.float64)
        left: Floats = alike - reach.T @ reach
        return left

    def _solved(self, right: Floats) -> Floats:
        lower = self._lower[: len(right), : len(right)]
        solved: Floats = solve_triangular(lower, right, lower=True, check_finite=False)
        return solved

    def _make_room(self, count: int) -> None:
        if count <= len(self._reach):
            return
        room = len(self._reach)
        self._own = np.pad(self._own, ((0, room), (0, 0)))
        self._lower = np.pad(self._lower, ((0, room), (0, room)))
        self._reach = np.pad(self._reach, ((0, room), (0, 0)))


def predicted(
    likeness: Likeness, weights: Floats, measured: tuple[Codes, Floats], codes: Codes
) -> Floats:
    """Return the expected scores of configs, without how sure that is.

    Args:
        likeness: Of the axes.
        weights: Of the axes.
        measured: Codes [axis, config] and scores; the mean of these is 0.
        codes: Of the configs that are asked for [axis, config].
    """
    covariance = _alike(weights, likeness.distances(measured[0]))
    covariance[np.diag_indices_from(covariance)] += NOISE
    shares = cho_solve(cho_factor(covariance, lower=True), measured[1]).astype(np.float32)
    pulls = np.array([likeness.pull(code, weights) for code in measured[0].T])
    some = range(0, codes.shape[1], _AT_ONCE)
    parts = [likeness.profile(codes[:, start : start + _AT_ONCE]) @ pulls.T for start in some]
    return np.concatenate([np.exp(-part) @ shares for part in parts]).astype(np.float64)


def fitted(distances: Floats, scores: Floats) -> Floats:
    """Return the weights of the axes under which ``scores`` are the least surprising.

    One step for all axes at once and one for each, from where all matter alike: it follows from
    its arguments alone, so that a search that resumes fits as it did before.

    Args:
        distances: Between the measured configs [axis, config, config].
        scores: Of these configs; their mean is 0.
    """
    weights = np.full(len(distances), TYPICAL)
    best = credibility(distances, scores)
    every = np.arange(len(weights))
    for axes in (every, *every):
        for step in STEPS:
            tried = weights.copy()
            tried[axes] *= step
            credible = credibility(distances, scores, tried)
            if credible > best:
                weights, best = tried, credible
                break
    return weights


def credibility(distances: Floats, scores: Floats, weights: Floats | None = None) -> float:
    """Return the log density of ``scores`` and ``weights``, but for a constant.

    Without weights, all axes have the typical one.
    """
    if weights is None:
        weights = np.full(len(distances), TYPICAL)
    covariance = _alike(weights, distances)
    covariance[np.diag_indices_from(covariance)] += NOISE
    try:
        lower = cholesky(covariance, lower=True, check_finite=False)
    except LinAlgError:
        return -np.inf
    solved = solve_triangular(lower, scores, lower=True, check_finite=False)
    variance = max(float(solved @ solved) / len(scores), 1e-12)
    likely = -0.5 * len(scores) * np.log(variance) - np.log(np.diag(lower)).sum()
    odd = np.log(weights / TYPICAL) / np.log(FACTOR)
    return float(likely - 0.5 * (odd @ odd))


def _alike(weights: Floats, distances: Floats) -> Floats:
    alike: Floats = np.exp(-np.tensordot(weights, distances, 1))
    return alike


def _table(axis: Axis) -> Floats:
    level = np.arange(len(axis.levels))
    apart = np.abs(level[:, None] - level[None, :])
    share: Floats = apart / level[-1] if axis.ordered else (apart > 0).astype(np.float64)
    return share
