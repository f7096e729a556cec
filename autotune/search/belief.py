"""What is believed of configs before any is measured here: from a model, or from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from autotune.records import Config
from autotune.search.gaussian import Likeness, fitted, predicted
from autotune.search.pool import Pool
from autotune.search.registry import FEWEST_ELSEWHERE
from autotune.search.scores import centred, normal_scores, telling


def belief(
    pool: Pool, expected_ns: Sequence[float], elsewhere: Sequence[Mapping[Config, float]]
) -> NDArray[np.float64] | None:
    """Return the normal score that each row is expected to have, or None if nothing is known.

    The model counts as much as all that was measured elsewhere.

    Args:
        pool: Whose rows.
        expected_ns: What a model predicts for each row, in ns; infinite where it says nothing.
        elsewhere: What configs took for other problems, or on other devices, in ns; infinite for
            what failed, which says nothing of others.
    """
    measured = _mean([_of(pool, times) for times in elsewhere])
    told = _mean([_of_estimates(np.asarray(expected_ns)), measured])
    return None if told is None else normal_scores(told)


def _mean(scores: Sequence[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    told = [some for some in scores if some is not None]
    return np.mean(told, axis=0) if told else None


def _of_estimates(expected_ns: NDArray[np.float64]) -> NDArray[np.float64] | None:
    known = np.isfinite(expected_ns)
    if not known.any():
        return None
    scores = np.zeros(len(expected_ns))
    scores[known] = normal_scores(expected_ns[known])
    return scores


def _of(pool: Pool, times: Mapping[Config, float]) -> NDArray[np.float64] | None:
    """Return what a model of ``times`` says of the rows, or None if they are too few."""
    ran = ((config, ns) for config, ns in times.items() if math.isfinite(ns))
    known = [(code, ns) for config, ns in ran if (code := pool.encode(config))]
    if len(known) < FEWEST_ELSEWHERE:
        return None
    scores = normal_scores([ns for _, ns in known])
    some = telling(scores)
    codes = np.array([known[at][0] for at in some], dtype=np.int32).T
    likeness, scores = Likeness(pool.axes), centred(scores[some])
    weights = fitted(likeness.distances(codes), scores)
    return normal_scores(predicted(likeness, weights, (codes, scores), pool.codes))
