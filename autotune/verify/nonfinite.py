"""NaN and infinities among the inputs, and what they make of an answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autotune.records import Operand, digest
from autotune.verify.dtypes import decode, encode, is_float

VALUES = (math.nan, math.inf, -math.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """One value that is not finite, in one place of each input.

    Attributes:
        name: ``last is nan``, say, for messages.
        value: NaN or an infinity.
        last: It stands in the last place, where tails end, rather than in any.
    """

    name: str
    value: float
    last: bool

    def put(self, array: Any, operand: Operand, *, seed: str, xp: Any) -> Any:
        """Return an input, as stored, with the value in its place.

        A lone number, such as a scale, never becomes infinite: the sign of a sum that is nearly
        zero would decide, which no reference defines.
        """
        flat = array.reshape(-1)
        lone = flat.size == 1 and not math.isnan(self.value)
        if flat.size == 0 or lone or not is_float(operand.dtype):
            return array
        at = flat.size - 1 if self.last else int(digest([seed, operand.name]), 16) % flat.size
        flat[at] = encode(xp.full(1, self.value, dtype="float32"), operand.dtype, xp)[0]
        return array


def spots(count: int) -> Iterator[Spot]:
    """Yield ``count`` values and places in turn; the first is at the end."""
    for index in range(count):
        value, last = VALUES[index % len(VALUES)], index % len(VALUES) == 0
        yield Spot(name=f"{'last' if last else f'any {index}'} is {value}", value=value, last=last)


def meaningful(operands: Sequence[Operand]) -> bool:
    """Return True if a value that is not finite can go in, and everywhere come out."""
    goes_in = any(is_float(op.dtype) for op in operands if not op.output)
    return goes_in and all(is_float(op.dtype) for op in operands if op.output)


def as_stored(answer: Any, operand: Operand, *, xp: Any) -> Any:
    """Return ``answer`` with what is not finite as it is stored: E4M3 has no infinity."""
    kept = decode(encode(answer, operand.dtype, xp), operand.dtype, str(answer.dtype))
    return xp.where(xp.isfinite(answer), answer, kept)
