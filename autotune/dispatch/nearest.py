"""The rule for problems that were not tuned.

The distance between two problems is the sum, over the scaled fields, of how many times one
must be doubled to reach the other: ``|log2 a - log2 b|``, where 0 counts as 1, times the
field's weight, a whole number that the table states. An entry may serve only if its exact
fields are equal and its conditions hold for the problem that is asked for. Of two entries at
the same distance the smaller problem wins (the first scaled field decides, then the next).

Distances are whole numbers of steps, so that ties are exact on every machine. They are kept in
floats, which hold them exactly (they stay below 2^53) and add faster than Python's integers.
Where distances that were not rounded are far enough apart, those do.
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
Rule = tuple[int, int, float, float]  # which value must be a multiple of what, and its bounds


class Group:
    """Entries whose exact fields are equal, with their places on the log2 scale.

    A cell is all problems whose sizes have the same bit lengths and that keep the same rules.
    Few entries can be nearest to anything in it; which ones is worked out when a first problem
    of the cell is asked for. Rules that follow from the bit lengths need no look at a problem.
    """

    __slots__ = (
        "_cells", "_count", "_entries", "_needs", "_open", "_places", "_rules", "_weights",
    )  # fmt: skip

    def __init__(self, entries: Sequence[Entry], table: KernelTable) -> None:
        fields = table.scaled_fields
        ordered = sorted(entries, key=lambda entry: [entry.problem[field] for field in fields])
        self._entries, self._count = ordered, len(fields)
        self._weights = [float(weight) for weight in table.weights]
        self._places = [self._place([int(e.problem[field]) for field in fields]) for e in ordered]
        conditions = list(dict.fromkeys(each for entry in ordered for each in entry.conditions))
        at = {name: at for at, name in enumerate((*fields, *table.exact_fields))}
        self._rules = [rule_of(condition, at[condition.field]) for condition in conditions]
        self._open = [rule for rule in self._rules if rule[0] < len(fields) and _open(rule)]
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
            ValueError: A size is below 1, which needs more thought.
        """
        sizes = problem[: self._count]
        if min(sizes) < 1:
            raise ValueError("a size below 1")
        cell = (*map(int.bit_length, sizes), self._kept(problem))
        rivals = self._cells.get(cell)
        if rivals is None:
            rivals = self._found(cell, problem)
        return self._first(rivals, sizes)

    def _kept(self, problem: Sequence[Any]) -> int:
        """Return a bit for each open rule that a problem keeps."""
        kept = 0
        for at, multiple, low, high in self._open:
            kept += kept
            if problem[at] % multiple == 0 and low <= problem[at] <= high:
                kept += 1
        return kept

    def _first(self, rivals: _Rivals, sizes: Sequence[int]) -> Entry | None:
        """Return the first of the nearest."""
        if len(rivals) < 2:
            return rivals[0][1] if rivals else None
        here = self._place(sizes)
        return min(rivals, key=lambda rival: _distance(rival[0], here))[1]

    def _found(self, cell: tuple[int, ...], problem: Sequence[Any]) -> _Rivals:
        """Return which entries may be nearest to a problem of ``cell``, and remember it."""
        broken = {
            rule
            for rule, (at, multiple, low, high) in enumerate(self._rules)
            if problem[at] % multiple or not low <= problem[at] <= high
        }
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


class _GroupOfThree(Group):
    """A group with three scaled fields, as products have: it takes a third of the time.

    What ``Group`` does with loops is written out, and no distance is rounded without need.
    """

    __slots__ = ("_scales", "_slack")

    def __init__(self, entries: Sequence[Entry], table: KernelTable) -> None:
        super().__init__(entries, table)
        self._scales = [weight * _OCTAVE for weight in self._weights]
        self._slack = 2 * sum(self._weights) + 8  # twice what not rounding adds to two distances

    def nearest(self, problem: Sequence[Any]) -> Entry | None:
        """Return what ``Group.nearest`` does."""
        m, n, k = problem[:3]
        if m < 1 or n < 1 or k < 1:
            raise ValueError("a size below 1")
        bits = int.bit_length
        cell = (bits(m), bits(n), bits(k), self._kept(problem))
        rivals = self._cells.get(cell)
        if rivals is None:
            rivals = self._found(cell, problem)
        if len(rivals) == 1:
            return rivals[0][1]
        scale_m, scale_n, scale_k = self._scales
        x, y, z = log2(m) * scale_m, log2(n) * scale_n, log2(k) * scale_k
        least = second = _FAR
        found = None
        for (a, b, c), entry in rivals:
            apart = a - x if a > x else x - a
            apart += b - y if b > y else y - b
            apart += c - z if c > z else z - c
            if apart < least:
                least, second, found = apart, least, entry
            elif apart < second:
                second = apart
        return found if second - least > self._slack else self._first(rivals, (m, n, k))


def group_of(entries: Sequence[Entry], table: KernelTable) -> Group:
    """Return a group of a table's entries."""
    made = _GroupOfThree if len(table.scaled_fields) == 3 else Group
    return made(entries, table)


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


def rule_of(condition: Condition, at: int) -> Rule:
    """Return a condition as numbers; ``at`` is the place of its field."""
    low = -_FAR if condition.at_least is None else condition.at_least
    high = _FAR if condition.at_most is None else condition.at_most
    return at, condition.multiple_of, low, high


def _open(rule: Rule) -> bool:
    """Return True if a size above 0 may keep a rule that another of as many bits breaks."""
    _, multiple, low, high = rule
    begins = low <= 1 or _is_power_of_two(low)
    ends = high < 1 or high == _FAR or _is_power_of_two(high + 1)
    return multiple > 1 or not (begins and ends)


def _is_power_of_two(number: float) -> bool:
    return number == 1 << (int(number).bit_length() - 1)
