"""What a tool said, in one line."""

from __future__ import annotations

import re

_ERROR_LINE = re.compile(r"^.*\berror\b(?!\.).*$", re.MULTILINE | re.IGNORECASE)
_FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/:'\"]+/)+")


def one_line(text: str, width: int = 120) -> str:
    """Return the first line of ``text`` that says something, printable and cut to ``width``."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line), "")
    clean = "".join(c if c.isprintable() else " " for c in first)
    return clean if len(clean) <= width else clean[: width - 1] + "…"


def headline(message: str) -> str:
    """Return the line of a tool's message that says what is wrong, without folders of paths."""
    error = _ERROR_LINE.search(message)
    return one_line(_FOLDERS.sub("", error[0] if error else message), 200)
