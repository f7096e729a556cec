"""What a stream computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autotune.errors import InvalidProblem
from autotune.records import ELEMENT_BYTES, Problem, Tolerance

DTYPES = ("bf16", "fp32")
ROUNDING = {"bf16": 2.0**-9, "fp32": 2.0**-24}
INPUTS = {"copy": ("x",), "scale": ("x",), "triad": ("x", "w")}
FLOP = {"copy": 0, "scale": 1, "triad": 2}  # of one element
FACTOR = 3.0
MAX_COUNT = 2**32  # elements that verification can number


@dataclass(frozen=True)
class StreamProblem(Problem):
    """y[i] = operation(x[i]) for every element of long arrays.

    Attributes:
        count: Elements of each array.
        dtype: ``bf16`` or ``fp32``, of every array. Arithmetic is in fp32, rounded to ``dtype``.
        operation: ``copy`` (y = x), ``scale`` (y = 3x) or ``triad`` (y = x + 3w).
    """

    count: int
    dtype: str = "fp32"
    operation: str = "copy"

    def validate(self) -> None:
        """Raise ``InvalidProblem`` unless every field is in range."""
        if not 0 <= self.count <= MAX_COUNT:
            raise InvalidProblem(f"problem: count must be from 0 to {MAX_COUNT}, not {self.count}")
        self.require_one_of("dtype", DTYPES)
        self.require_one_of("operation", INPUTS)

    @property
    def element_bytes(self) -> int:
        """Size of one element, in bytes."""
        return ELEMENT_BYTES[self.dtype]

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the arrays that are read."""
        return INPUTS[self.operation]

    @property
    def flop(self) -> int:
        """Additions and multiplications."""
        return FLOP[self.operation] * self.count

    @property
    def moved_bytes(self) -> int:
        """Bytes read and written: each array once."""
        return (len(self.inputs) + 1) * self.count * self.element_bytes

    @property
    def tolerance(self) -> Tolerance:
        """The bound for each element: a copy is exact; else fp32 rounds, and then ``dtype``.

        With inputs in [-1, 1] no intermediate is larger than 4: that is what the absolute part
        allows for where a triad cancels.
        """
        if self.operation == "copy":
            return Tolerance(relative=0.0, absolute=0.0)
        return Tolerance(relative=2 * ROUNDING[self.dtype], absolute=4 * ROUNDING["fp32"])

    def reference(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return y in the dtype of ``inputs``."""
        x = inputs["x"]
        if self.operation == "copy":
            return {"y": x.copy()}
        if self.operation == "scale":
            return {"y": FACTOR * x}
        return {"y": x + FACTOR * inputs["w"]}
