"""The rule that comes before nearness: a tree of questions leads to an entry.

A question is whether a measure of the problem's sizes is at most so much. A tree is learned from
what a kernel predicts (``autotune.table``); here it is only followed. The entry where it ends may
serve if its conditions hold for the problem; or else nearness decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from autotune.dispatch.nearest import Rule, rule_of
from autotune.dispatch.reading_forest import MOST_SIZE
from autotune.dispatch.records import Entry, KernelTable, Measure, Tree

_Sizes = Sequence[int]
_Walk = tuple[Any, Any, Any, Any]  # measure, bound and both ways on; or None, entry and its rules
_bits = int.bit_length


class Guide:
    """A tree, ready to be followed.

    Args:
        tree: The tree.
        table: The table that it is of.
    """

    __slots__ = ("_count", "_first")

    def __init__(self, tree: Tree, table: KernelTable) -> None:
        fields = (*table.scaled_fields, *table.exact_fields)
        measures = table.forest.measures if table.forest else ()
        takers = [taker(measure, table.scaled_fields) for measure in measures]
        walks: list[_Walk] = [(None, None, (), None)] * len(tree.steps)
        for at in reversed(range(len(tree.steps))):  # a step leads to later ones
            step = tree.steps[at]
            if step.next:
                ways = walks[step.next], walks[step.next + 1]
                walks[at] = (takers[step.measure], step.at_most, *ways)
            else:
                walks[at] = (
                    None,
                    table.entries[step.entry],
                    _rules(table, step.entry, fields),
                    None,
                )
        self._count, self._first = len(table.scaled_fields), walks[0]

    def end(self, sizes: _Sizes) -> Entry:
        """Return where the tree leads for these sizes; what it needs is not looked at."""
        entry: Entry = self._followed([min(size, MOST_SIZE) for size in sizes])[0]
        return entry

    def serving(self, problem: Sequence[Any]) -> Entry | None:
        """Return the same, or None if a condition of it does not hold.

        Args:
            problem: The values of the scaled fields, then of the exact ones.

        Raises:
            TypeError: A size is no whole number.
            ValueError: A size needs more thought: it is below 1, or very large.
        """
        sizes = problem[: self._count]
        if min(map(_bits, sizes)) < 1 or not 0 < min(sizes) <= max(sizes) <= MOST_SIZE:
            raise ValueError("a size out of the ordinary")
        entry, rules = self._followed(sizes)
        for at, multiple, low, high in rules:
            if problem[at] % multiple or not low <= problem[at] <= high:
                return None
        return entry

    def _followed(self, sizes: _Sizes) -> tuple[Entry, Sequence[Rule]]:
        take, bound, low, high = self._first
        while take is not None:
            take, bound, low, high = low if take(sizes) <= bound else high
        return bound, low


def _rules(table: KernelTable, entry: int, fields: Sequence[str]) -> tuple[Rule, ...]:
    conditions = table.entries[entry].conditions
    return tuple([rule_of(condition, fields.index(condition.field)) for condition in conditions])


def taker(measure: Measure, fields: Sequence[str]) -> Callable[[_Sizes], int]:
    """Return a function of the sizes that takes a measure."""
    (first, a), (second, b) = measure.units[0], measure.units[-1]
    x, y = fields.index(first), fields.index(second)
    tiles = measure.kind == "tiles"
    if x == y and tiles:
        return itemgetter(x) if a == 1 else lambda sizes: -(-sizes[x] // a)
    if x == y:
        return lambda sizes: sizes[x] % a
    if tiles:
        return lambda sizes: -(-sizes[x] // a) * -(-sizes[y] // b)
    return lambda sizes: (sizes[x] % a) * (sizes[y] % b)
