"""One process that answers one request at a time, within a limit.

Lanes (which run candidates) and compile workers are both such processes. A worker leads a
process group of its own, so that killing it takes its children (compilers, say) along, and
so that a Ctrl-C in the terminal reaches the coordinator alone. It dies with its owner.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

REAP_S = 10.0
_STDERR = 2
_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from autotune.process.serve import serve; serve(int(sys.argv[2]), int(sys.argv[3]))"
)


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

    The new process is a bare interpreter that imports only what the handler needs: it never
    runs the owner's ``__main__``, so a script that tunes needs no guard. What it prints goes to
    the owner's standard error.

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
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None

    def call(self, request: Any, limit_s: float) -> Any | TimedOut | Died:
        """Return the handler's answer to ``request``, or why there is none.

        The limit does not include the start of a new process. After ``TimedOut`` or ``Died``
        the next call starts a fresh process.
        """
        failed = self._ensure_started()
        return failed if failed is not None else self._ask(request, limit_s)

    @property
    def pid(self) -> int | None:
        """Process id, or None while no process runs."""
        return self._process.pid if self._process is not None else None

    def interrupt(self) -> None:
        """Kill the process group from another thread: a call under way answers ``Died``."""
        process = self._process
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the process and everything that it started, and reap it."""
        process, self._process = self._process, None
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.close()
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):  # held by a driver: not ours to wait
            process.wait(REAP_S)

    def _ensure_started(self) -> TimedOut | Died | None:
        if self._process is not None and self._process.poll() is None:
            return None
        self.close()
        self._pipe, theirs = Pipe()
        with theirs:
            arguments = [json.dumps(sys.path), str(theirs.fileno()), str(os.getpid())]
            self._process = subprocess.Popen(
                [sys.executable, "-c", _BOOT, *arguments],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=_STDERR,
                process_group=0,
            )
        ready = self._ask((self._make_handler, self._arguments), self._start_limit_s)
        return None if ready is True else ready

    def _ask(self, request: Any, limit_s: float) -> Any | TimedOut | Died:
        assert self._pipe is not None
        try:
            self._pipe.send(request)
            if not self._pipe.poll(limit_s):
                self.close()
                return TimedOut(limit_s)
            answer, error = self._pipe.recv()
        except (EOFError, OSError):
            return self._buried()
        except Exception as error:  # noqa: BLE001 - other hands wrote to the pipe: anything may come
            self.close()
            return Died(f"it answered with what cannot be read: {error}")
        if error is not None:
            self.close()
            return Died(error)
        return answer

    def _buried(self) -> Died:
        assert self._process is not None
        try:
            code = self._process.wait(REAP_S)
        except subprocess.TimeoutExpired:
            why = "it closed its pipe but did not end"
        else:
            why = f"killed by {_signal_name(-code)}" if code < 0 else f"exit code {code}"
        self.close()
        return Died(why)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
