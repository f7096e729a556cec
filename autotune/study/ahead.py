"""Ask ahead, so that compilers work while the device measures."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass

from autotune.records import Binary, Candidate, Config, Failure
from autotune.study.question import Question


@dataclass(frozen=True, slots=True)
class Underway:
    """A candidate that is being built."""

    candidate: Candidate
    build: Future[Binary | Failure]


class Ahead:
    """A queue of candidates that are being built, as many as their device can use.

    Args:
        question: The problem, asked of a device.
        configs: What to build, in this order; it is asked no earlier than needed.
    """

    def __init__(self, question: Question, configs: Iterator[Config]) -> None:
        self._question, self._configs = question, configs
        self._queue: deque[Underway] = deque()

    def take(self, wanted: int) -> Underway | None:
        """Return the oldest of the queue once it is full again; None if no config is left.

        Args:
            wanted: How many more are to be measured, this one included.
        """
        while len(self._queue) < min(self._question.device.lookahead, wanted):
            config = next(self._configs, None)
            if config is None:
                break
            candidate = self._question.candidate(config)
            self._queue.append(Underway(candidate, self._question.device.build(candidate)))
        return self._queue.popleft() if self._queue else None

    def abandon(self) -> None:
        """Give up what nobody has begun to build."""
        for each in self._queue:
            each.build.cancel()
