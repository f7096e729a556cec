"""The rule for problems that were not tuned.

The distance between two problems is the sum, over the scaled fields, of how many times one
must be doubled to reach the other: ``|log2 a - log2 b|``, where 0 counts as 1, times the
field's weight, a whole number that the table states. An entry may
serve only if its exact fields are equal and its conditions hold for the problem that is asked
for. Of two entries at the same distance the smaller problem wins (the first scaled field
decides, then the next).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log2

from autotune.dispatch.records import Entry, Fields, KernelTable, Value, broken_condition

_STEPS_PER_OCTAVE = 1 << 32  # whole steps make ties exact on every machine
_UNKNOWN = "no entry has its exact fields"
_Answer = tuple[Entry, str, str]  # entry, source, reason


class Finder:
    """Answers for one kernel of a table, best first."""

    def __init__(self, table: KernelTable) -> None:
        self.table = table
        self._fields = (*table.exact_fields, *table.scaled_fields)
        self._exact = {self._key(entry.problem): entry for entry in table.entries}
        members: dict[tuple[Value, ...], list[Entry]] = {}
        for entry in table.entries:
            members.setdefault(self._exact_key(entry.problem), []).append(entry)
        self._groups = {key: _Group(some, table) for key, some in members.items()}

    def answers(self, problem: Fields) -> Iterator[_Answer]:
        """Yield every entry and default that may serve ``problem``, best first."""
        entry = self._exact.get(self._key(problem))
        if entry is not None:
            yield entry, "exact", "measured for exactly this problem"
        group, misfit = self._groups.get(self._exact_key(problem)), None
        for octaves, other in group.by_distance(problem) if group else ():
            if broken_condition(other.conditions, problem) is not None:
                misfit = misfit or other
            elif other is not entry:
                yield (
                    other,
                    "nearest",
                    f"nearest is {self._sizes(other)}, {octaves:.2f} octaves off",
                )
        yield from self._defaults(problem, misfit, why="no other entry" if group else _UNKNOWN)

    def _defaults(self, problem: Fields, misfit: Entry | None, *, why: str) -> Iterator[_Answer]:
        if misfit is not None:
            broken = broken_condition(misfit.conditions, problem)
            why = f"the nearest entry, {self._sizes(misfit)}, does not fit: {broken}"
        exact = self._exact_key(problem)
        for default in self.table.defaults:
            same = self._exact_key(default.problem) == exact
            if same and broken_condition(default.conditions, problem) is None:
                yield default, "default", f"the kernel's default: {why}"

    def _sizes(self, entry: Entry) -> str:
        return ",".join(f"{field}={entry.problem[field]}" for field in self.table.scaled_fields)

    def _key(self, problem: Fields) -> tuple[Value, ...]:
        return tuple([problem[field] for field in self._fields])

    def _exact_key(self, problem: Fields) -> tuple[Value, ...]:
        return tuple([problem[field] for field in self.table.exact_fields])


class _Group:
    """Entries whose exact fields are equal, with their places on the log2 scale."""

    def __init__(self, entries: list[Entry], table: KernelTable) -> None:
        fields = table.scaled_fields
        self._axes = tuple(zip(fields, table.weights, strict=True))
        self._entries = sorted(entries, key=lambda e: [e.problem[f] for f in fields])
        self._columns = [
            [weight * steps(e.problem[field]) for e in self._entries]
            for field, weight in self._axes
        ]

    def by_distance(self, problem: Fields) -> Iterator[tuple[float, Entry]]:
        """Yield octaves and entry, nearest first; equals in order of their scaled fields."""
        totals = [0] * len(self._entries)
        for (field, weight), column in zip(self._axes, self._columns, strict=True):
            here = weight * steps(problem[field])
            totals = [
                total + abs(there - here) for total, there in zip(totals, column, strict=True)
            ]
        for place in sorted(range(len(totals)), key=totals.__getitem__):
            yield totals[place] / _STEPS_PER_OCTAVE, self._entries[place]


def steps(value: Value) -> int:
    """Return log2 of a size, where 0 counts as 1, in whole steps of 2^-32."""
    return round(log2(max(int(value), 1)) * _STEPS_PER_OCTAVE)
