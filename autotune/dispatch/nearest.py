"""The rule for problems that were not tuned.

The distance between two problems is the sum, over the scaled fields, of how many times one
must be doubled to reach the other: ``|log2 a - log2 b|``, where 0 counts as 1, times the
field's weight, a whole number that the table states. An entry may serve only if its exact
fields are equal and its conditions hold for the problem that is asked for. Of two entries at
the same distance the smaller problem wins (the first scaled field decides, then the next).

Distances are whole numbers of steps, so that ties are exact on every machine. They are kept in
floats, which hold them exactly (they stay below 2^53) and add faster than Python's integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log2
from typing import Any

from autotune.dispatch.records import Condition, Entry, KernelTable

_OCTAVE = float(1 << 32)  # in steps
_FAR = float("inf")
_MOST_CELLS = 4096
_PIVOTS = 2  # entries that the others of a cell are held against
_Rivals = list[tuple[list[float], Entry]]  # places and entries
_Bounds = Sequence[tuple[float, float]]  # of a place, one pair for each scaled field


class Group:
    """Entries whose exact fields are equal, with their places on the log2 scale.

    A cell is all problems whose sizes have the same bit lengths and that keep the same rules.
    Few entries can be nearest to anything in it; which ones is worked out when a first problem
    of the cell is asked for.
    """

    __slots__ = (
        "_cells",
        "_entries",
        "_fields",
        "_needs",
        "_places",
        "_rules",
        "_weights",
    )

    def __init__(self, entries: Sequence[Entry], table: KernelTable) -> None:
        fields = table.scaled_fields
        ordered = sorted(entries, key=lambda entry: [entry.problem[field] for field in fields])
        self._entries, self._fields = ordered, fields
        self._weights = [float(weight) for weight in table.weights]
        self._places = [self._place([int(e.problem[field]) for field in fields]) for e in ordered]
        conditions = list(dict.fromkeys(each for entry in ordered for each in entry.conditions))
        at = {name: at for at, name in enumerate((*fields, *table.exact_fields))}
        self._rules = [_rule(condition, at[condition.field]) for condition in conditions]
        self._needs = [{conditions.index(each) for each in e.conditions} for e in ordered]
        self._cells: dict[tuple[int, ...], _Rivals] = {}

    def by_distance(self, sizes: Sequence[int]) -> Iterator[Entry]:
        """Yield every entry, nearest first; equals in order of their scaled fields."""
        here = self._place(sizes)
        apart = [_distance(place, here) for place in self._places]
        for at in sorted(range(len(apart)), key=apart.__getitem__):
            yield self._entries[at]

    def nearest(self, problem: Sequence[Any]) -> Entry | None:
        """Return the first entry of ``by_distance`` whose conditions hold for ``problem``.

        Most of the others are not looked at.

        Args:
            problem: The values of the scaled fields, then of the exact ones.

        Raises:
            TypeError: A size is no whole number.
            ValueError: A size is below 0.
        """
        sizes = problem[: len(self._fields)]
        if sizes and min(sizes) < 0:
            raise ValueError("a size below 0")
        kept = [
            low <= problem[at] <= high and not problem[at] % multiple
            for at, multiple, low, high in self._rules
        ]
        cell = (*map(int.bit_length, sizes), *kept)
        rivals = self._cells.get(cell)
        if rivals is None:
            rivals = self._found(cell, kept)
        if len(rivals) < 2:
            return rivals[0][1] if rivals else None
        here, least, nearest = self._place(sizes), _FAR, None
        for place, entry in rivals:
            apart = _distance(place, here)
            if apart < least:
                least, nearest = apart, entry
        return nearest

    def _found(self, cell: tuple[int, ...], kept: Sequence[bool]) -> _Rivals:
        """Return which entries may be nearest to a problem of ``cell``, and remember it."""
        broken = {rule for rule, holds in enumerate(kept) if not holds}
        bounds = [
            (weight * max(bits - 1, 0) * _OCTAVE, weight * bits * _OCTAVE)
            for bits, weight in zip(cell, self._weights, strict=False)
        ]
        fitting = [
            (place, entry)
            for place, entry, needs in zip(self._places, self._entries, self._needs, strict=True)
            if needs.isdisjoint(broken)
        ]
        centre = [(low + high) / 2 for low, high in bounds]
        rivals = fitting
        for place, _ in sorted(fitting, key=lambda each: _distance(each[0], centre))[:_PIVOTS]:
            rivals = [each for each in rivals if not _always_nearer(place, each[0], bounds)]
        if len(self._cells) >= _MOST_CELLS:
            self._cells.clear()
        self._cells[cell] = rivals
        return rivals

    def _place(self, sizes: Sequence[int]) -> list[float]:
        pairs = zip(sizes, self._weights)  # noqa: B905 - asking for equal lengths takes as long
        return [weight * steps(size) for size, weight in pairs]


def _distance(place: Sequence[float], here: Sequence[float]) -> float:
    apart = 0.0
    for there, at in zip(place, here):  # noqa: B905 - asking for equal lengths takes as long
        apart += there - at if there > at else at - there
    return apart


def _always_nearer(one: Sequence[float], other: Sequence[float], bounds: _Bounds) -> bool:
    """Return True if all within ``bounds`` is nearer to ``one`` than to ``other``.

    The place that speaks most for ``other`` is on its side, in each field by itself.
    """
    worst = 0.0
    for a, b, (low, high) in zip(one, other, bounds, strict=True):
        at = low if b < a else high
        worst += abs(at - a) - abs(at - b)
    return worst < 0


def steps(size: int) -> int:
    """Return log2 of a size, where 0 counts as 1, in whole steps of 2^-32."""
    return round(log2(size or 1) * _OCTAVE)


def octaves(one: Sequence[int], other: Sequence[int]) -> float:
    """Return how often sizes double between two problems."""
    pairs = zip(one, other, strict=True)
    return sum(abs(steps(a) - steps(b)) for a, b in pairs) / _OCTAVE


def _rule(condition: Condition, at: int) -> tuple[int, int, float, float]:
    """Return which value of a problem must be a multiple of what, and its bounds."""
    low = -_FAR if condition.at_least is None else condition.at_least
    high = _FAR if condition.at_most is None else condition.at_most
    return at, condition.multiple_of, low, high
