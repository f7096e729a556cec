"""Where the text of a table goes: beside each other while it fits, else on lines below a row.

Nothing is ever cut: a number, a unit or an id that does not fit moves or overflows.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.cells import cell_len

Row = Mapping[str, Any]

PIPE_WIDTH = 100  # what stands beside each other in a pipe, which has no edge to wrap at
_GAP = "  "
_INDENT = " " * 4
_LEAST_FOLD = 24  # cells; a column that is narrower than this is no pleasure to read


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table for people.

    Attributes:
        title: Its heading.
        text: What a row shows in it.
        right: True to align numbers to the right.
        folds: True for a last column whose long text wraps in its place.
        moves: True if it may stand on a line of its own below its row. Where no row has any text
            for it, there is no such column.
        shared: What separates the pieces of its text, or empty. Pieces that all rows share are
            said once, above the table; sizes stay together, for half a shape says nothing.
    """

    title: str
    text: Callable[[Row], str]
    right: bool = False
    folds: bool = False
    moves: bool = False
    shared: str = ""


@dataclass(frozen=True, slots=True)
class _Filled:
    column: Column
    texts: Sequence[str]

    @property
    def width(self) -> int:
        lines = [line for text in self.texts for line in text.split("\n")]
        return max(cell_len(text) for text in (self.column.title, *lines))

    @property
    def least_width(self) -> int:
        return min(self.width, _LEAST_FOLD) if self.column.folds else self.width


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """A table as lines of text.

    Attributes:
        caption: What all rows share, or empty.
        head: The titles, or empty if no column has one.
        rows: Everything else.
    """

    caption: str
    head: str
    rows: Sequence[str]


def lay_out(columns: Sequence[Column], rows: Sequence[Row], edge: int | None) -> Lines:
    """Return the lines of a table that is ``edge`` cells wide, or of one for a pipe."""
    filled = [_Filled(column, [column.text(row) for row in rows]) for column in columns]
    filled = [each for each in filled if any(each.texts) or not each.column.moves]
    caption, filled = _share(filled) if len(rows) > 1 else ("", filled)
    beside, below = _split(filled, edge or PIPE_WIDTH)
    room = None if edge is None else edge - _taken(beside[:-1])
    body = [
        line for i in range(len(rows)) for line in (*_row(beside, i, room), *_below(below, i, edge))
    ]
    return Lines(caption=caption, head=_joined(beside, [f.column.title for f in beside]), rows=body)


def _share(filled: list[_Filled]) -> tuple[str, list[_Filled]]:
    """Return what all rows share, as one line, and what is left in the columns."""
    captions, left = [], []
    for each in filled:
        separator = each.column.shared
        pieces = [text.split(separator) if separator else [] for text in each.texts]
        common = _common(pieces)
        if common:
            captions.append(f"{each.column.title} {separator.join(common)}")
            texts = [separator.join(p for p in some if p not in common) for some in pieces]
            each = replace(each, texts=texts)  # noqa: PLW2901 - the column, with less in it
        if not common or any(each.texts):
            left.append(each)
    return "; ".join(captions), left


def _common(pieces: Sequence[Sequence[str]]) -> list[str]:
    common = [piece for piece in pieces[0] if piece and all(piece in p for p in pieces)]
    if all(len(common) == len(some) for some in pieces):
        return common
    return [piece for piece in common if not piece.rpartition("=")[2].isdigit()]


def _split(filled: list[_Filled], edge: int) -> tuple[list[_Filled], list[_Filled]]:
    """Move the widest columns below their rows until the others fit beside each other."""
    beside = list(filled)
    while _taken(beside) - len(_GAP) > edge:
        movable = [each for each in beside if each.column.moves]
        if not movable:
            break
        beside.remove(max(movable, key=lambda each: each.width))
    return beside, [each for each in filled if each not in beside]


def _taken(filled: Sequence[_Filled]) -> int:
    return sum(each.least_width + len(_GAP) for each in filled)


def _row(beside: Sequence[_Filled], i: int, room: int | None) -> Iterator[str]:
    """Yield a row, whose last cell may go on below itself."""
    *cells, last = (each.texts[i] for each in beside)
    folds = beside[-1].column.folds
    first, *others = wrapped(last, room) if folds else (last,)
    yield _joined(beside, [*cells, first])
    indent = " " * _taken(beside[:-1])
    for line in others:
        yield indent + line


def _joined(beside: Sequence[_Filled], cells: Sequence[str]) -> str:
    padded = []
    for each, cell in zip(beside, cells, strict=True):
        blanks = " " * max(0, each.width - cell_len(cell))
        padded.append(blanks + cell if each.column.right else cell + blanks)
    return _GAP.join(padded).rstrip()


def _below(below: Sequence[_Filled], i: int, edge: int | None) -> Iterator[str]:
    for each in below:
        if each.texts[i]:
            room = None if edge is None else edge - len(_INDENT)
            first, *others = wrapped(f"{each.column.title}: {each.texts[i]}", room, whole=True)
            yield _INDENT + first
            for line in others:
                yield _INDENT + line


def wrapped(text: str, width: int | None, *, whole: bool = False) -> list[str]:
    """Return ``text`` as lines of at most ``width`` cells; ``None`` keeps the lines it has.

    Args:
        text: What to wrap, at blanks.
        width: Cells, or None for as many as it takes.
        whole: True to let a word stick out that is longer than a line, False to break it.
    """
    lines = text.split("\n")
    if width is None:
        return lines
    wrap = textwrap.TextWrapper(
        max(width, 1), break_long_words=not whole, break_on_hyphens=False, subsequent_indent="  "
    )
    return [part for line in lines for part in wrap.wrap(line) or [""]]
