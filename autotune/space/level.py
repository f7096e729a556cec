"""One parameter of a tree: which of its values go on, and what of them still matters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from operator import itemgetter

from autotune.records import Value
from autotune.space.parameter import Constraint, Parameter

State = tuple[Value, ...]
MOST_REMEMBERED = 2**14  # answers of each rule and of each level, a few hundred bytes each

NOTHING: Mapping[str, int] = {}
_remembered = lru_cache(MOST_REMEMBERED)


class Level:
    """What becomes of a choice when one more parameter is bound.

    A state holds the values bound above that rules here or below still use: choices with the
    same state go on alike.

    Args:
        parameter: The one that is bound.
        due: The rules to check then, one after the other.
        known: The parameters whose values a state holds.
        needed: Those, perhaps with this parameter, that rules below still use.

    Attributes:
        name: The parameter's name.
        carries: Whether the value that is bound here matters below.
        rest: Takes a state and returns what of it still matters below.
    """

    def __init__(
        self,
        parameter: Parameter,
        due: Sequence[Constraint],
        *,
        known: Sequence[str],
        needed: Sequence[str],
    ) -> None:
        used = [name for name in known if any(name in rule.uses for rule in due)]
        self.name = parameter.name
        self.carries = parameter.name in needed
        self.rest = _picker(known, [name for name in needed if name != parameter.name])
        self._values = parameter.values
        self._rules = [_Rule(constraint, parameter.name, used) for constraint in due]
        self._used = _picker(known, used)
        self._judged = _remembered(self._judge)

    def values(self, state: State) -> State:
        """Return the values that go on from ``state``, in the parameter's order."""
        return self._judged(self._used(state))[0]

    def below(self, state: State) -> Iterator[tuple[Value, State]]:
        """Yield each value that goes on from ``state``, and the state that it leads to."""
        values, rest = self._judged(self._used(state))[0], self.rest(state)
        states = [(*rest, value) for value in values] if self.carries else repeat(rest)
        return zip(values, states, strict=False)

    def removed(self, state: State) -> Mapping[str, int]:
        """Return how many values each rule removes of those that the rules before it keep."""
        return self._judged(self._used(state))[1]

    def examples(self) -> Iterator[tuple[str, str]]:
        """Yield a reason of each rule that removed something so far."""
        return ((rule.name, rule.example) for rule in self._rules if rule.example)

    def _judge(self, used: State) -> tuple[State, Mapping[str, int]]:
        alive, removed = self._values, dict[str, int]()
        for rule in self._rules:
            kept = rule.kept(used, alive)
            if kept != alive:
                removed[rule.name] = removed.get(rule.name, 0) + len(alive) - len(kept)
            alive = kept
        return alive, removed or NOTHING


class _Rule:
    """A constraint, asked about the values of the parameter that is bound last.

    Args:
        constraint: The constraint.
        bound: The parameter that is bound last.
        known: The parameters whose values it is given; it may use fewer.

    Attributes:
        name: The constraint's name.
        example: The first reason that it gave, or an empty text.
    """

    def __init__(self, constraint: Constraint, bound: str, known: Sequence[str]) -> None:
        self.name = constraint.name
        self.example = ""
        self._judge = constraint.judge
        self._bound = bound
        self._others = [name for name in known if name in constraint.uses]
        self._used = _picker(known, self._others)
        self._answer = _remembered(self._ask) if self._others != known else self._ask

    def kept(self, values: State, alive: State) -> State:
        """Return which of the bound parameter's values ``alive`` keep the rule.

        Others are not asked about: an earlier rule may guard this one from them.
        """
        return self._answer(self._used(values), alive) if alive else alive

    def _ask(self, used: State, alive: State) -> State:
        arguments = dict(zip(self._others, used, strict=True))
        kept = []
        for value in alive:
            arguments[self._bound] = value
            reason = self._judge(arguments)
            if reason is None:
                kept.append(value)
            elif not self.example:
                self.example = reason
        return tuple(kept)


def _picker(names: Sequence[str], wanted: Sequence[str]) -> Callable[[State], State]:
    """Return what picks the values of ``wanted`` from a tuple of the values of ``names``."""
    at = [names.index(name) for name in wanted]
    first = at[0] if at else 0
    if at == list(range(first, first + len(at))):
        return itemgetter(slice(first, first + len(at)))
    return itemgetter(*at)
