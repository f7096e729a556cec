"""Answers for one kernel of a table, remembered by problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from operator import index
from typing import Any, NamedTuple

from autotune.dispatch.nearest import group_of, octaves
from autotune.dispatch.records import Choice, Entry, KernelTable, Value, broken_condition
from autotune.dispatch.tree import Guide
from autotune.errors import InvalidProblem, NoValidConfig

_MOST_REMEMBERED = 4096
_Problem = tuple[Value, ...]


class Considered(NamedTuple):
    """An entry or default that a lookup looked at.

    Attributes:
        entry: What it is.
        source: What an answer from it would be: ``exact``, ``tree``, ``nearest`` or ``default``.
        octaves: How often sizes double from its problem to the one that was asked for.
        obstacle: Why it may not serve, or None.
    """

    entry: Entry
    source: str
    octaves: float
    obstacle: str | None


class Finder(dict[_Problem, Choice]):
    """The choice for each problem: a dict that finds what it does not hold yet.

    Asking for a problem again is the lookup of a dict, and as fast. It may be shared between
    threads.

    Args:
        table: What a table says of one kernel.
        name: What messages call the table.

    Attributes:
        table: What a table says of one kernel.
        fields: The names of a problem's values, in the order in which they are asked for.

    Example:
        >>> find = Table.load("table.json").finder("gemm")  # doctest: +SKIP
        >>> find.fields                                     # doctest: +SKIP
        ('m', 'n', 'k', 'dtype', 'layout')
        >>> find[4096, 4096, 4096, "bf16", "nt"].config     # doctest: +SKIP
    """

    __slots__ = (
        "_checks",
        "_exact",
        "_groups",
        "_guided",
        "_guides",
        "_name",
        "_near",
        "_scaled",
        "fields",
        "table",
    )

    def __init__(self, table: KernelTable, name: str) -> None:
        super().__init__()
        self.table = table
        self.fields = (*table.scaled_fields, *table.exact_fields)
        self._name = name
        self._scaled = len(table.scaled_fields)
        self._checks = (*(_size for _ in table.scaled_fields), *_exact_checks(table))
        self._exact = {self._key(entry): entry for entry in table.entries}
        self._near = {id(entry): self._choice(entry, "nearest") for entry in table.entries}
        members: dict[_Problem, list[Entry]] = {}
        for key, entry in self._exact.items():
            members.setdefault(key[self._scaled :], []).append(entry)
        self._groups = {key: group_of(some, table) for key, some in members.items()}
        self._guides = _guides(table)
        self._guided = {id(entry): self._choice(entry, "tree") for entry in table.entries}

    def __call__(self, *problem: Any) -> Choice:
        """Return the choice for the values of ``fields``, in that order.

        Indexing, ``find[m, n, k, …]``, does the same in half the time.

        Raises:
            InvalidProblem: A value is missing, is one too many or is of the wrong type.
            NoValidConfig: Nothing in the table may serve this problem.
        """
        return self[problem]

    def __missing__(self, problem: Any) -> Choice:
        """Find the choice for a problem that was not asked for before, and remember it."""
        choice = self._quick(problem) or self._thorough(problem)
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        self[problem] = choice
        return choice

    def values_of(self, problem: Mapping[str, Any]) -> _Problem:
        """Return the values of ``fields`` in ``problem``.

        Raises:
            InvalidProblem: A field is unknown, missing or of the wrong type.
        """
        try:
            values = [problem[name] for name in self.fields]
        except KeyError:
            values = []
        if len(values) != len(problem) or not values:
            self._refuse_names(problem)
        return self._checked(values)

    def choices(self, problem: _Problem) -> Iterator[Choice]:
        """Yield every choice for the checked values of a problem, best first."""
        why, misfit = "no entry has its exact fields", False
        for entry, source, _, obstacle in self.considered(problem):
            if obstacle is None:
                yield self._choice(entry, source, why)
            if source == "default" or misfit:
                continue
            why, misfit = "no other entry", obstacle is not None
            if misfit:
                why = f"the {source} entry, {self._sizes(entry)}, does not fit: {obstacle}"

    def considered(self, problem: _Problem) -> Iterator[Considered]:
        """Yield every entry and default whose exact fields are equal, best first.

        The first one without an obstacle is the choice.
        """
        sizes, _ = self._split(problem)
        asked = dict(zip(self.fields, problem, strict=True))
        for source, entry in self._candidates(problem):
            apart = octaves(self._split(self._key(entry))[0], sizes)
            yield Considered(entry, source, apart, broken_condition(entry.conditions, asked))

    def _candidates(self, problem: _Problem) -> Iterator[tuple[str, Entry]]:
        """Yield what may answer, with the rule that leads to it; no entry twice."""
        sizes, exact = self._split(problem)
        group, guide = self._groups.get(exact), self._guides.get(exact)
        here, led = self._exact.get(problem), guide.end(sizes) if guide else None
        if here is not None:
            yield "exact", here
        if led is not None and led is not here:
            yield "tree", led
        for entry in group.by_distance(sizes) if group else ():
            if entry is not here and entry is not led:
                yield "nearest", entry
        for default in self.table.defaults:
            if self._split(self._key(default))[1] == exact:
                yield "default", default

    def _quick(self, problem: Any) -> Choice | None:
        """Return the first of ``choices`` without looking at all entries, or None.

        What is wrong with a problem is found out in ``_thorough``.
        """
        entry = self._exact.get(problem)
        if entry is not None:
            return self._choice(entry, "exact")
        try:
            exact = problem[self._scaled :]
            guide = self._guides.get(exact)
            led = guide.serving(problem) if guide else None
            if led:
                return self._guided[id(led)]
            found = self._groups[exact].nearest(problem)
        except (KeyError, TypeError, ValueError):  # no group; a size that is no number, or below 1
            return None
        return self._near[id(found)] if found else None

    def _thorough(self, problem: Any) -> Choice:
        values = self._checked(problem if isinstance(problem, tuple) else (problem,))
        for choice in self.choices(values):
            return choice
        raise self._no_answer(values)

    def _choice(self, entry: Entry, source: str, why: str = "") -> Choice:
        match source:
            case "exact":
                reason = "measured for exactly this problem"
            case "tree":
                reason = f"a tree, learned from predictions, says as for {self._sizes(entry)}"
            case "nearest":
                reason = f"nearest is {self._sizes(entry)}"
            case _:
                reason = f"the kernel's default: {why}"
        return Choice(self.table.name, entry.config, source, reason, entry)

    def _split(self, problem: _Problem) -> tuple[tuple[int, ...], _Problem]:
        """Return the scaled and the exact values of a checked problem."""
        sizes: Any = problem[: self._scaled]  # whole numbers, as they were checked
        return sizes, problem[self._scaled :]

    def _refuse_names(self, problem: Mapping[str, Any]) -> None:
        allowed = ", ".join(self.fields)
        for name in problem:
            if name not in self.fields:
                raise InvalidProblem(f"problem: unknown field {name!r}; allowed: {allowed}")
        missing = ", ".join(name for name in self.fields if name not in problem)
        if missing:
            raise InvalidProblem(f"problem: missing field {missing}; a problem has {allowed}")

    def _no_answer(self, problem: _Problem) -> NoValidConfig:
        """Return the error, with what the table has of each exact field that it lacks here."""
        pairs = list(zip(self.fields, problem, strict=True))
        told = ", ".join(f"{field}={value}" for field, value in pairs)
        for field, value in pairs[self._scaled :]:
            answers = (*self.table.entries, *self.table.defaults)
            known = dict.fromkeys(str(each.problem[field]) for each in answers)
            if str(value) not in known:
                told += f"; the table has {field} {', '.join(known)}"
        return NoValidConfig(
            f"{self._name}: no entry and no default may serve {told}",
            hint="tune this problem, then export again",
        )

    def _checked(self, problem: Sequence[Any]) -> _Problem:
        if len(problem) != len(self.fields):
            has = ", ".join(self.fields)
            raise InvalidProblem(f"problem: {len(problem)} values; a problem has {has}")
        checked = zip(self._checks, self.fields, problem, strict=True)
        return tuple([check(name, value) for check, name, value in checked])

    def _sizes(self, entry: Entry) -> str:
        return ",".join([f"{field}={entry.problem[field]}" for field in self.table.scaled_fields])

    def _key(self, entry: Entry) -> _Problem:
        return tuple([entry.problem[field] for field in self.fields])


def _guides(table: KernelTable) -> dict[_Problem, Guide]:
    """Return the table's trees by the exact values that they are for."""
    trees = table.forest.trees if table.forest else ()
    return {
        tuple([tree.exact[name] for name in table.exact_fields]): Guide(tree, table)
        for tree in trees
    }


def _exact_checks(table: KernelTable) -> Iterator[Callable[[str, Any], Value]]:
    sample = next(chain(table.entries, table.defaults), None)
    for field in table.exact_fields:
        yield _whole if sample and isinstance(sample.problem[field], int) else _text


def _size(name: str, value: Any) -> int:
    size = value if type(value) is int else _whole(name, value)
    if size < 0:
        raise InvalidProblem(f"problem: {name} must be at least 0, not {size}")
    return size


def _whole(name: str, value: Any) -> int:
    try:
        if not isinstance(value, bool):
            return int(value) if isinstance(value, str) else index(value)
    except (TypeError, ValueError):
        pass
    raise InvalidProblem(f"problem: {name} must be a whole number, not {value!r:.60}")


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidProblem(f"problem: {name} must be text, not {value!r:.60}")
    return value
