"""The lists that T1 writes as Python: read by a grammar of their own, never executed."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autotune.errors import InvalidInput

MOST_VALUES = 100_000
MOST_TEXT = 10_000
_MOST_POWER = 64
_MOST_BITS = 63

_BINARY: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_Names = Mapping[str, int | float]


def values_of(text: str, where: str) -> list[Any]:
    """Return the values of a list such as ``[1, 2]`` or ``[2**i for i in range(6)]``.

    Raises:
        InvalidInput: It is anything else.
    """
    if len(text) > MOST_TEXT:
        raise InvalidInput(f"{where}: longer than {MOST_TEXT} letters")
    try:
        return _listed(ast.parse(text.strip(), mode="eval").body)
    except (ValueError, ArithmeticError, SyntaxError, RecursionError, MemoryError) as error:
        raise InvalidInput(
            f"{where}: must be a list of values or [… for i in range(…)], not {text!r:.60}: {error}"
        ) from None


def _listed(node: ast.expr) -> list[Any]:
    if isinstance(node, ast.ListComp):
        return _comprehended(node)
    if not isinstance(node, ast.List | ast.Tuple):
        raise ValueError("no list")  # noqa: TRY004 - read as any other fault of the text
    return [_value(each, {}) for each in node.elts]


def _comprehended(node: ast.ListComp) -> list[Any]:
    source, *others = node.generators
    if others or source.ifs or source.is_async or not isinstance(source.target, ast.Name):
        raise ValueError("more than one plain 'for'")
    name = source.target.id
    return [_value(node.elt, {name: each}) for each in _iterated(source.iter)]


def _iterated(node: ast.expr) -> Sequence[Any]:
    if not isinstance(node, ast.Call):
        return _listed(node)
    if not (isinstance(node.func, ast.Name) and node.func.id == "range") or node.keywords:
        raise ValueError("calls something other than range")
    bounds = [_value(each, {}) for each in node.args]
    if not 1 <= len(bounds) <= 3 or not all(isinstance(each, int) for each in bounds):
        raise ValueError("range takes one to three whole numbers")
    found = range(*bounds)
    if len(found) > MOST_VALUES:
        raise ValueError(f"more than {MOST_VALUES} values")
    return found


def _value(node: ast.expr, names: _Names) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str | bool):
        return node.value
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand, names)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _combined(node, names)
    raise ValueError(f"{type(node).__name__} has no place in it")


def _combined(node: ast.BinOp, names: _Names) -> Any:
    left, right = _number(node.left, names), _number(node.right, names)
    if isinstance(node.op, ast.Pow) and abs(right) > _MOST_POWER:
        raise ValueError(f"a power above {_MOST_POWER}")
    found = _BINARY[type(node.op)](left, right)
    if isinstance(found, complex) or (isinstance(found, int) and found.bit_length() > _MOST_BITS):
        raise ValueError("a number out of range")
    return found


def _number(node: ast.expr, names: _Names) -> Any:
    value = _value(node, names)
    if isinstance(value, str):
        raise ValueError("arithmetic with text")  # noqa: TRY004 - read as any other fault
    return value
