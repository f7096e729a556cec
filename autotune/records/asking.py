"""Ask a kernel: what a user's code raises becomes one line that says where."""

from __future__ import annotations

import traceback
from typing import Any, TypeVar

from autotune.errors import AutotuneError, InvalidInput

_Answer = TypeVar("_Answer")


def ask(kernel: Any, question: str, *arguments: Any, gives: type[_Answer]) -> _Answer:
    """Return what ``kernel.question(*arguments)`` answers.

    Args:
        kernel: The kernel.
        question: Name of one of its methods.
        arguments: The problem first.
        gives: What the method has to return.

    Raises:
        InvalidInput: The method raised or exited, or returned something else. Errors of this
            package pass through as they are.
    """
    of = f" for {arguments[0]}" if arguments else ""
    where = f"kernel {kernel.name!r}: {question}(){of}"
    try:
        answer = getattr(kernel, question)(*arguments)
    except AutotuneError:
        raise
    except (Exception, SystemExit) as error:
        raise InvalidInput(f"{where} raises {described(error)}") from error
    if not isinstance(answer, gives):
        raise InvalidInput(f"{where} returns {type(answer).__name__}, not {gives.__name__}")
    return answer


def described(error: BaseException) -> str:
    """Return an exception in one line: its type, its message, and the line that raised it."""
    words = " ".join(str(error).split())
    frames = traceback.extract_tb(error.__traceback__)
    at = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    if isinstance(error, SyntaxError):  # its message names file and line
        at = ""
    return f"{type(error).__name__}: {words}{at}" if words else f"{type(error).__name__}{at}"
