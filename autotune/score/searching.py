"""Run searches, in this process or in several, with the same result."""

from __future__ import annotations

import itertools
import logging
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, get_context

from autotune.errors import InvalidInput
from autotune.score import kernel_tuner
from autotune.score.baseline import Baseline
from autotune.score.judging import LOOKS, Judged, judged
from autotune.score.landscape import Landscape
from autotune.score.replay import Budget, replay, seed_of

_LOG = logging.getLogger("autotune.score")
Run = list[int]  # the rows that a search asked for, in order


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSpec:
    """What to score.

    Attributes:
        samplers: Names of samplers, and of Kernel Tuner's strategies, led by ``kernel_tuner:``.
        repeats: Searches of each sampler on each landscape.
        seed: All that is random follows from it.
        jobs: Processes that search.
        interpreter: A Python that has Kernel Tuner, where its strategies are asked for.
    """

    samplers: tuple[str, ...]
    repeats: int
    seed: int
    jobs: int = 1
    interpreter: str = kernel_tuner.DEFAULT

    @property
    def strategies(self) -> tuple[str, ...]:
        """Kernel Tuner's strategies among the samplers, by its own names."""
        return tuple(filter(None, map(_strategy, self.samplers)))


def score(spec: ScoreSpec, landscapes: Sequence[Landscape]) -> Iterator[Judged]:
    """Yield the score of each sampler on each landscape, landscape by landscape.

    Those that cannot be scored are left out, which a line on the logger ``autotune.score`` says.

    Raises:
        InvalidInput: No landscape has anything to search for, or there is no such sampler.
    """
    landscapes = _scorable(landscapes)
    if spec.strategies:
        kernel_tuner.require(spec.strategies, spec.interpreter)
    seeds = [seed_of(spec.seed, repeat) for repeat in range(spec.repeats)]
    with ExitStack() as open_things:
        pool = open_things.enter_context(_pool(spec.jobs, landscapes)) if spec.jobs > 1 else None
        _adopt(landscapes)
        for index, landscape in enumerate(landscapes):
            for sampler in spec.samplers:
                task = _Task(index=index, sampler=sampler, interpreter=spec.interpreter)
                runs = _searched(pool, spec.jobs, task, seeds)
                yield judged(sampler, landscape, runs, seed=spec.seed)


def _scorable(landscapes: Sequence[Landscape]) -> list[Landscape]:
    """Return those that can be scored, and say which cannot, before anything runs."""
    found, refusals = [], []
    for landscape in landscapes:
        try:
            Baseline(landscape)
        except InvalidInput as error:
            refusals.append(error)
        else:
            found.append(landscape)
    if not found:
        raise refusals[0]
    if refusals:
        left_out = len(refusals), len(landscapes), refusals[0].message
        _LOG.warning("left out %d of %d spaces, such as %s", *left_out)
    return found


def budget_of(landscape: Landscape) -> Budget:
    """Return what a search needs until all that is asked of it is known."""
    return Budget(cost_ns=float(Baseline(landscape).times_ns[-1]), measurements=max(LOOKS))


_landscapes: list[Landscape] = []  # of this process: each worker is sent them once


def _adopt(landscapes: Sequence[Landscape]) -> None:
    _landscapes[:] = landscapes


@contextmanager
def _pool(jobs: int, landscapes: Sequence[Landscape]) -> Iterator[ProcessPoolExecutor]:
    """Give processes that search; an error or a Ctrl-C ends them in the middle of it."""
    others = set(active_children())
    with ProcessPoolExecutor(
        jobs, get_context("spawn"), initializer=_begin, initargs=(list(landscapes),)
    ) as pool:
        try:
            yield pool
        except BaseException:
            for process in set(active_children()) - others:
                process.kill()
            raise


def _begin(landscapes: Sequence[Landscape]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the one who ends them all
    _adopt(landscapes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """A sampler to run, and on which landscape of this process."""

    index: int
    sampler: str
    interpreter: str


def _searched(
    pool: ProcessPoolExecutor | None, jobs: int, task: _Task, seeds: Sequence[int]
) -> list[Run]:
    """Return one run for each seed, in their order."""
    if pool is None:
        return _search(task, seeds)
    shares = [seeds[first::jobs] for first in range(min(jobs, len(seeds)))]
    futures = [pool.submit(_search, task, share) for share in shares]
    in_turns = itertools.zip_longest(*(future.result() for future in futures))
    return [run for turn in in_turns for run in turn if run is not None]


def _search(task: _Task, seeds: Sequence[int]) -> list[Run]:
    landscape = _landscapes[task.index]
    budget = budget_of(landscape)
    strategy = _strategy(task.sampler)
    if not strategy:
        return [replay(landscape, task.sampler, seed=seed, budget=budget) for seed in seeds]
    return kernel_tuner.searched(
        landscape, strategy, seeds=seeds, budget=budget, interpreter=task.interpreter
    )


def _strategy(sampler: str) -> str:
    """Return Kernel Tuner's name of a sampler, or nothing if it is one of ours."""
    prefix = kernel_tuner.PREFIX
    return sampler.removeprefix(prefix) if sampler.startswith(prefix) else ""
