"""What runs inside a worker process: answer requests until the owner goes away."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import traceback
from multiprocessing.connection import Connection

WATCH_S = 0.5


def serve(pipe_fd: int, owner_pid: int) -> None:
    """Make the handler that the owner names, then answer each request with it.

    Args:
        pipe_fd: The process's end of the owner's pipe.
        owner_pid: The process group is killed once this is no longer the parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with, args=(owner_pid,), daemon=True).start()
    os.set_inheritable(pipe_fd, False)  # else what a handler starts would keep it open
    pipe = _OwnPipe(pipe_fd)
    try:
        make_handler, arguments = pipe.recv()
        handler = make_handler(*arguments)
        pipe.send((True, None))
        while True:
            pipe.send((handler(pipe.recv()), None))
    except EOFError:  # the owner closed its end
        return
    except BaseException:  # noqa: BLE001 - even SystemExit: the owner must hear why
        with contextlib.suppress(OSError):
            pipe.send((None, traceback.format_exc()))
        raise SystemExit(1) from None


class _OwnPipe(Connection):
    """A pipe that ends whatever copy of this process a handler has forked and let return."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor)
        self._pid = os.getpid()

    def send(self, answer: object) -> None:
        """Send ``answer``, unless the owner would take it for this process's own."""
        if os.getpid() != self._pid:
            os._exit(1)
        super().send(answer)


def _die_with(owner_pid: int) -> None:
    # Not PR_SET_PDEATHSIG: that fires when the *thread* that started the worker ends, and it
    # spares the worker's own children.
    while os.getppid() == owner_pid:
        time.sleep(WATCH_S)
    os.killpg(0, signal.SIGKILL)
