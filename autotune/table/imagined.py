"""Problems that nobody tuned, drawn around those that were, and what is predicted there.

A problem lies on the way between two that were tuned, as sizes double, up to half an octave beside
it. Its sizes are multiples of powers of two, each as likely as any other: what divides a size
often decides which config is fast, or may serve at all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from autotune.errors import AutotuneError
from autotune.records import Config, Problem
from autotune.space import Crowd
from autotune.table.answered import Answered
from autotune.table.eligible import accepted

BESIDE = 0.5  # octaves
MOST_DIVISOR = 6  # as a power of two
MOST_LOSS = 3.0  # so that one bad answer does not outweigh all others; also of what may not serve

Times = NDArray[np.float64]  # [problem, config]
Losses = NDArray[np.float64]  # [problem, config], as shares of the fastest config's time
Sizes = NDArray[np.int64]  # [problem, scaled field]


def imagined(problems: Sequence[Answered], count: int) -> list[Problem]:
    """Return ``count`` problems or fewer, the same each time; all have the same exact fields."""
    fields = problems[0].evidence.kernel.scaled_fields
    tuned = np.log2(np.maximum(1, [each.sizes for each in problems]))
    random = np.random.default_rng(0)
    pairs = random.integers(len(tuned), size=(2, count))
    share = random.random((count, 1))
    octaves = tuned[pairs[0]] * share + tuned[pairs[1]] * (1 - share)
    octaves += random.uniform(-BESIDE, BESIDE, octaves.shape)
    divisor = 2 ** random.integers(MOST_DIVISOR + 1, size=octaves.shape)
    sizes = np.maximum(1, np.round(2**octaves / divisor).astype(np.int64)) * divisor
    return [*_problems(problems[0].evidence.problem, fields, np.unique(sizes, axis=0))]


def predicted(like: Answered, problems: Sequence[Problem], configs: Sequence[Config]) -> Times:
    """Return how long each config is predicted to take on each problem, in ns.

    Args:
        like: A problem of the same kernel on the same device.
        problems: The problems.
        configs: The configs; of what may not serve, or has no prediction, the time is infinite.
    """
    times = np.full((len(problems), len(configs)), np.inf)
    places = {config: at for at, config in enumerate(configs)}
    evidence, crowd = like.evidence, Crowd(configs)
    target = evidence.context.device.target
    for row, problem in enumerate(problems):
        try:
            fit = accepted(evidence, problem, crowd)
            known = evidence.kernel.estimates(problem, fit, target)
        except AutotuneError:
            continue  # the kernel does not take it
        for config, ns in known.items():
            times[row, places[config]] = ns
    return times


def losses_of(times: Times) -> Losses:
    """Return what each config loses against the fastest of them, ``MOST_LOSS`` at most."""
    best = times.min(axis=1, keepdims=True)
    known = np.where(np.isfinite(best), best, 1.0)
    losses: Losses = np.minimum(times / known - 1, MOST_LOSS)
    return losses


def _problems(like: Problem, fields: Sequence[str], sizes: Sizes) -> Iterator[Problem]:
    for some in sizes.tolist():
        try:
            yield dataclasses.replace(like, **dict(zip(fields, some, strict=True)))
        except AutotuneError:
            continue  # the kernel has no such problem
