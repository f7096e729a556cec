"""One spawned process that answers one request at a time, within a limit.

Lanes (which run candidates) and compile workers are both such processes. A worker leads a
process group of its own, so that killing it takes its children (compilers, say) along, and
so that a Ctrl-C in the terminal reaches the coordinator alone. It dies with its owner.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

REAP_S = 10.0
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The request took longer than its limit; the worker's process group was killed."""

    limit_s: float


@dataclass(frozen=True, slots=True)
class Died:
    """The worker ended before it answered. ``why`` names the signal, exit code or error."""

    why: str


class Worker:
    """A lazily started, restartable process that serves requests.

    Args:
        make_handler: An importable function. It is called once in the new process with
            ``arguments`` and returns the function that answers each request.
        arguments: Picklable arguments of ``make_handler``.
        start_limit_s: Time that a new process may take until it is ready, in seconds.

    ``call`` may be used from one thread at a time.
    """

    def __init__(
        self,
        make_handler: Callable[..., Callable[[Any], Any]],
        *arguments: Any,
        start_limit_s: float = 120.0,
    ) -> None:
        self._make_handler = make_handler
        self._arguments = arguments
        self._start_limit_s = start_limit_s
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None

    def call(self, request: Any, limit_s: float) -> Any | TimedOut | Died:
        """Return the handler's answer to ``request``, or why there is none.

        The limit does not include the start of a new process. After ``TimedOut`` or ``Died``
        the next call starts a fresh process.
        """
        started = self._ensure_started()
        if started is not None:
            return started
        assert self._pipe is not None
        try:
            self._pipe.send(request)
        except (BrokenPipeError, ConnectionResetError):
            return self._buried()
        return self._answer(limit_s)

    @property
    def pid(self) -> int | None:
        """Process id, or None while no process runs."""
        return self._process.pid if self._process is not None else None

    def close(self) -> None:
        """Kill the process and everything that it started, and reap it."""
        process, self._process = self._process, None
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.close()
        if process is None or process.pid is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()  # in case it had not yet made its own group
        process.join(REAP_S)
        process.close() if process.exitcode is not None else None

    def _ensure_started(self) -> TimedOut | Died | None:
        if self._process is not None and self._process.is_alive():
            return None
        self.close()
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve,
            args=(theirs, os.getpid(), self._make_handler, self._arguments),
            daemon=False,
        )
        self._process.start()
        theirs.close()
        ready = self._answer(self._start_limit_s)
        return None if ready is True else ready

    def _answer(self, limit_s: float) -> Any | TimedOut | Died:
        assert self._pipe is not None
        try:
            if not self._pipe.poll(limit_s):
                self.close()
                return TimedOut(limit_s)
            answer, error = self._pipe.recv()
        except (EOFError, ConnectionResetError):
            return self._buried()
        if error is not None:
            self.close()
            return Died(error)
        return answer

    def _buried(self) -> Died:
        process = self._process
        why = "the process ended without a word"
        if process is not None:
            process.join(REAP_S)
            code = process.exitcode
            if code is not None:
                why = f"killed by {_signal_name(-code)}" if code < 0 else f"exit code {code}"
        self.close()
        return Died(why)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _serve(
    pipe: Connection,
    owner: int,
    make_handler: Callable[..., Callable[[Any], Any]],
    arguments: tuple[Any, ...],
) -> None:
    """Run in the new process: answer requests until the owner goes away."""
    os.setpgid(0, 0)
    _die_with(owner)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        handler = make_handler(*arguments)
        pipe.send((True, None))
        while True:
            pipe.send((handler(pipe.recv()), None))
    except EOFError:  # the owner closed its end
        return
    except BaseException:  # noqa: BLE001 - whatever it is, the owner must hear of it
        with contextlib.suppress(OSError):
            pipe.send((None, traceback.format_exc()))
        raise SystemExit(1) from None


def _die_with(owner: int) -> None:
    """Ask the kernel to kill this process when its owner dies, however that happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != owner:
            raise SystemExit(1)
