"""A Gaussian process over configs: what those that were measured say of the others.

Two configs are alike by ``exp(-sum(weight * distance))`` over the axes. On an ordered axis the
distance is the share of its length between two levels, on another it is 0 or 1. A heavy axis is
one that matters: the weights are fitted to what was measured.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import (
    LinAlgError,
    block_diag,
    cho_factor,
    cho_solve,
    cholesky,
    solve_triangular,
)

from autotune.search.pool import Axis

Codes = NDArray[np.integer]
Floats = NDArray[np.float64]
Real = NDArray[np.floating]

NOISE = 0.01  # variance of a score that no axis explains
TYPICAL = 0.4  # a weight is expected around it, most of them within …
FACTOR = 4.5  # … this factor: few rows must not make one axis everything
STEPS = (4.0, 1 / 4, 16.0, 1 / 16)
_ROOM = 64
_AT_ONCE = 4_096  # configs: bounds the memory of a prediction


class Likeness:
    """How alike configs are that are given by their codes on some axes.

    Args:
        axes: Those of a pool.
    """

    def __init__(self, axes: Sequence[Axis]) -> None:
        self._tables = [_table(axis) for axis in axes]
        starts = np.cumsum([0, *(len(table) for table in self._tables)])
        self._first, self._levels = starts[:-1, None], int(starts[-1])

    def distances(self, codes: Codes) -> Floats:
        """Return the distance between each two configs on each axis [axis, config, config]."""
        pairs = zip(self._tables, codes, strict=True)
        return np.array([table[code[:, None], code[None, :]] for table, code in pairs])

    def profile(self, codes: Codes) -> NDArray[np.float32]:
        """Return which level of which axis each config has: 1 there, else 0 [config, level].

        With ``pulls`` between two profiles, their product is the weighted distance of configs.
        """
        profile = np.zeros((codes.shape[1], self._levels), dtype=np.float32)
        profile[np.arange(codes.shape[1]), self._first + codes] = 1
        return profile

    def pulls(self, weights: Floats) -> NDArray[np.float32]:
        """Return the weighted distance between levels of an axis, else 0 [level, level]."""
        pairs = zip(weights, self._tables, strict=True)
        return block_diag(*[weight * table for weight, table in pairs]).astype(np.float32)


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
        self._pulls = likeness.pulls(weights)
        self._codes = codes
        self._profile = likeness.profile(codes)
        self._own = np.zeros((_ROOM, self._profile.shape[1]), dtype=np.float32)
        self._lower = np.zeros((_ROOM, _ROOM))
        self._reach = np.zeros((_ROOM, len(self._profile)), dtype=np.float32)
        self._explained = np.zeros(len(self._profile))
        self.added: list[int] = []

    def add(self, names: Sequence[int], codes: Codes) -> None:
        """Learn that configs with these codes are measured; ``mean`` is told their scores.

        Together or one by one comes to the same but for rounding.
        """
        old, new = len(self.added), len(self.added) + len(names)
        self._make_room(new)
        own = self._likeness.profile(codes)
        pulls = (own @ self._pulls).T
        line = self._solved(np.exp(-(self._own[:old] @ pulls)).astype(np.float64))
        alike = np.exp(-(own @ pulls)) + NOISE * np.eye(len(own))
        rest = cholesky(alike - line.T @ line, lower=True, check_finite=False)
        explained = self._reach[:old].T @ line.astype(np.float32)
        unexplained = (np.exp(-(self._profile @ pulls)) - explained).T
        self._reach[old:new] = _solve(rest.astype(np.float32), unexplained)
        self._explain(old, new)
        self._lower[old:new, :old], self._lower[old:new, old:new] = line.T, rest
        self._own[old:new] = own
        self.added.extend(names)

    def keep(self, count: int) -> None:
        """Forget all but the first that were added."""
        if count == len(self.added):
            return
        del self.added[count:]
        self._explained[:] = 0
        self._explain(0, count)

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

    def _explain(self, start: int, end: int) -> None:
        for reach in self._reach[start:end]:  # in the order in which it came, to the last bit
            self._explained += reach**2

    def _solved(self, right: Floats) -> Real:
        return _solve(self._lower[: len(right), : len(right)], right)

    def _make_room(self, count: int) -> None:
        if count <= len(self._reach):
            return
        room = max(len(self._reach), count - len(self._reach))
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
    np.fill_diagonal(covariance, 1 + NOISE)
    shares = cho_solve(cho_factor(covariance, lower=True), measured[1]).astype(np.float32)
    pulls = -(likeness.profile(measured[0]) @ likeness.pulls(weights)).T
    expected = np.empty(codes.shape[1])
    for start in range(0, len(expected), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        alike = likeness.profile(codes[:, some]) @ pulls
        expected[some] = np.exp(alike, out=alike) @ shares
    return expected


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
    np.fill_diagonal(covariance, 1 + NOISE)
    try:
        lower = cholesky(covariance, lower=True, check_finite=False)
    except LinAlgError:
        return -np.inf
    solved = _solve(lower, scores)
    variance = max(float(solved @ solved) / len(scores), 1e-12)
    likely = -0.5 * len(scores) * np.log(variance) - np.log(np.diag(lower)).sum()
    odd = np.log(weights / TYPICAL) / np.log(FACTOR)
    return float(likely - 0.5 * (odd @ odd))


def _alike(weights: Floats, distances: Floats) -> Floats:
    alike: Floats = np.exp(-np.tensordot(weights, distances, 1))
    return alike


def _solve(lower: Real, right: Real) -> Real:
    solved: Real = solve_triangular(lower, right, lower=True, check_finite=False)
    return solved


def _table(axis: Axis) -> Floats:
    level = np.arange(len(axis.levels))
    apart = np.abs(level[:, None] - level[None, :])
    share: Floats = apart / level[-1] if axis.ordered else (apart > 0).astype(np.float64)
    return share
