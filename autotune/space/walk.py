"""Walk a space without building its full product."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from operator import itemgetter, mul

from autotune.records import Value
from autotune.space.parameter import Constraint, Parameter


class Walk:
    """One pass over every choice of values, leaving whole branches out as soon as they break.

    Args:
        parameters: In the order in which they are bound.
        due: For each parameter, the constraints to check once it is bound.

    Attributes:
        removed: Choices left out so far, by constraint name.
        example: The first reason of each constraint that left something out.
    """

    def __init__(
        self, parameters: Sequence[Parameter], due: Sequence[Sequence[Constraint]]
    ) -> None:
        self.removed: dict[str, int] = {}
        self.example: dict[str, str] = {}
        self._values = [parameter.values for parameter in parameters]
        self._names = [parameter.name for parameter in parameters]
        self._checks = [[_Check(constraint) for constraint in constraints] for constraints in due]
        below = accumulate(map(len, reversed(self._values)), mul, initial=1)
        self._below = list(below)[-2::-1]  # choices under one value of each parameter
        self._bound: dict[str, Value] = {}

    def choices(self) -> Iterator[Mapping[str, Value]]:
        """Yield each choice that keeps every rule. It is one mapping, changed in place."""
        if not self._values:
            yield self._bound
            return
        last = len(self._values) - 1
        pending = [iter(self._values[0])]  # of each parameter bound so far, the values to come
        while pending:
            depth = len(pending) - 1
            for value in pending[-1]:
                self._bound[self._names[depth]] = value
                if not self._keeps(depth):
                    continue
                if depth == last:
                    yield self._bound
                    continue
                pending.append(iter(self._values[depth + 1]))
                break
            else:
                pending.pop()

    def _keeps(self, depth: int) -> bool:
        for check in self._checks[depth]:
            reason = check.reason(self._bound)
            if reason is not None:
                self._leave_out(check.name, reason, depth)
                return False
        return True

    def _leave_out(self, name: str, reason: str, depth: int) -> None:
        self.removed[name] = self.removed.get(name, 0) + self._below[depth]
        self.example.setdefault(name, reason)


class _Check:
    """A constraint that is asked once for each combination of the values that it uses.

    A walk meets a combination again under every choice of the other parameters, and asking
    is dearer than remembering.
    """

    def __init__(self, constraint: Constraint) -> None:
        self.name = constraint.name
        self._constraint = constraint
        self._arguments = itemgetter(*constraint.uses)
        self._reasons: dict[object, str | None] = {}

    def reason(self, bound: Mapping[str, Value]) -> str | None:
        """Return why ``bound`` breaks the rule, or None."""
        arguments = self._arguments(bound)
        if arguments not in self._reasons:
            self._reasons[arguments] = self._constraint.reason(bound)
        return self._reasons[arguments]
