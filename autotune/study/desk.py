"""Who answers one question after the other: in a thread of its own, or at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Protocol, TypeVar

_T = TypeVar("_T")


class Desk(Protocol):
    """Where questions are answered in their order."""

    def submit(self, ask: Callable[[], _T]) -> Future[_T]:
        """Return what will hold the answer of ``ask``."""
        ...

    def close(self, *, wait: bool) -> None:
        """Take no more questions; if asked to, wait for the answers of those that were put."""
        ...


class Aside:
    """Answers in a thread of its own.

    The end of the program does not wait for that thread, as it would for an executor's.
    """

    def __init__(self) -> None:
        self._asked: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()

    def submit(self, ask: Callable[[], _T]) -> Future[_T]:
        """Return what will hold the answer of ``ask``."""
        answer: Future[_T] = Future()
        self._asked.put(partial(_answer, answer, ask))
        return answer

    def close(self, *, wait: bool) -> None:
        """Take no more questions; if asked to, wait for the answers of those that were put."""
        self._asked.put(None)
        if wait:
            self._thread.join()

    def _work(self) -> None:
        while (task := self._asked.get()) is not None:
            task()


class AtOnce:
    """Answers in the caller's thread, before ``submit`` returns."""

    def submit(self, ask: Callable[[], _T]) -> Future[_T]:
        """Return what holds the answer of ``ask``."""
        answer: Future[_T] = Future()
        answer.set_result(ask())
        return answer

    def close(self, *, wait: bool) -> None:
        """Do nothing: no question is open."""


def _answer(answer: Future[_T], ask: Callable[[], _T]) -> None:
    if not answer.set_running_or_notify_cancel():
        return
    try:
        answer.set_result(ask())
    except BaseException as error:  # noqa: BLE001 - whoever waits must hear of it
        answer.set_exception(error)
