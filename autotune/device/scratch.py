"""A program with the scratch of its launch: filled with what is wrong before each check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotune.device.backend import Program
from autotune.records import Failure, Launch, Status
from autotune.timing import Stopwatch
from autotune.verify import Arrays, Guarded


class Scratched:
    """A program whose scratch is brought by this class, and the operands by the caller.

    One scratch serves all sets of operands, as it does in a program that launches in a row. A
    launch writes there before it reads, so that this leaves nothing warm that it would find.

    Args:
        program: Takes operands and scratch.
        launch: Says what scratch there is.
        xp: numpy or cupy.
    """

    def __init__(self, program: Program, launch: Launch, xp: Any) -> None:
        self._program = program
        self._scratch = {array.name: Guarded(array, xp) for array in launch.scratch}
        self._poison()

    def run(self, arrays: Arrays) -> None:
        """Launch once on operands by name, with scratch that holds NaN; return when it is done."""
        self._poison()
        self._program.run(self._with_scratch(arrays))

    def stopwatch(self, sets: Sequence[Arrays]) -> Stopwatch:
        """Return a stopwatch whose launches rotate over ``sets``."""
        return self._program.stopwatch([self._with_scratch(arrays) for arrays in sets])

    def overrun(self) -> Failure | None:
        """Return what has been written beside the scratch, or None."""
        for guarded in self._scratch.values():
            why = guarded.overrun()
            if why is not None:
                return Failure(status=Status.INCORRECT, message=f"it {why}")
        return None

    def _poison(self) -> None:
        for guarded in self._scratch.values():
            guarded.poison()

    def _with_scratch(self, arrays: Arrays) -> Arrays:
        return {**arrays, **{name: each.array for name, each in self._scratch.items()}}
