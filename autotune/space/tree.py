"""The choices of a space as a tree of which equal parts are looked at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import accumulate
from operator import mul
from typing import TypeVar

from autotune.records import Value
from autotune.space.level import MOST_REMEMBERED, NOTHING, Level, State
from autotune.space.parameter import Constraint, Parameter

LONGEST_LIST, MOST_LISTS = 256, 64  # of the ways in which choices end, at each level
T = TypeVar("T")


class Tree:
    """Every choice of values, one parameter a level; whole branches end as soon as they break.

    Below two prefixes that agree in what later rules still use lie equal branches. They are
    expanded and counted once, so that counting takes far less than enumerating, if rules use
    few parameters each. What is remembered is bounded: where nothing is equal, counting is as
    slow as enumerating, and takes no more memory than elsewhere.

    Args:
        parameters: In the order in which they are bound.
        due: For each parameter, the constraints to check once it is bound.
    """

    def __init__(
        self, parameters: Sequence[Parameter], due: Sequence[Sequence[Constraint]]
    ) -> None:
        self._levels = _levels(parameters, due)
        sizes = (len(parameter.values) for parameter in reversed(parameters))
        below = list(accumulate(sizes, mul, initial=1))
        self._sizes = below[-2::-1]  # of what lies under one value of each parameter
        self._names = sorted(parameter.name for parameter in parameters)
        depths = len(parameters)
        self._trunk = next(i for i in range(depths + 1) if below[-1 - i] <= LONGEST_LIST)
        self._counts = _at_each(self._count, depths, 1)
        self._removals = _at_each(self._removed, depths, NOTHING)
        end: list[dict[str, Value]] = [{}]
        self._endings = _at_each(self._all_endings, depths, end, most=MOST_LISTS)

    def choices(self) -> Iterator[dict[str, Value]]:
        """Yield each choice that keeps every rule. It is one dict by name, changed in place."""
        bound: dict[str, Value] = dict.fromkeys(self._names, 0)
        endings = self._endings[self._trunk]
        for state in self._prefixes(bound):
            for ending in endings(state):
                bound.update(ending)
                yield bound

    def _prefixes(self, bound: dict[str, Value]) -> Iterator[State]:
        """Bind the parameters of the trunk, and yield the state of each way to do so."""
        if not self._trunk:
            yield ()
            return
        pending = [self._levels[0].below(())]  # for each parameter bound so far, what is to come
        while pending:
            depth = len(pending)
            name = self._levels[depth - 1].name
            for bound[name], state in pending[-1]:
                if depth == self._trunk:
                    yield state
                else:
                    pending.append(self._levels[depth].below(state))
                    break
            else:
                pending.pop()

    def choice(self, rank: int) -> dict[str, Value]:
        """Return the choice at position ``rank``, below ``count()``, of ``choices``."""
        bound: dict[str, Value] = dict.fromkeys(self._names, 0)
        state: State = ()
        for depth, level in enumerate(self._levels):
            if level.carries:
                for bound[level.name], state in level.below(state):  # noqa: B020 - made of the old
                    below = self._counts[depth + 1](state)
                    if rank < below:
                        break
                    rank -= below
            else:
                values, state = level.values(state), level.rest(state)
                index, rank = divmod(rank, self._counts[depth + 1](state))
                bound[level.name] = values[index]
        return bound

    def count(self) -> int:
        """Return how many choices keep every rule."""
        return self._counts[0](())

    def removed(self) -> Mapping[str, int]:
        """Return how many choices each rule removes, counted under the first that they break."""
        return self._removals[0](())

    def examples(self) -> dict[str, str]:
        """Return the first reason of each rule that removed something so far."""
        given = [pair for level in self._levels for pair in level.examples()]
        return dict(reversed(given))

    def _count(self, depth: int, state: State) -> int:
        level, count = self._levels[depth], self._counts[depth + 1]
        if level.carries:
            return sum([count(after) for _, after in level.below(state)])
        values = level.values(state)
        return len(values) and len(values) * count(level.rest(state))

    def _all_endings(self, depth: int, state: State) -> list[dict[str, Value]]:
        """Return all ways to bind the parameters from ``depth`` on."""
        level, below = self._levels[depth], self._endings[depth + 1]
        if not level.carries and not below(level.rest(state)):
            return []
        return [
            {level.name: value, **ending}
            for value, after in level.below(state)
            for ending in below(after)
        ]

    def _removed(self, depth: int, state: State) -> Mapping[str, int]:
        level, size = self._levels[depth], self._sizes[depth]
        removed = {name: values * size for name, values in level.removed(state).items()}
        below = Counter(after for _, after in level.below(state))
        for after, times in below.items():
            for name, choices in self._removals[depth + 1](after).items():
                removed[name] = removed.get(name, 0) + choices * times
        return removed


def _at_each(
    answer: Callable[[int, State], T], depths: int, end: T, *, most: int = MOST_REMEMBERED
) -> list[Callable[[State], T]]:
    """Return ``answer`` for each depth, and ``end`` below the last.

    Each remembers on its own: the few answers near the root, which cost most, are never
    forgotten for the many far from it.
    """
    each = (lru_cache(most)(partial(answer, depth)) for depth in range(depths))
    return [*each, lambda _: end]


def _levels(parameters: Sequence[Parameter], due: Sequence[Sequence[Constraint]]) -> list[Level]:
    names = [parameter.name for parameter in parameters]
    used = [{name for rule in rules for name in rule.uses} for rules in due]
    needed = [
        [name for name in names[:depth] if any(name in each for each in used[depth:])]
        for depth in range(len(names) + 1)
    ]
    return [
        Level(parameter, due[depth], known=needed[depth], needed=needed[depth + 1])
        for depth, parameter in enumerate(parameters)
    ]
