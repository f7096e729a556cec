"""How arrays of constants are written."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

_WIDTH = 92


def braced(items: Iterable[str]) -> str:
    """Return the items as an initializer."""
    return f"{{{', '.join(items)}}}"


def nested(items: Iterable[str]) -> str:
    """Return the items as the initializer of a ``std::array``."""
    return f"{{{braced(items)}}}"


def array(storage: str, kind: str, name: str, items: Sequence[str]) -> str:
    """Return the definition of a ``std::array``; one that nobody reads has one element."""
    count, inner = max(1, len(items)), ", ".join(items)
    lines = textwrap.fill(inner, _WIDTH, break_long_words=False, break_on_hyphens=False)
    body = textwrap.indent(lines, "    ")
    return f"{storage} std::array<{kind}, {count}> {name}{{{{\n{body}\n}}}};"
