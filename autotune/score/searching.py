"""Run searches, in this process or in several, with the same result."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context

from autotune.score.baseline import Baseline
from autotune.score.judging import LOOKS, Judged, judged
from autotune.score.landscape import Landscape
from autotune.score.replay import Budget, replay, seed_of

Run = list[int]  # the rows that a search asked for, in order


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSpec:
    """What to score.

    Attributes:
        samplers: Names of samplers.
        repeats: Searches of each sampler on each landscape.
        seed: All that is random follows from it.
        jobs: Processes that search.
    """

    samplers: tuple[str, ...]
    repeats: int
    seed: int
    jobs: int = 1


def score(spec: ScoreSpec, landscapes: Sequence[Landscape]) -> Iterator[Judged]:
    """Yield the score of each sampler on each landscape, landscape by landscape.

    Raises:
        InvalidInput: A landscape has nothing to search for, or there is no such sampler.
    """
    for landscape in landscapes:
        Baseline(landscape)  # refuses what cannot be scored, before anything has run
    seeds = [seed_of(spec.seed, repeat) for repeat in range(spec.repeats)]
    with ExitStack() as open_things:
        pool = open_things.enter_context(_pool(spec.jobs, landscapes)) if spec.jobs > 1 else None
        _adopt(landscapes)
        for index, landscape in enumerate(landscapes):
            for sampler in spec.samplers:
                runs = _searched(pool, spec.jobs, index, sampler=sampler, seeds=seeds)
                yield judged(sampler, landscape, runs, seed=spec.seed)


def budget_of(landscape: Landscape) -> Budget:
    """Return what a search needs until all that is asked of it is known."""
    return Budget(cost_ns=float(Baseline(landscape).times_ns[-1]), measurements=max(LOOKS))


_landscapes: list[Landscape] = []  # of this process: each worker is sent them once


def _adopt(landscapes: Sequence[Landscape]) -> None:
    _landscapes[:] = landscapes


def _pool(jobs: int, landscapes: Sequence[Landscape]) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        jobs, get_context("spawn"), initializer=_adopt, initargs=(list(landscapes),)
    )


def _searched(
    pool: ProcessPoolExecutor | None, jobs: int, index: int, *, sampler: str, seeds: Sequence[int]
) -> list[Run]:
    """Return one run for each seed, in their order."""
    if pool is None:
        return _search(index, sampler, seeds)
    shares = [seeds[first::jobs] for first in range(jobs)]
    futures = [pool.submit(_search, index, sampler, share) for share in shares if share]
    in_turns = itertools.zip_longest(*(future.result() for future in futures))
    return [run for turn in in_turns for run in turn if run is not None]


def _search(index: int, sampler: str, seeds: Sequence[int]) -> list[Run]:
    landscape = _landscapes[index]
    budget = budget_of(landscape)
    return [replay(landscape, sampler, seed=seed, budget=budget) for seed in seeds]
