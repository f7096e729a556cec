"""JSON as it is meant: no NaN, no key twice, and a place for every mistake."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

from autotune.errors import InvalidTable


def parse(text: str | bytes, name: str) -> Node:
    """Return the object that ``text`` holds; ``name`` is what messages call the text.

    Raises:
        InvalidTable: It is not one JSON object.
    """
    try:
        text = text.decode("utf-8") if isinstance(text, bytes) else text
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_bounded,
            object_pairs_hook=_unique,
        )
        _refuse_half_characters(text, value)
    except UnicodeDecodeError as error:
        raise InvalidTable(f"{name}: not a table: byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise InvalidTable(f"{name}: not a table: {place}: {error.msg}") from None
    except RecursionError:
        raise InvalidTable(f"{name}: nested too deeply for a table") from None
    except ValueError as error:  # raised by the hooks below
        raise InvalidTable(f"{name}: {error}") from None
    return Node(value, name, "")


class Node:
    """One JSON object that is being read: each key is asked for once, and none is left over.

    Args:
        value: What stands at this place.
        name: The file.
        place: The path of keys from the root, such as ``kernels.gemm.entries[3]``.

    Attributes:
        left: What nobody has asked for yet.
    """

    __slots__ = ("_name", "left", "place")

    def __init__(self, value: Any, name: str, place: str) -> None:
        self._name = name
        self.place = place
        if not isinstance(value, dict):
            self.fail(f"must be an object, not {_shown(value)}")
        self.left: dict[str, Any] = dict(value)

    def fail(self, problem: str, key: str = "") -> NoReturn:
        """Raise ``InvalidTable`` for this place, or for ``key`` in it."""
        place = self._below(key) if key else self.place
        raise InvalidTable(f"{self._name}: {place + ' ' if place else ''}{problem}")

    def whole(self, key: str, *, at_least: int | None = None, at_most: int | None = None) -> int:
        """Take a whole number."""
        value = self._take(key)
        if type(value) is not int:
            self.fail(f"must be a whole number, not {_shown(value)}", key)
        if at_least is not None and value < at_least:
            self.fail(f"must be at least {at_least}, not {_shown(value)}", key)
        if at_most is not None and value > at_most:
            self.fail(f"must be at most {at_most}, not {_shown(value)}", key)
        return value

    def whole_or_null(self, key: str) -> int | None:
        """Take a whole number or null."""
        return None if self._took_null(key) else self.whole(key)

    def number(self, key: str) -> float:
        """Take a number that is not negative."""
        value = self._take(key)
        if type(value) not in (int, float) or value < 0:
            self.fail(f"must be a number of at least 0, not {_shown(value)}", key)
        return float(value)

    def number_or_null(self, key: str) -> float | None:
        """Take a number that is not negative, or null."""
        return None if self._took_null(key) else self.number(key)

    def number_if_there(self, key: str) -> float | None:
        """Take a number that is not negative, or nothing where there is no such key."""
        return self.number(key) if key in self.left else None

    def flag(self, key: str) -> bool:
        """Take true or false."""
        value = self._take(key)
        if type(value) is not bool:
            self.fail(f"must be true or false, not {_shown(value)}", key)
        return value

    def text(self, key: str, *, among: tuple[str, ...] = ()) -> str:
        """Take a text; one of ``among`` if that is given."""
        value = self._take(key)
        if type(value) is not str:
            self.fail(f"must be text, not {_shown(value)}", key)
        if among and value not in among:
            self.fail(f"must be one of {', '.join(among)}, not {_shown(value)}", key)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of different texts."""
        values = self._list(key)
        if any(type(value) is not str for value in values) or len(set(values)) < len(values):
            self.fail("must be a list of different texts", key)
        return tuple(values)

    def scalars(self, key: str, *, allowed: tuple[type, ...] = (int, str)) -> dict[str, Any]:
        """Take an object whose values are scalars of the ``allowed`` types."""
        node = self.node(key)
        for name, value in node.left.items():
            if type(value) not in allowed:
                kinds = " or ".join(_KINDS[kind] for kind in allowed)
                node.fail(f"must be {kinds}, not {_shown(value)}", name)
        return node.left

    def node(self, key: str) -> Node:
        """Take an object."""
        return Node(self._take(key), self._name, self._below(key))

    def node_or_null(self, key: str) -> Node | None:
        """Take an object or null."""
        return None if self._took_null(key) else self.node(key)

    def node_if_there(self, key: str) -> Node | None:
        """Take an object, or nothing where there is no such key."""
        return self.node(key) if key in self.left else None

    def nodes(self, key: str) -> list[Node]:
        """Take a list of objects."""
        return [
            Node(value, self._name, f"{self._below(key)}[{position}]")
            for position, value in enumerate(self._list(key))
        ]

    def named_nodes(self, key: str) -> dict[str, Node]:
        """Take an object of objects."""
        node = self.node(key)
        return {name: node.node(name) for name in list(node.left)}

    def end(self) -> None:
        """Refuse what nobody asked for."""
        for key in self.left:
            self.fail("is not a field of a table", key)

    def _list(self, key: str) -> list[Any]:
        value = self._take(key)
        if not isinstance(value, list):
            self.fail(f"must be a list, not {_shown(value)}", key)
        return value

    def _took_null(self, key: str) -> bool:
        null = self.left.get(key, ...) is None
        if null:
            del self.left[key]
        return null

    def _take(self, key: str) -> Any:
        if key not in self.left:
            self.fail("is missing", key)
        return self.left.pop(key)

    def _below(self, key: str) -> str:
        step = key if key.isprintable() else json.dumps(key)
        return f"{self.place}.{step}" if self.place else step


_KINDS: Mapping[type, str] = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
}
_SHOWN_LETTERS = 40
_MAX_DIGITS = 18  # fits 64 bits, as every size and count does


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return _short(json.dumps(value))


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_LETTERS else f"{text[:_SHOWN_LETTERS]}…"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise ValueError(f"key {_shown(key)} appears twice in one object")
        values[key] = value
    return values


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"number {_short(digits)} is too large")
    return value


def _bounded(digits: str) -> int:
    if len(digits.lstrip("-")) > _MAX_DIGITS:
        raise ValueError(f"number {_short(digits)} is too large")
    return int(digits)


def _refuse_half_characters(text: str, value: Any) -> None:
    """Refuse escapes that no text file can hold, since printing them would fail later."""
    if "\\ud" not in text.lower():
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a text holds half of a surrogate pair") from None


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number in JSON")
