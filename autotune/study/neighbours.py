"""Problems beside the one that a config was chosen for, which its conditions admit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from autotune.dispatch import Condition, broken_condition
from autotune.errors import InvalidProblem
from autotune.records import Kernel, Problem, Value

Fields = Mapping[str, Value]


def neighbours(
    kernel: Kernel, problem: Problem, *, scaled: Sequence[str], conditions: Sequence[Condition]
) -> list[Problem]:
    """Return a few problems that a lookup may answer with the config of ``problem``.

    Each size is one step larger, by itself and with the others, all are one step smaller, and all
    are as small as can be: tails of every tile in every direction. A step is the least that the
    conditions allow, 1 where they say nothing.
    """
    found: dict[str, Problem] = {}
    for fields in _proposals(problem.as_dict(), scaled, conditions):
        if broken_condition(conditions, fields) is not None:
            continue
        try:
            neighbour = kernel.problem_type.parse(fields)
        except InvalidProblem:  # no lookup asks for what is no problem
            continue
        found.setdefault(neighbour.key, neighbour)
    found.pop(problem.key, None)
    return list(found.values())


def _proposals(
    own: Fields, scaled: Sequence[str], conditions: Sequence[Condition]
) -> Iterator[Fields]:
    sizes = {name: int(own[name]) for name in scaled}
    steps = {name: _step(name, conditions) for name in scaled}
    larger = {name: sizes[name] + steps[name] for name in scaled}
    smaller = {name: max(sizes[name] - steps[name], steps[name]) for name in scaled}
    yield {**own, **larger}
    yield {**own, **smaller}
    yield {**own, **{name: _least(name, steps[name], conditions) for name in scaled}}
    for name in scaled:
        yield {**own, name: larger[name]}


def _step(name: str, conditions: Sequence[Condition]) -> int:
    return math.lcm(*(each.multiple_of for each in conditions if each.field == name))


def _least(name: str, step: int, conditions: Sequence[Condition]) -> int:
    bounds = (each.at_least for each in conditions if each.field == name)
    least = max([1, *(bound for bound in bounds if bound is not None)])
    return math.ceil(least / step) * step
