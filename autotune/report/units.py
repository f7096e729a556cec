"""Numbers as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Units = Sequence[tuple[float, str]]  # how large one is, and its name, the largest first

FEW_FLOP = 1.0  # for each byte: below this, the bytes tell how good a time is
NOISY = 0.2  # a spread above this says more of the machine than of the candidate
_TIME_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
RATE_UNITS = ((1e12, "TFLOP/s"), (1e9, "GFLOP/s"), (1e6, "MFLOP/s"))
BANDWIDTH_UNITS = ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"))
_SIZE_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def time_text(time_ns: float | None) -> str:
    """Return ``12.3 µs`` for 12300 ns, and a dash for None."""
    if time_ns is None:
        return "–"
    return amount_text(time_ns, _TIME_UNITS)


def rate_text(cost: Mapping[str, Any], time_ns: float | None) -> str:
    """Return ``812 TFLOP/s`` or ``4.32 TB/s``, or nothing where there is no rate to tell.

    Args:
        cost: The work, by the names ``flop`` and ``bytes``; both None where it is not known.
        time_ns: The time that it took, in ns, or None.
    """
    if not time_ns or not (cost["flop"] or cost["bytes"]):
        return ""
    amount, units = work(cost)
    return amount_text(amount / (time_ns * 1e-9), units)


def work(cost: Mapping[str, Any]) -> tuple[int, Units]:
    """Return the FLOP, or the bytes where memory bounds the problem, and units for a second's."""
    bounded = cost["flop"] < FEW_FLOP * cost["bytes"]
    return (cost["bytes"], BANDWIDTH_UNITS) if bounded else (cost["flop"], RATE_UNITS)


def amount_text(amount: float, units: Units) -> str:
    """Return three digits and the unit that suits, such as ``4.32 TB/s``."""
    scale, unit = unit_of(amount, units)
    return f"{_three_digits(amount / scale)} {unit}"


def unit_of(amount: float, units: Units) -> tuple[float, str]:
    """Return the scale and the name of the unit that suits ``amount``."""
    return next((pair for pair in units if amount >= pair[0]), units[-1])


def duration_text(seconds: float) -> str:
    """Return ``8 s``, ``1 min 20 s`` or ``2 h 05 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def size_text(size_bytes: int) -> str:
    """Return ``1.5 GiB`` for a number of bytes."""
    for scale, unit in _SIZE_UNITS:
        if size_bytes >= scale:
            return f"{_three_digits(size_bytes / scale)} {unit}"
    return f"{size_bytes} B"


def counted(count: int, noun: str) -> str:
    """Return ``1 problem`` or ``2 problems``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def spread_text(spread: float) -> str:
    """Return ``1.9%``, and say so where it is too much to trust the time."""
    return f"{spread:.1%} noisy" if spread > NOISY else f"{spread:.1%}"


def share_text(part: int, whole: int) -> str:
    """Return ``12.3%``; a part that is there never shows as 0."""
    share = part / whole
    return "<0.1%" if 0 < share < 0.001 else f"{share:.1%}"


def _three_digits(value: float) -> str:
    """Return three significant digits, without an exponent."""
    decimals = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{decimals}f}"
