"""Ask ahead, so that compilers and the device work while a search thinks."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import partial
from typing import Self, TypeVar

from autotune.records import Binary, Candidate, Config, Failure
from autotune.study.desk import Aside, AtOnce, Desk
from autotune.study.question import Question

_T = TypeVar("_T")


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

    Once the time is up, or after a Ctrl-C, nothing more is built and nothing waited for: a thought
    that is not over ends by itself or with the program, and nobody hears of it.

    Args:
        question: The problem, asked of a device.
        configs: What to build, in this order; it is asked no earlier than needed.
        deadline: When the time is up, on the clock of ``time.monotonic``; None for never.
    """

    def __init__(
        self, question: Question, configs: Iterator[Config], deadline: float | None = None
    ) -> None:
        self._question, self._configs, self._deadline = question, configs, deadline
        self._most = question.device.lookahead
        self._desk: Desk = Aside() if self._most > 1 else AtOnce()
        self._queue: deque[Future[Underway | None]] = deque()
        self._told: deque[Callable[[], object]] = deque()
        self._compiles = False  # or was the last one found?
        self._gave_up = False

    @property
    def is_late(self) -> bool:
        """True once the time is up."""
        left_s = self._left_s()
        return self._gave_up or (left_s is not None and left_s <= 0)

    def take(self, wanted: int) -> Underway | None:
        """Return the oldest of the queue that is built, or else the oldest.

        The queue is filled before. What went wrong in choosing one is raised in its turn. None is
        returned if none is left, or the time is up.

        Args:
            wanted: How many more are to be measured, this one included.
        """
        if self.is_late:
            return None
        for _ in range(min(self._missing(), min(self._most, wanted) - len(self._queue))):
            self._queue.append(self._desk.submit(self._begin))
        if not self._queue:
            return None
        # The newest is looked at first: of those that end meanwhile, an older one is still seen.
        over = [each for each in reversed(self._queue) if _is_over(each)]
        oldest = over[-1] if over else self._queue[0]
        self._queue.remove(oldest)
        return self._in_time(oldest)

    def take_built(self, wanted: int) -> tuple[Candidate, Binary | Failure] | None:
        """Return the next candidate, as ``take`` does, and what became of it, or None."""
        underway = self.take(wanted)
        built = None if underway is None else self._in_time(underway.build)
        return None if underway is None or built is None else (underway.candidate, built)

    def tell(self, news: Callable[[], object]) -> None:
        """Have ``news`` called before anything more is asked."""
        self._told.append(news)

    def hear(self, ask: Callable[[], _T]) -> _T | None:
        """Return what ``ask`` returns after all that was asked and told before, None if late."""
        return self._in_time(self._desk.submit(partial(self._informed, ask)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and not issubclass(kind, Exception):
            self._gave_up = True
        for each in self._queue:
            each.cancel()
        self._desk.close(wait=not self.is_late)
        for each in filter(_is_asked, self._queue):
            underway = each.result()
            if underway is not None:
                underway.build.cancel()

    def _in_time(self, awaited: Future[_T]) -> _T | None:
        """Return what is ``awaited``; once the time is up, give it up and return None."""
        wait([awaited], timeout=self._left_s())
        if awaited.done():
            return awaited.result()
        awaited.cancel()
        self._gave_up = True  # the time is up, even if the timer was early by a tick
        return None

    def _left_s(self) -> float | None:
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

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
        if config is None or self.is_late:
            return None
        candidate = self._question.candidate(config)
        build = self._question.device.build(candidate)
        self._compiles = not build.done()
        return Underway(candidate, build)

    def _informed(self, ask: Callable[[], _T]) -> _T:
        while self._told:
            self._told.popleft()()
        return ask()


def _is_asked(each: Future[Underway | None]) -> bool:
    return each.done() and not each.cancelled() and each.exception() is None


def _is_over(each: Future[Underway | None]) -> bool:
    return _is_built(each) or (each.done() and each.exception() is not None)


def _is_built(each: Future[Underway | None]) -> bool:
    return _is_asked(each) and each.result() is not None and not _is_building(each)


def _is_building(each: Future[Underway | None]) -> bool:
    underway = each.result() if _is_asked(each) else None
    return underway is not None and not underway.build.done()
