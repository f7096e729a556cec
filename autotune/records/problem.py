"""A problem: what is computed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self, get_type_hints

from autotune.errors import AutotuneError, InvalidProblem
from autotune.records.asking import described
from autotune.records.identity import digest


@dataclass(frozen=True)
class Problem:
    """Base of a kernel's problem record: a frozen dataclass of ``int`` and ``str`` fields.

    A subclass overrides ``validate`` to refuse what cannot be computed.
    """

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Raise ``InvalidProblem`` unless every field is in range."""

    def require_one_of(self, field: str, allowed: Iterable[str]) -> None:
        """Raise ``InvalidProblem`` unless ``field`` has one of the values in ``allowed``."""
        value, names = getattr(self, field), tuple(allowed)
        if value not in names:
            raise InvalidProblem(
                f"problem: {field} must be one of {', '.join(names)}, not {value!r}"
            )

    @property
    def key(self) -> str:
        """32 hexadecimal digits that identify this problem."""
        return digest(self.as_dict())

    def as_dict(self) -> dict[str, int | str]:
        """Return a plain dict, ready for JSON."""
        # What ``asdict`` does, but it copies deeply, which takes long for problems by the thousand.
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @classmethod
    def parse(cls, fields: Mapping[str, Any]) -> Self:
        """Make a problem from names and values as a person writes them.

        Raises:
            InvalidProblem: A field is unknown, missing, of the wrong type or out of range.
        """
        known = get_type_hints(cls)
        names = [field.name for field in dataclasses.fields(cls)]
        for name in fields:
            if name not in names:
                raise InvalidProblem(f"problem: unknown field {name!r}; allowed: {_listed(names)}")
        values = {name: _converted(name, known[name], value) for name, value in fields.items()}
        missing = [f.name for f in dataclasses.fields(cls) if f.name not in values and _required(f)]
        if missing:
            raise InvalidProblem(
                f"problem: missing field {_listed(missing)}; a problem has {_listed(names)}"
            )
        try:
            return cls(**values)
        except AutotuneError:
            raise
        except Exception as error:
            raise InvalidProblem(f"problem: {cls.__name__} raises {described(error)}") from error

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.as_dict().items())


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _listed(names: list[str]) -> str:
    return ", ".join(names)


def _converted(name: str, kind: type, value: Any) -> int | str:
    if kind is int:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise InvalidProblem(f"problem: {name} must be a whole number, not {value!r}")
        try:
            return int(value)
        except ValueError:
            raise InvalidProblem(f"problem: {name} must be a whole number, not {value!r}") from None
    if not isinstance(value, str):
        raise InvalidProblem(f"problem: {name} must be text, not {value!r}")
    return value
