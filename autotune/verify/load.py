"""Other work on the device, so that a candidate does not have it to itself."""

from __future__ import annotations

import contextlib
import threading
from types import TracebackType
from typing import Any, Self

import numpy as np

ELEMENTS = 1 << 21  # 8 MB: read and written, they pass through every cache of a host and much of L2


class Load:
    """A thread that keeps memory and arithmetic busy, as long as the block under ``with`` lasts.

    On a GPU its launches go to the thread's own stream, so that they share multiprocessors with
    the candidate's; numpy lets go of the interpreter meanwhile, as a call of a candidate does.

    Args:
        xp: numpy or cupy.
    """

    def __init__(self, xp: Any) -> None:
        self._xp = xp
        self._array = xp.ones(ELEMENTS, dtype=np.float32)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._done.set()
        self._thread.join()

    def _work(self) -> None:
        place = self._array.device  # a GPU of CuPy's is current in the thread that chose it alone
        here = place if hasattr(place, "__enter__") else contextlib.nullcontext()
        # A candidate that faults takes the whole context along: whoever runs it says so.
        with here, contextlib.suppress(Exception):
            while not self._done.is_set():
                self._xp.multiply(self._array, np.float32(-1), out=self._array)
                float(self._array[0])  # waits, or launches would pile up
