"""A space: enumerate, check, explain."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from autotune.errors import InvalidInput
from autotune.records import Config, Value
from autotune.space.parameter import Constraint, Parameter
from autotune.space.walk import Walk


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
        constraints: Checked as soon as the last parameter that they name is bound.
    """

    def __init__(
        self, parameters: tuple[Parameter, ...], constraints: tuple[Constraint, ...] = ()
    ) -> None:
        self.parameters = parameters
        self.constraints = constraints
        self._position = {p.name: i for i, p in enumerate(parameters)}
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
                raise InvalidInput(
                    f"space: unknown parameter {name!r}; allowed: {', '.join(self._position)}"
                )
        cut = tuple(_cut(p, allowed[p.name]) if p.name in allowed else p for p in self.parameters)
        return Space(cut, self.constraints)

    def broken(self, config: Config) -> tuple[str, str] | None:
        """Return the name and reason of the first rule that ``config`` breaks, or None.

        A missing, unknown or impossible value breaks the rule ``values``.
        """
        for name in config:
            if name not in self._position:
                return "values", f"{name} is not a parameter; there are {', '.join(self._position)}"
        for parameter in self.parameters:
            if parameter.name not in config:
                return "values", f"it names no {parameter.name}, one of {_listed(parameter)}"
            value = config[parameter.name]
            if value not in parameter.values:
                return "values", f"{parameter.name}={value!r} is not one of {_listed(parameter)}"
        for constraint in (c for due in self._due for c in due):
            reason = constraint.reason(config)
            if reason is not None:
                return constraint.name, reason
        return None

    def __iter__(self) -> Iterator[Config]:
        """Yield every valid config, in a fixed order, without building the full product."""
        return map(Config, Walk(self.parameters, self._due).choices())

    def census(self) -> Census:
        """Count what each constraint removes."""
        walk = Walk(self.parameters, self._due)
        valid = sum(1 for _ in walk.choices())
        return Census(total=self.size, valid=valid, removed=walk.removed, example=walk.example)

    def _last_use(self, constraint: Constraint) -> int:
        unknown = [name for name in constraint.uses if name not in self._position]
        if unknown or not constraint.uses:
            raise ValueError(
                f"constraint {constraint.name!r} uses {unknown or 'no parameter'}; "
                f"the space has {', '.join(self._position)}"
            )
        return max(self._position[name] for name in constraint.uses)


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
