"""From a table to the arrays that the C++ lookup reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import lcm

from autotune.cpp.grid import Axis, axes_of, nearest_by_cell
from autotune.dispatch import Condition, Entry, KernelTable, Tree
from autotune.dispatch.nearest import steps
from autotune.dispatch.records import Fields
from autotune.errors import InvalidInput

NO_POINT = NO_GRID = 0xFFFFFFFF
SPREAD = 0x9E3779B97F4A7C15
MOST_ERROR = 1 << 20  # steps that the C++ lookup's own log2 is off at most, twice and more
MOST_CONDITIONS = 64  # bits of a word
MOST_MASKED = 6  # conditions of which each combination has a grid of its own, or shares one
MOST_GRIDS = 8  # of a group
_WORD = _NEVER = (1 << 64) - 1  # no measure is more than the latter

Value = int | str
Range = tuple[int, int]
Asked = tuple[int, int]  # a bound, and of which measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What there is for one choice of the exact fields.

    Attributes:
        conditions: Range of the conditions that its answers need.
        strictest: For each field one that holds if all of that field do.
        defaults: Range of its defaults.
        axes: The cells along each field.
        grids: Its first place in the layout's ``grids``.
        masked: True if it has one for each combination of conditions that a problem may break; or
            else one for problems that break none, and one for all others.
        tree: The first of the layout's ``steps`` that is its own, or ``NO_POINT`` without a tree.
    """

    conditions: Range
    strictest: tuple[Condition, ...]
    defaults: Range
    axes: tuple[Axis, ...]
    grids: int
    masked: bool
    tree: int


class Layout:
    """The arrays of one kernel's table.

    Args:
        table: The table.

    Attributes:
        answers: Entries, then defaults; an answer is a place in it.
        values: The values of each exact field, in order.
        group_at: The group of each combination of values, the last field fastest; -1 for none.
        groups: Every group.
        group_of: The group of each entry.
        sizes: The scaled fields of each entry.
        needs: A bit for each of its group's conditions that an entry needs.
        grids: Where the cells of each grid begin, or ``NO_GRID`` if no entry may serve.
        cells: Where the candidates of each cell begin; after each grid, where the last ones end.
        candidates: Entries, cell by cell.
        conditions: The field of each condition, and the condition.
        defaults: The needs and the answer of each default.
        slots: Where the exact lookup finds an entry.
        measures: What trees ask for.
        steps: A question, which of two it leads to, each up to how much of which measure is at
            the low side; and the first of four steps that they lead to. An end leads to itself.
        ends: The entry that each step is the end for; 0 for a question.
        rounds: How many steps of a tree follow each other at most.
    """

    def __init__(self, table: KernelTable) -> None:
        self.table = table
        self.answers: tuple[Entry, ...] = (*table.entries, *table.defaults)
        self.values: dict[str, list[Value]] = {
            name: sorted({each.problem[name] for each in self.answers}, key=str)
            for name in table.exact_fields
        }
        self.sizes = [
            tuple(int(entry.problem[name]) for name in table.scaled_fields)
            for entry in table.entries
        ]
        self.groups: list[Group] = []
        self.grids: list[int] = []
        self.cells: list[int] = []
        self.candidates: list[int] = []
        self.conditions: list[tuple[int, Condition]] = []
        self.defaults: list[tuple[int, int]] = []
        self.group_of = [0] * len(table.entries)
        self.needs = [0] * len(table.entries)
        self.steps: list[tuple[list[Asked], int]] = []
        self.ends: list[int] = []
        self.rounds = 0
        forest = table.forest
        self.measures = forest.measures if forest else ()
        self._trees = {_key(table, tree.exact): tree for tree in (forest.trees if forest else ())}
        self.group_at = self._group_at()
        self.slots = self._slots()

    @property
    def slack(self) -> int:
        """How far two distances may be from their order, in steps."""
        return MOST_ERROR * sum(self.table.weights)

    def place(self, sizes: Iterable[int]) -> list[int]:
        """Return where these sizes lie by each field, in weighted steps."""
        return [w * steps(size) for w, size in zip(self.table.weights, sizes, strict=True)]

    def _group_at(self) -> list[int]:
        members: dict[tuple[Value, ...], list[int]] = {}
        for at, answer in enumerate(self.answers):
            members.setdefault(_key(self.table, answer.problem), []).append(at)
        places = {key: self._add_group(some, key) for key, some in members.items()}
        combinations: list[tuple[Value, ...]] = [()]
        for values in self.values.values():
            combinations = [(*key, value) for key in combinations for value in values]
        return [places.get(key, -1) for key in combinations]

    def _add_group(self, members: Sequence[int], key: tuple[Value, ...]) -> int:
        conditions = self._conditions_of(members)
        first_condition, first_default = len(self.conditions), len(self.defaults)
        self.conditions += conditions
        entries = [at for at in members if at < len(self.sizes)]
        for at in entries:
            self.group_of[at] = len(self.groups)
            self.needs[at] = self._needs(at, conditions)
        self.defaults += [
            (self._needs(at, conditions), at) for at in members if at >= len(self.sizes)
        ]
        masked = len(conditions) <= MOST_MASKED
        axes = axes_of([self.sizes[at] for at in entries], len(self.table.weights))
        first_grid = len(self.grids)
        if masked:
            self.grids += self._grids(entries, axes, conditions)
        else:
            self.grids.append(self._add_cells(entries, axes, [0] * len(entries)))
            self.grids.append(self._all_cells(entries, axes))
        self.groups.append(
            Group(
                conditions=(first_condition, len(self.conditions)),
                strictest=tuple(_strictest(f, conditions) for f in self.table.scaled_fields),
                defaults=(first_default, len(self.defaults)),
                axes=axes,
                grids=first_grid,
                masked=masked,
                tree=self._add_tree(self._trees.get(key)),
            )
        )
        return len(self.groups) - 1

    def _add_tree(self, tree: Tree | None) -> int:
        """Add the steps of a tree, two questions each, and return where they begin."""
        if tree is None:
            return NO_POINT
        first, begins, depths = len(self.steps), [0], [0]  # of each added step
        for at, begin in enumerate(begins):  # which grows meanwhile
            ways = [way for one in _ways(tree, begin) for way in _ways(tree, one)]
            asked = [_asked(tree, one) for one in (begin, *_ways(tree, begin))]
            entry = tree.steps[begin].entry
            self.steps.append((asked, first + (len(begins) if entry < 0 else at)))
            self.ends.append(max(entry, 0))
            if entry < 0:
                begins += ways
                depths += [depths[at] + 1] * len(ways)
        self.rounds = max(self.rounds, 1, *depths)  # none would be no tree
        return first

    def _grids(
        self,
        entries: Sequence[int],
        axes: tuple[Axis, ...],
        conditions: Sequence[tuple[int, Condition]],
    ) -> Iterator[int]:
        """Yield where the grid for each combination of broken conditions begins.

        It tells which of the entries that need none of them can be nearest. Combinations that leave
        the same entries share one, and those beyond the most grids share one of all entries.
        """
        begins: dict[tuple[int, ...] | None, int] = {(): NO_GRID}
        implied = _implied(conditions)
        for mask in range(1 << len(conditions)):
            possible = all(mask & by for bit, by in implied if mask >> bit & 1)
            left = tuple(at for at in entries if possible and not self.needs[at] & mask)
            key = left if left in begins or len(begins) < MOST_GRIDS else None
            if key is None and key not in begins:
                begins[key] = self._all_cells(entries, axes)
            elif key is not None and key not in begins:
                begins[key] = self._add_cells(key, axes, [0] * len(key))
            yield begins[key]

    def _all_cells(self, entries: Sequence[int], axes: tuple[Axis, ...]) -> int:
        return self._add_cells(entries, axes, [self.needs[at] for at in entries])

    def _add_cells(
        self, entries: Sequence[int], axes: tuple[Axis, ...], needs: Sequence[int]
    ) -> int:
        """Add the cells of a grid, and return where they begin."""
        first, sizes = len(self.cells), [self.sizes[at] for at in entries]
        for candidates in nearest_by_cell(sizes, axes, self.table.weights, needs):
            self.cells.append(len(self.candidates))
            self.candidates += [entries[at] for at in candidates]
        self.cells.append(len(self.candidates))
        return first

    def _conditions_of(self, members: Sequence[int]) -> list[tuple[int, Condition]]:
        """Return what a size can break: an exact field keeps what its own entry keeps."""
        scaled = self.table.scaled_fields
        every = dict.fromkeys(c for at in members for c in self.answers[at].conditions)
        conditions = [(scaled.index(c.field), c) for c in every if c.field in scaled]
        if len(conditions) > MOST_CONDITIONS:
            raise InvalidInput(
                f"kernel {self.table.name!r} has {len(conditions)} different conditions for one "
                f"choice of {', '.join(self.table.exact_fields)}; a header holds {MOST_CONDITIONS}"
            )
        return conditions

    def _needs(self, at: int, conditions: Sequence[tuple[int, Condition]]) -> int:
        own = self.answers[at].conditions
        return sum(1 << bit for bit, (_, each) in enumerate(conditions) if each in own)

    def _slots(self) -> list[int]:
        """Return a hash table with linear probing, nearly empty: most misses end at once."""
        count = max(4, 1 << (8 * len(self.sizes)).bit_length())
        slots = [NO_POINT] * count
        for at, (group, sizes) in enumerate(zip(self.group_of, self.sizes, strict=True)):
            slot = hashed(group, sizes) >> shift(count)
            while slots[slot] != NO_POINT:
                slot = (slot + 1) % count
            slots[slot] = at
        return slots


def _key(table: KernelTable, problem: Fields) -> tuple[Value, ...]:
    return tuple(problem[name] for name in table.exact_fields)


def _ways(tree: Tree, at: int) -> tuple[int, int]:
    """Return where a step leads: an end to itself."""
    following = tree.steps[at].next
    return (following, following + 1) if following else (at, at)


def _asked(tree: Tree, at: int) -> Asked:
    step = tree.steps[at]
    return (step.at_most, step.measure) if step.next else (_NEVER, 0)


def _implied(conditions: Sequence[tuple[int, Condition]]) -> list[tuple[int, int]]:
    """Return places of conditions, each with the bit of another one that is broken with it."""
    return [
        (one, 1 << other)
        for one, (field, weaker) in enumerate(conditions)
        for other, (its, stricter) in enumerate(conditions)
        if one != other and field == its and _implies(stricter, weaker)
    ]


def _implies(stricter: Condition, weaker: Condition) -> bool:
    low, high = weaker.at_least, weaker.at_most
    return (
        stricter.multiple_of % weaker.multiple_of == 0
        and (low is None or (stricter.at_least is not None and stricter.at_least >= low))
        and (high is None or (stricter.at_most is not None and stricter.at_most <= high))
    )


def _strictest(field: str, conditions: Iterable[tuple[int, Condition]]) -> Condition:
    of_field = [condition for _, condition in conditions if condition.field == field]
    return Condition(
        field,
        lcm(*(each.multiple_of for each in of_field)),
        max((each.at_least for each in of_field if each.at_least is not None), default=None),
        min((each.at_most for each in of_field if each.at_most is not None), default=None),
    )


def factors(fields: int) -> list[int]:
    """Return what each size counts in a hash: powers of one large odd number."""
    return [pow(SPREAD, field + 1, 1 << 64) for field in range(fields)]


def hashed(group: int, sizes: Sequence[int]) -> int:
    """Return 64 bits of which the upper ones tell problems apart, as the C++ lookup does."""
    terms = (f * size for f, size in zip(factors(len(sizes)), sizes, strict=True))
    value = (group + sum(terms)) & _WORD
    return (value ^ (value >> 32)) * SPREAD & _WORD


def shift(slots: int) -> int:
    """Return by how much a hash is shifted to give one of ``slots``, a power of two."""
    return 65 - slots.bit_length()
