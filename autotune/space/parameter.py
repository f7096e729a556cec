"""The two things that a space is made of."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import FunctionType

from autotune.errors import AutotuneError, InvalidInput
from autotune.records import Config, Value, described

Where = tuple[str, tuple[Value, ...]]  # a parameter, and some of its values


@dataclass(frozen=True, slots=True)
class Parameter:
    """One knob.

    Attributes:
        name: Its name in configs, study files, columns and the generated header.
        values: Every allowed value, in order of size where ``ordered``.
        ordered: True if neighbouring values behave alike (tile sizes, stage counts); False for
            choices without an order (mechanisms).
        about: One line for ``autotune kernels``.
    """

    name: str
    values: tuple[Value, ...]
    ordered: bool = True
    about: str = ""

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError(f"parameter {self.name!r} has no values")
        if not (self.name and self.name.isprintable()):
            raise ValueError(f"the name of parameter {self.name!r} is not printable")
        for value in self.values:
            if isinstance(value, bool) or not isinstance(value, int | str):
                raise TypeError(f"parameter {self.name!r}: {value!r} is no whole number or text")
        if len(set(self.values)) != len(self.values):
            raise ValueError(f"parameter {self.name!r} lists a value twice: {self.values}")


@dataclass(frozen=True, slots=True)
class Constraint:
    """A named rule that a config keeps or breaks before anything is compiled.

    Attributes:
        name: Short name, such as ``shared_memory``; it is counted and stored.
        broken: Takes the parameters that it names as arguments and returns why they break the
            rule, in words with numbers, or None if they keep it. It is called as soon as all
            of them have values.
        uses: Names of those parameters; if left out, read from the signature.
        where: A parameter and some of its values: with any other value of it, a config keeps the
            rule. None if no parameter alone decides so.

    Example:
        >>> Constraint("even", lambda tile: None if tile % 2 == 0 else f"{tile} is odd").uses
        ('tile',)
    """

    name: str
    broken: Callable[..., str | None]
    uses: tuple[str, ...] = ()
    where: Where | None = None

    def __post_init__(self) -> None:
        if not self.uses:
            object.__setattr__(self, "uses", _arguments(self.broken))

    def reason(self, values: Mapping[str, Value]) -> str | None:
        """Return why ``values``, which may hold more than it uses, break this rule, or None.

        Raises:
            InvalidInput: The rule's own code raises, or answers with neither words nor None.
        """
        return self.judge({name: values[name] for name in self.uses})

    def judge(self, used: Mapping[str, Value]) -> str | None:
        """Return why ``used``, which holds what the rule uses and no more, breaks it, or None.

        Raises:
            InvalidInput: As ``reason``.
        """
        try:
            reason = self.broken(**used)
        except AutotuneError:
            raise
        except Exception as error:
            why = f"constraint {self.name!r} for {Config(used)} raises {described(error)}"
            raise InvalidInput(why) from error
        if reason is not None and not isinstance(reason, str):
            raise InvalidInput(
                f"constraint {self.name!r} for {Config(used)} returns {reason!r}: it must return "
                "why the rule is broken, in words, or None if it is kept"
            )
        return reason

    def only_where(self, parameter: str, among: Collection[Value]) -> Constraint:
        """Return this rule for configs whose ``parameter`` is one of ``among``; others keep it."""
        some = tuple(among)

        def broken(**values: Value) -> str | None:
            if values[parameter] not in some:
                return None
            if parameter not in self.uses:
                del values[parameter]
            return self.broken(**values)

        uses = dict.fromkeys((parameter, *self.uses))
        return Constraint(self.name, broken, uses=tuple(uses), where=(parameter, some))

    @classmethod
    def fixed(cls, name: str, parameter: str, value: Value) -> Constraint:
        """Return the rule that ``parameter`` is ``value``: it is there, but no choice."""

        def broken(**values: Value) -> str | None:
            if values[parameter] != value:
                return f"{parameter} can only be {value} here, not {values[parameter]}"
            return None

        return cls(name, broken, uses=(parameter,))


def _arguments(broken: Callable[..., str | None]) -> tuple[str, ...]:
    """Return the names of what a rule takes.

    ``inspect.signature`` would do, but takes long where an export makes spaces by the thousand.
    """
    if isinstance(broken, FunctionType) and not vars(broken):  # else it may wrap another one
        names, rest, further = inspect.getargs(broken.__code__)
        if rest is None and further is None:
            return tuple(names)
    return tuple(inspect.signature(broken).parameters)
