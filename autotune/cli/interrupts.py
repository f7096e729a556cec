"""Ctrl-C and SIGTERM end a command, whatever its main thread waits for."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_NUDGE = signal.SIGURG  # ignored by default, and by what a command starts
_NUDGES = 20  # not one: it, too, may come just before a system call
_PAUSE_S = 0.1


@contextmanager
def heeded() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` in the main thread, which calls this, for SIGTERM too.

    Python only notes a signal, and looks at its notes between two steps. One that another thread
    takes, or that comes between the last look and a system call, leaves the main thread asleep
    in that call, for minutes perhaps. So a thread that hears of every signal wakes it.
    """
    handlers = {_NUDGE: _nothing, signal.SIGTERM: _interrupt}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    heard, told = os.pipe()
    os.set_blocking(told, False)
    wakeup = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    threading.Thread(target=_wake, args=(heard, threading.get_ident()), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup)
        os.close(told)  # which ends the thread
        for number, handler in before.items():
            signal.signal(number, handler)


def _wake(heard: int, main_thread: int) -> None:
    """Nudge the main thread whenever a signal is heard, until nothing more can be."""
    while number := os.read(heard, 1):
        if number[0] != _NUDGE:
            for _ in range(_NUDGES):
                time.sleep(_PAUSE_S)
                signal.pthread_kill(main_thread, _NUDGE)
    os.close(heard)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    raise KeyboardInterrupt


def _nothing(number: int, frame: FrameType | None) -> None:
    del number, frame
