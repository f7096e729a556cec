"""A launch: how a compiled candidate is started, and the arrays that it works on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral

ELEMENT_BYTES = {"bf16": 2, "fp16": 2, "fp32": 4, "fp64": 8, "int32": 4, "e4m3": 1}
DIMENSIONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """One array that a kernel reads or writes, stored row-major without gaps.

    Attributes:
        name: Its name in ``Launch.arguments`` and in ``Kernel.reference``.
        dtype: ``bf16``, ``fp16``, ``fp32``, ``fp64``, ``int32`` or ``e4m3``, the OCP's 8-bit float.
        shape: Extents as stored, slowest first.
        output: True if the kernel writes it. Outputs are poisoned before each check.
        drawn_from: Interval in which inputs to check and time with are uniform; inputs that are
            whole numbers are so in four times it.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    output: bool = False
    drawn_from: tuple[float, float] = (-1.0, 1.0)

    def __post_init__(self) -> None:
        """Refuse what no memory could hold."""
        if not isinstance(self.name, str):
            raise TypeError(f"the name of an operand is text, not {self.name!r}")
        if self.dtype not in ELEMENT_BYTES:
            known = ", ".join(ELEMENT_BYTES)
            raise ValueError(f"operand {self.name!r}: dtype {self.dtype!r} is not one of {known}")
        if not all(map(_is_count, self.shape)):
            raise ValueError(f"operand {self.name!r}: shape {self.shape!r} is not made of counts")

    @property
    def size_bytes(self) -> int:
        """Size of the array, in bytes."""
        return math.prod(self.shape) * ELEMENT_BYTES[self.dtype]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """One scalar argument of a launch: ``dtype`` is ``int32``, ``int64`` or ``fp32``."""

    dtype: str
    value: int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorMap:
    """A description of one matrix for the copy engine of Hopper (TMA), passed by value.

    Attributes:
        operand: The matrix, two-dimensional as stored.
        box: Rows and columns that one copy moves, in elements.
        swizzle_bytes: 32, 64 or 128: how 16-byte chunks of the box lie in shared memory.
        l2_promotion_bytes: 0, 128 or 256: how much of a line a miss brings into L2.
    """

    operand: Operand
    box: tuple[int, int]
    swizzle_bytes: int = 128
    l2_promotion_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How a compiled candidate is started.

    Attributes:
        grid: Blocks in x, y and z. A zero means that there is nothing to launch, nor before it.
        block: Threads in x, y and z.
        shared_bytes: Dynamic shared memory for each block, in bytes.
        arguments: Names of operands or scratch (pointers), scalars and tensor maps, in the order
            of the kernel's parameters.
        before: Launches of the same binary that run first, in order, on the same stream. They
            count in the time, use the scratch named here, and are left out where empty.
        entry: The ``extern "C"`` symbol; empty means the unit's.
        scratch: Arrays of the launch's own. Whoever launches brings them: what they hold
            before is undefined, and what they hold afterwards is lost.
        overlaps: It may be started while the launch before it on the stream still runs, because
            every block of it waits (``griddepcontrol.wait``) before it touches memory.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: tuple[str | Scalar | TensorMap, ...]
    before: tuple[Launch, ...] = ()
    entry: str = ""
    scratch: tuple[Operand, ...] = ()
    overlaps: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be started or ordered, or would leave two arrays under one name."""
        for name, extents in (("grid", self.grid), ("block", self.block)):
            if not (len(extents) == DIMENSIONS and all(map(_is_count, extents))):
                raise ValueError(f"the {name} of a launch is three counts, not {extents!r}")
        if not (_is_count(self.shared_bytes) and isinstance(self.entry, str)):
            wrong = f"shared_bytes={self.shared_bytes!r}, entry={self.entry!r}"
            raise ValueError(f"a launch needs a count of bytes and an entry's name, not {wrong}")
        for first in self.before:
            if first.before or first.scratch:
                raise ValueError(
                    "a launch that runs before another has no launches before it and no scratch "
                    "of its own: give both to the last one"
                )
        names = [array.name for array in self.scratch]
        if len(set(names)) != len(names):
            raise ValueError(f"two scratch arrays share a name: {', '.join(names)}")

    @property
    def empty(self) -> bool:
        """True if the grid has no block, so that nothing must be launched."""
        return 0 in self.grid

    @property
    def steps(self) -> tuple[Launch, ...]:
        """Every launch with a block, this one last; none if this one is empty."""
        return () if self.empty else (*(each for each in self.before if not each.empty), self)

    def misnamed(self, operands: tuple[Operand, ...]) -> str | None:
        """Return which array is not one of ``operands`` or of its scratch, in words, or None."""
        known = {array.name: array for array in operands}
        for array in self.scratch:
            if array.name in known:
                return f"scratch {array.name!r} has the name of an operand"
        known |= {array.name: array for array in self.scratch}
        arguments = (argument for step in (*self.before, self) for argument in step.arguments)
        reasons = (_unknown(argument, known) for argument in arguments)
        return next((reason for reason in reasons if reason is not None), None)


def _is_count(value: object) -> bool:
    # int first: it is what nearly all are, and the other question takes ten times as long.
    return isinstance(value, int | Integral) and int(value) >= 0


def _unknown(argument: str | Scalar | TensorMap, arrays: Mapping[str, Operand]) -> str | None:
    if isinstance(argument, Scalar):
        return None
    if not isinstance(argument, str | TensorMap):
        return f"argument {argument!r} is neither a name nor a scalar nor a tensor map"
    name = argument if isinstance(argument, str) else argument.operand.name
    if name not in arrays:
        return f"argument {name!r} is neither operand nor scratch; there are {', '.join(arrays)}"
    if isinstance(argument, TensorMap) and argument.operand != arrays[name]:
        return f"a tensor map says that {name!r} is {argument.operand}, but it is {arrays[name]}"
    return None
