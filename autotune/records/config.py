"""A config: one point of a kernel's space."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from functools import cached_property
from typing import Any

from autotune.records.identity import digest

Value = int | str


class Config(Mapping[str, Value]):
    """An immutable choice of one value for each parameter.

    Equal choices are equal, hash alike and share a ``key``, whatever the order in which
    their parameters were given.

    Example:
        >>> Config(tile_m=128, stages=3)
        Config(stages=3, tile_m=128)
    """

    _hash: int | None = None

    def __init__(self, values: Mapping[str, Value] | None = None, /, **named: Value) -> None:
        merged = {**(values or {}), **named}
        self._values: dict[str, Value] = dict(sorted(merged.items()))

    @classmethod
    def owning(cls, values: dict[str, Value]) -> Config:
        """Return the config of ``values``, whose names are sorted and which nobody changes later.

        Nothing is copied or sorted: a space makes many.
        """
        config = cls.__new__(cls)
        config._values = values  # noqa: SLF001 - its own
        return config

    @cached_property
    def key(self) -> str:
        """32 hexadecimal digits that identify this choice."""
        return digest(self._values)

    def replace(self, **changes: Value) -> Config:
        """Return a copy with some values changed."""
        return Config(self._values, **changes)

    def as_dict(self) -> dict[str, Value]:
        """Return a plain dict, ready for JSON."""
        return dict(self._values)

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def values(self) -> ValuesView[Value]:
        """Return the values, in the order of their names."""
        return self._values.values()

    def items(self) -> ItemsView[str, Value]:
        """Return the names with their values, in the order of the names."""
        return self._values.items()

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        if self._hash is None:  # a search looks each config up many times
            self._hash = hash(tuple(self._values.values()))
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return Config.owning, (self._values,)  # another process hashes texts otherwise

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._values == other._values

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"

    def __str__(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self._values.items())
