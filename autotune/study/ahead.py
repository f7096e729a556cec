"""Ask ahead, so that compilers and the device work while a search thinks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import ParamSpec, Self, TypeVar

from autotune.records import Binary, Candidate, Config, Failure
from autotune.study.question import Question

_T = TypeVar("_T")
_P = ParamSpec("_P")


@dataclass(frozen=True, slots=True)
class Underway:
    """A candidate that is being built."""

    candidate: Candidate
    build: Future[Binary | Failure]


class Ahead:
    """A queue of candidates that are being built, as many as their device can use.

    Whoever chooses them works in a thread of its own, one request after the other: a model that
    takes its time keeps no device waiting. Where the device looks only one ahead, it works in
    the caller's. As a context, it gives up at its end what nobody has begun to build.

    Args:
        question: The problem, asked of a device.
        configs: What to build, in this order; it is asked no earlier than needed.
    """

    def __init__(self, question: Question, configs: Iterator[Config]) -> None:
        self._question, self._configs = question, configs
        self._most = question.device.lookahead
        self._desk: Executor = ThreadPoolExecutor(1) if self._most > 1 else _AtOnce()
        self._queue: deque[Future[Underway | None]] = deque()
        self._told: deque[Callable[[], object]] = deque()
        self._compiles = False  # or was the last one found?

    def take(self, wanted: int) -> Underway | None:
        """Return the oldest of the queue that is built, or else the oldest; None if none is left.

        The queue is filled before.

        Args:
            wanted: How many more are to be measured, this one included.
        """
        for _ in range(min(self._missing(), min(self._most, wanted) - len(self._queue))):
            self._queue.append(self._desk.submit(self._begin))
        if not self._queue:
            return None
        oldest = next(filter(_is_built, self._queue), self._queue[0])
        self._queue.remove(oldest)
        return oldest.result()

    def tell(self, news: Callable[[], object]) -> None:
        """Have ``news`` called before anything more is asked."""
        self._told.append(news)

    def hear(self, ask: Callable[[], _T]) -> _T:
        """Return what ``ask`` returns after all that was asked and told before."""
        return self._desk.submit(self._informed, ask).result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._desk.shutdown(cancel_futures=True)
        for each in self._queue:
            underway = None if each.cancelled() or each.exception() else each.result()
            if underway is not None:
                underway.build.cancel()

    def _missing(self) -> int:
        """Return how many to ask for now.

        What waits long to be measured was chosen knowing less than could be known by now, so that
        no more are built than keep the device from waiting: more where they have to be compiled.
        """
        if not self._queue:
            return max(1, self._most // 2)
        ready = sum(map(_is_built, self._queue))
        if ready > self._most // (2 if self._compiles else 4):
            return 0
        return 2 if _is_building(self._queue[0]) else 1

    def _begin(self) -> Underway | None:
        config = self._informed(lambda: next(self._configs, None))
        if config is None:
            return None
        candidate = self._question.candidate(config)
        build = self._question.device.build(candidate)
        self._compiles = not build.done()
        return Underway(candidate, build)

    def _informed(self, ask: Callable[[], _T]) -> _T:
        while self._told:
            self._told.popleft()()
        return ask()


class _AtOnce(Executor):
    """Does in the caller's thread whatever it is asked to."""

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        done: Future[_T] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


def _is_asked(each: Future[Underway | None]) -> bool:
    return each.done() and each.exception() is None


def _is_built(each: Future[Underway | None]) -> bool:
    return _is_asked(each) and each.result() is not None and not _is_building(each)


def _is_building(each: Future[Underway | None]) -> bool:
    underway = each.result() if _is_asked(each) else None
    return underway is not None and not underway.build.done()
