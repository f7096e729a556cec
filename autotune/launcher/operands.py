"""Whether arrays are what a kernel reads and writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from autotune.errors import InvalidInput
from autotune.launcher.view import View
from autotune.records import Operand

ALIGNMENT_BYTES = 16  # of allocations, on which configs that copy 16 bytes at a time rely


def check(operands: Iterable[Operand], views: Mapping[str, View]) -> None:
    """Return if ``views`` are the operands of a kernel, by name.

    Raises:
        InvalidInput: One is missing, of another shape or dtype, has gaps, has no memory, is not
            aligned, may not be written, or shares memory with an output.
    """
    known = {operand.name: operand for operand in operands}
    if set(known) != set(views):
        raise InvalidInput(f"arrays must be {_listed(known)}; these are {_listed(views)}")
    for name, operand in known.items():
        _check_one(operand, views[name])
    for name, operand in known.items():
        if operand.output:
            _check_output(views[name], [other for key, other in views.items() if key != name])


def _check_one(operand: Operand, view: View) -> None:
    name = view.name
    if view.dtype != operand.dtype:
        raise InvalidInput(f"{name} is {view.dtype}; this problem takes {operand.dtype}")
    if view.shape != operand.shape:
        raise InvalidInput(f"{name} has shape {view.shape}; this problem takes {operand.shape}")
    if not view.dense:
        raise InvalidInput(
            f"{name} has strides {view.strides} for shape {view.shape}; it must be row-major "
            "without gaps"
        )
    if view.bytes and not view.pointer:
        raise InvalidInput(f"{name} has no memory: it was freed, or is only traced")
    if view.bytes and view.pointer % ALIGNMENT_BYTES:
        raise InvalidInput(
            f"{name} begins {view.pointer % ALIGNMENT_BYTES} bytes past a multiple of "
            f"{ALIGNMENT_BYTES}",
            hint="it is a part of a larger array; copy it",
        )


def _check_output(output: View, others: Iterable[View]) -> None:
    if output.read_only:
        raise InvalidInput(f"{output.name} may not be written")
    for other in others:
        if output.overlaps(other):
            raise InvalidInput(f"{output.name} shares memory with {other.name}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
