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
        InvalidInput: One is missing, of another shape or dtype, has gaps, may not be written, or
            lies where ``check_places`` does not allow it.
    """
    known = {operand.name: operand for operand in operands}
    if set(known) != set(views):
        raise InvalidInput(f"arrays must be {_listed(known)}; these are {_listed(views)}")
    for name, operand in known.items():
        _check_kind(operand, views[name])
    check_places(views, outputs=[name for name, operand in known.items() if operand.output])


def check_places(views: Mapping[str, View], *, outputs: Iterable[str]) -> None:
    """Return if a kernel may work where ``views`` lie: all that addresses decide.

    Raises:
        InvalidInput: One has no memory, is not aligned, or shares memory with an output.
    """
    for view in views.values():
        _check_address(view)
    for written in outputs:
        for name, other in views.items():
            if name != written and views[written].overlaps(other):
                raise InvalidInput(f"{views[written].name} shares memory with {other.name}")


def _check_kind(operand: Operand, view: View) -> None:
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
    if operand.output and view.read_only:
        raise InvalidInput(f"{name} may not be written")


def _check_address(view: View) -> None:
    if view.bytes and not view.pointer:
        raise InvalidInput(f"{view.name} has no memory: it was freed, or is only traced")
    past = view.pointer % ALIGNMENT_BYTES
    if view.bytes and past:
        raise InvalidInput(
            f"{view.name} begins {past} bytes past a multiple of {ALIGNMENT_BYTES}",
            hint="it is a part of a larger array; copy it",
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
