"""A space: count, enumerate, draw, check, explain."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random

from autotune.errors import InvalidInput
from autotune.records import Config, Value
from autotune.space.parameter import Constraint, Parameter
from autotune.space.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """How many configs a space holds, and what took the others away.

    Attributes:
        total: Size of the full product of all values.
        valid: Configs that keep every constraint.
        removed: Configs removed, by constraint name. Each config is counted once, under the
            first constraint that it breaks when parameters are bound in order.
        example: One reason for each constraint that removed something.
    """

    total: int
    valid: int
    removed: Mapping[str, int]
    example: Mapping[str, str]


class Space:
    """The parameters of a kernel for one problem and target, and the rules between them.

    Args:
        parameters: In the order in which they are bound; put those that constraints use early.
            Those with one value are bound before all others, wherever they stand.
        constraints: Checked as soon as the last parameter that they name is bound.
    """

    def __init__(
        self, parameters: tuple[Parameter, ...], constraints: tuple[Constraint, ...] = ()
    ) -> None:
        self.parameters = parameters
        self.constraints = constraints
        self._order = sorted(parameters, key=_is_a_choice)  # the others stand in nobody's way
        self._position = {p.name: i for i, p in enumerate(self._order)}
        if len(self._position) != len(parameters):
            raise ValueError("two parameters of a space share a name")
        self._due: list[list[Constraint]] = [[] for _ in parameters]
        for constraint in constraints:
            self._due[self._last_use(constraint)].append(constraint)

    @property
    def size(self) -> int:
        """Size of the full product, valid or not."""
        return math.prod(len(p.values) for p in self.parameters)

    def restricted(self, allowed: Mapping[str, Sequence[Value]]) -> Space:
        """Return the space with some parameters cut down to the values in ``allowed``.

        Raises:
            InvalidInput: A name or a value is not in this space.
        """
        for name in allowed:
            if name not in self._position:
                raise InvalidInput(f"space: unknown parameter {name!r}; allowed: {self._names()}")
        cut = tuple(_cut(p, allowed[p.name]) if p.name in allowed else p for p in self.parameters)
        return Space(cut, self.constraints)

    def broken(self, config: Config) -> tuple[str, str] | None:
        """Return the name and reason of the first rule that ``config`` breaks, or None.

        A missing, unknown or impossible value breaks the rule ``values``.
        """
        values = config.as_dict()  # looking into a dict is faster
        for name in values:
            if name not in self._position:
                return "values", f"{name} is not a parameter; there are {self._names()}"
        for parameter in self.parameters:
            if parameter.name not in values:
                return "values", f"it names no {parameter.name}, one of {_listed(parameter)}"
            value = values[parameter.name]
            if value not in parameter.values:
                return "values", f"{parameter.name}={value!r} is not one of {_listed(parameter)}"
        for constraint in self.rules():
            reason = constraint.reason(values)
            if reason is not None:
                return constraint.name, reason
        return None

    def rules(self) -> Iterator[Constraint]:
        """Yield the constraints in the order in which they are checked."""
        return chain.from_iterable(self._due)

    def __contains__(self, config: object) -> bool:
        """Return True if ``config`` keeps every rule."""
        return isinstance(config, Config) and self.broken(config) is None

    def __iter__(self) -> Iterator[Config]:
        """Yield every valid config, in a fixed order, without building the full product."""
        return (Config.owning(choice.copy()) for choice in self._tree().choices())

    def count(self) -> int:
        """Return how many configs are valid; only where most rules use many is each looked at."""
        return self._tree().count()

    def sample(self, count: int, seed: int = 0) -> list[Config]:
        """Return ``count`` distinct valid configs, or all where there are fewer.

        Every set of so many valid configs is equally likely, and follows from ``seed``. Its
        configs come in the order of the space. Memory is that of the sample and some tens of
        megabytes, however many configs are valid.
        """
        tree = self._tree()
        ranks = _drawn(tree.count(), count, Random(seed))  # noqa: S311 - not a secret
        return [Config.owning(tree.choice(rank)) for rank in sorted(ranks)]

    def census(self) -> Census:
        """Count what each constraint removes."""
        tree = self._tree()
        removed = tree.removed()
        valid = self.size - sum(removed.values())
        return Census(total=self.size, valid=valid, removed=removed, example=tree.examples())

    def _tree(self) -> Tree:
        return Tree(self._order, self._due)

    def _names(self) -> str:
        return ", ".join(parameter.name for parameter in self.parameters)

    def _last_use(self, constraint: Constraint) -> int:
        try:
            return max([self._position[name] for name in constraint.uses])
        except (KeyError, ValueError):
            unknown = [name for name in constraint.uses if name not in self._position]
            raise ValueError(
                f"constraint {constraint.name!r} uses {unknown or 'no parameter'}; "
                f"the space has {self._names()}"
            ) from None


def _is_a_choice(parameter: Parameter) -> bool:
    return len(parameter.values) > 1


def _drawn(size: int, count: int, random: Random) -> set[int]:
    """Return ``count`` of ``range(size)``, each set of them equally likely.

    ``Random.sample`` cannot draw from more than a machine word counts; this way of Floyd's can.
    """
    drawn: set[int] = set()
    for last in range(max(0, size - count), size):
        rank = random.randrange(last + 1)
        drawn.add(last if rank in drawn else rank)
    return drawn


def _listed(parameter: Parameter) -> str:
    return ", ".join(map(str, parameter.values))


def _cut(parameter: Parameter, allowed: Sequence[Value]) -> Parameter:
    for value in allowed:
        if value not in parameter.values:
            raise InvalidInput(
                f"space: {parameter.name}={value!r} is not a value of this kernel; "
                f"allowed: {_listed(parameter)}"
            )
    kept = tuple(value for value in parameter.values if value in allowed)
    if not kept:
        raise InvalidInput(f"space: no value left for {parameter.name!r}")
    return dataclasses.replace(parameter, values=kept)
