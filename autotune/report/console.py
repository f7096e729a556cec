"""Where text goes: results on stdout, everything else on stderr.

Neither console reads markup or emoji codes, so a compiler's message appears as it is.
Both honour ``NO_COLOR``.
"""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from typing import TextIO

from rich.console import Console

_PIPE_WIDTH = 500  # a pipe has no edge: nothing may be cut for it


def results() -> Console:
    """Return the console of stdout."""
    return _console(stderr=False)


def messages() -> Console:
    """Return the console of stderr."""
    return _console(stderr=True)


def aside() -> redirect_stdout[TextIO]:
    """Let what is printed meanwhile, by a kernel's code for one, go to stderr.

    For a command line, which has its process to itself: stdout belongs to all threads.
    """
    return redirect_stdout(sys.stderr)


def edge() -> int | None:
    """Return how many cells a line of stdout holds; None for a pipe, unless COLUMNS says it."""
    told = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console().width if told else None


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    return Console(
        stderr=stderr,
        markup=False,
        emoji=False,
        highlight=False,
        width=None if stream.isatty() else _PIPE_WIDTH,
    )
