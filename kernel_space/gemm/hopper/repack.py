"""The pass before a product: rows that no tensor map can describe are copied to rows that one can.

A tensor map takes rows of a multiple of 16 bytes. The copy's rows are whole lines of 128 bytes,
filled up with zeros, so that every tile of K lies in them and none straddles a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from autotune.records import Launch, Operand, Scalar, Target

ENTRY = "pack"
MAP_ELEMENTS = 8  # 16 bytes, of 16-bit elements
LINE_ELEMENTS = 64  # 128 bytes
BLOCK_THREADS = 256
BLOCK_WARPS = BLOCK_THREADS // 32
SEGMENT_ELEMENTS = 512  # of a row, that a warp copies at a time
BLOCKS_ON_SM = 6  # that its registers hold


def copies(operands: Sequence[Operand]) -> dict[str, Operand]:
    """Return the copies of those operands that need one, by the operand's name."""
    return {each.name: _copy(each) for each in operands if each.shape[1] % MAP_ELEMENTS}


def packing(operands: Sequence[Operand], target: Target) -> tuple[Launch, ...]:
    """Return the launch that makes the copies of ``operands``, if any needs one."""
    made = copies(operands)
    pairs = [(each, made[each.name]) for each in operands if each.name in made]
    if not pairs:
        return ()
    segments = max(_segments(copy) for _, copy in pairs)
    arguments = [argument for pair in (pairs[0], pairs[-1]) for argument in _arguments(*pair)]
    launch = Launch(
        grid=(min(-(-segments // BLOCK_WARPS), BLOCKS_ON_SM * target.sm_count), len(pairs), 1),
        block=(BLOCK_THREADS, 1, 1),
        shared_bytes=0,
        arguments=tuple(arguments),
        entry=ENTRY,
        overlaps=True,
    )
    return (launch,)


def moved_elements(operands: Sequence[Operand]) -> int:
    """Return how many elements are read and written to make the copies of ``operands``."""
    made = copies(operands)
    return sum(
        prod(each.shape) + prod(made[each.name].shape) for each in operands if each.name in made
    )


def _copy(operand: Operand) -> Operand:
    rows, columns = operand.shape
    pitch = -(-columns // LINE_ELEMENTS) * LINE_ELEMENTS
    return Operand(name=f"packed_{operand.name}", dtype=operand.dtype, shape=(rows, pitch))


def _segments(copy: Operand) -> int:
    rows, pitch = copy.shape
    return rows * -(-pitch // SEGMENT_ELEMENTS)


def _arguments(operand: Operand, copy: Operand) -> tuple[str | Scalar, ...]:
    extents = (*operand.shape, copy.shape[1])
    return (operand.name, copy.name, *(Scalar(dtype="int32", value=each) for each in extents))
