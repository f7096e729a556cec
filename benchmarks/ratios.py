"""What ``gemm.py`` prints: a line for each shape, then geometric means by group.

A row names its group, the problem's fields, its FLOP, and by side the time in µs (``us``) and how
many elements of the result were not the exact sum rounded once (``wrong``). A side that could not
compute a shape is missing there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

OURS, PEERS = "autotune", ("cuBLAS", "Triton")
Row = dict[str, Any]


def heading(sides: Iterable[str]) -> str:
    """Return the heads of the columns for the sides that take part."""
    columns = [f"{side + ' µs':>12} TFLOP/s" for side in sides]
    ratios = [f"{peer}/ours" for peer in sides if peer != OURS]
    return f"{'group':9} {'m':>6} {'n':>6} {'k':>6} {' '.join(columns)}  {'  '.join(ratios)}"


def line(row: Row, sides: Iterable[str]) -> str:
    """Return one shape's line."""
    where = f"{row['group']:9} {row['m']:6} {row['n']:6} {row['k']:6}"
    columns = " ".join(_time(row, side) for side in sides)
    ratios = " ".join(_ratio(row, peer) for peer in sides if peer != OURS)
    wrong = [f"{side}: {count} not rounded once" for side, count in row["wrong"].items() if count]
    return "  ".join([f"{where} {columns} {ratios}", *wrong])


def geometric_mean(values: Sequence[float]) -> float:
    """Return the mean of ratios."""
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def summary(rows: Sequence[Row]) -> list[str]:
    """Return a line for each group, for all but the unaligned, and for all."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row)
    groups["aligned"] = [row for row in rows if row["group"] != "unaligned"]
    groups["all"] = list(rows)
    return [
        "",
        "geometric mean of a peer's time over ours, and the worst shape",
        *(f"{name:9} {len(some):3} shapes{_cells(some)}" for name, some in groups.items() if some),
    ]


def _time(row: Row, side: str) -> str:
    us = row["us"].get(side)
    return f"{'–':>12} {'–':>7}" if us is None else f"{us:12.2f} {row['flop'] / us / 1e6:7.1f}"


def _ratio(row: Row, peer: str) -> str:
    return f"{row['us'][peer] / row['us'][OURS]:11.3f}" if _met(row, peer) else f"{'–':>11}"


def _met(row: Row, peer: str) -> bool:
    return {peer, OURS} <= set(row["us"])


def _cells(rows: Sequence[Row]) -> str:
    ratios = {
        peer: [row["us"][peer] / row["us"][OURS] for row in rows if _met(row, peer)]
        for peer in PEERS
    }
    return "".join(
        f"   {peer} {geometric_mean(each):.3f} (worst {min(each):.3f})"
        for peer, each in ratios.items()
        if each
    )
