"""Whether an output is right, element by element, so written that a stray NaN never is."""

from __future__ import annotations

from typing import Any

import numpy as np

from autotune.records import Operand, Tolerance
from autotune.verify.dtypes import decode

CHUNK = 1 << 24  # elements compared at once: bounds the scratch memory of huge outputs


def wrong_elements(
    got: Any,
    expected: Any,
    operand: Operand,
    *,
    tolerance: Tolerance | None,
    xp: Any,
    finite: bool = True,
) -> str | None:
    """Return which elements are wrong, in words, or None if all are right.

    Args:
        got: The output as it is stored.
        expected: The reference: values for a tolerance, stored bits for an exact comparison.
        operand: The output's name, dtype and shape.
        tolerance: How far each element may lie off; None if it must be equal.
        xp: numpy or cupy.
        finite: False if the reference has NaN or infinities, which then must be met as they are.
    """
    got, expected = got.reshape(-1), expected.reshape(-1)
    count, first, words = 0, 0, ""
    for start in range(0, got.size, CHUNK):
        part = slice(start, start + CHUNK)
        values = decode(got[part], operand.dtype, "float64")
        if tolerance is None:
            target = decode(expected[part], operand.dtype, "float64")
            right = values == target
        else:
            target = expected[part].astype(np.float64)
            right = _close(values, target, tolerance, xp)
            if not finite:
                right = xp.where(xp.isfinite(target), right, _same(values, target, xp))
        wrong = right.size - int(how_many(right, xp=xp))
        if wrong and not count:
            at = first_of(~right)
            first, words = start + at, f"got {float(values[at]):.9g}, not {float(target[at]):.9g}"
        count += wrong
    if not count:
        return None
    index = [int(i) for i in np.unravel_index(first, operand.shape)]
    return f"{count} of {got.size} elements of {operand.name} are wrong; at {index}: {words}"


def largest_error(
    got: Any, expected: Any, operand: Operand, *, tolerance: Tolerance, xp: Any
) -> float:
    """Return the largest error of a right output, as a share of what is tolerated there.

    Args:
        got: The output as it is stored.
        expected: The values of the reference.
        operand: The output's name, dtype and shape.
        tolerance: How far each element may lie off.
        xp: numpy or cupy.
    """
    got, expected, largest = got.reshape(-1), expected.reshape(-1), 0.0
    for start in range(0, got.size, CHUNK):
        part = slice(start, start + CHUNK)
        target = expected[part].astype(np.float64)
        error = xp.abs(decode(got[part], operand.dtype, "float64") - target)
        bound = _bound(target, tolerance, xp)
        shares = error / xp.where(bound > 0, bound, 1.0)  # where none is tolerated, there is none
        largest = max(largest, float(shares.max()))
    return largest


def differing_elements(one: Any, other: Any, *, xp: Any) -> Any:
    """Return how many elements of two stored arrays differ in a bit.

    Of arrays on a GPU it is a number there: only who reads it waits for it.
    """
    bits = np.dtype(f"uint{8 * one.dtype.itemsize}")
    one, other = one.reshape(-1).view(bits), other.reshape(-1).view(bits)
    return sum(
        how_many(one[start : start + CHUNK] != other[start : start + CHUNK], xp=xp)
        for start in range(0, one.size, CHUNK)
    )


def not_finite(values: Any, *, xp: Any) -> int:
    """Return how many values are NaN or infinite."""
    flat = values.reshape(-1)
    return sum(
        int(how_many(~xp.isfinite(flat[start : start + CHUNK]), xp=xp))
        for start in range(0, flat.size, CHUNK)
    )


def how_many(true: Any, *, xp: Any) -> Any:
    """Return how many of some booleans are true.

    CuPy has sums of words ready. It compiles its other reductions when they are first used, two
    kernels for each, and every one of these takes seconds.
    """
    return np.count_nonzero(true) if xp is np else true.astype(np.uint64).sum()


def any_of(true: Any) -> bool:
    """Return whether some of at least one boolean are true; of bytes, CuPy has that ready, too."""
    return bool(true.view(np.uint8).max())


def first_of(true: Any) -> int:
    """Return the index of the first of some booleans that is true."""
    return int(true.view(np.uint8).argmax())


def fingerprint(array: Any, *, xp: Any) -> int:
    """Return a checksum of an array's bits that any one changed word changes."""
    data = xp.ascontiguousarray(array).reshape(-1)
    data = data.view(np.uint64 if data.nbytes % 8 == 0 else np.uint8)
    total = 0
    for start in range(0, data.size, CHUNK):
        part = data[start : start + CHUNK].astype(np.uint64, copy=False)
        odd = xp.arange(1, 2 * part.size, 2, dtype=np.uint64)  # so that no bit is lost
        total = (total * 31 + int((part * odd).sum())) % (1 << 64)
    return total


def _close(values: Any, target: Any, tolerance: Tolerance, xp: Any) -> Any:
    with np.errstate(invalid="ignore"):  # inf - inf is a NaN, which compares as wrong
        return xp.abs(values - target) <= _bound(target, tolerance, xp)


def _bound(target: Any, tolerance: Tolerance, xp: Any) -> Any:
    return tolerance.absolute + tolerance.relative * xp.abs(target)


def _same(values: Any, target: Any, xp: Any) -> Any:
    return (values == target) | (xp.isnan(values) & xp.isnan(target))
