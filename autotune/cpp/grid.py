"""Which entries can be nearest, cell by cell: what makes a C++ lookup fast.

The scaled fields span a space. It is cut into boxes, and each box lists the entries
that are nearest to some point of it. A lookup then compares two or three, however many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import frexp, prod
from typing import Any

import numpy as np

from autotune.dispatch.nearest import steps

QUARTERS = 4  # of an octave
MOST_QUARTERS = 64 * QUARTERS
MARGIN = 2  # steps that an edge may be off by rounding
CELLS_PER_ENTRY = 128
MOST_CELLS = 4096

Interval = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """Cells along one scaled field: of ``2**shift`` quarters each, from the ``lowest`` quarter on.

    The first one also takes all that is smaller, the last one all that is larger. Quarters of an
    octave are equal in size: 4 to 5, 5 to 6, 6 to 7, 7 to 8.
    """

    lowest: int
    shift: int
    cells: int

    def intervals(self, weight: int) -> list[Interval]:
        """Return the least and the largest place in each cell, in weighted steps."""
        inner = [self.lowest + (at << self.shift) for at in range(1, self.cells)]
        edges = [steps(1), *map(_edge, inner), _edge(MOST_QUARTERS)]
        return [
            (weight * (low - MARGIN), weight * (high + MARGIN)) for low, high in pairwise(edges)
        ]


def _edge(quarter: int) -> int:
    """Return where a quarter begins, in steps."""
    octave, part = divmod(quarter, QUARTERS)
    return (octave << 32) + steps(QUARTERS + part) - steps(QUARTERS)


def quarter_of(size: int) -> int:
    """Return the quarter that a size lies in, as the C++ lookup finds it."""
    mantissa, exponent = frexp(max(1, size))
    return (exponent - 1) * QUARTERS + int((2 * mantissa - 1) * QUARTERS)


def nearest_by_cell(
    sizes: Sequence[tuple[int, ...]],
    axes: Sequence[Axis],
    weights: Sequence[int],
    needs: Sequence[int],
) -> list[tuple[int, ...]]:
    """Return which entries can be nearest in each cell, the last axis fastest.

    Args:
        sizes: The scaled fields of each entry.
        axes: The cells along each field.
        weights: How much an octave of each field counts.
        needs: A bit for each condition under which an entry may serve.
    """
    behind = [
        _behind([some[field] for some in sizes], axes[field], weight)
        for field, weight in enumerate(weights)
    ]
    may_beat = np.array([[not one & ~other for other in needs] for one in needs], bool)
    smaller = np.array([[one < other for other in sizes] for one in sizes], bool)
    found = []
    for parts in product(*behind):
        total = sum(parts, start=np.zeros((len(sizes), len(sizes)), np.int64))
        beats = may_beat & ((total < 0) | ((total == 0) & smaller))
        found.append(tuple(np.flatnonzero(~beats.any(axis=0)).tolist()))
    return found


def _behind(sizes: Sequence[int], axis: Axis, weight: int) -> Any:
    """Return how much farther one entry is than another along one field, at most, in each cell.

    The difference of two distances is largest at one end of an interval.
    """
    places = np.array([weight * steps(size) for size in sizes], np.int64)
    ends = np.array(axis.intervals(weight), np.int64)  # cells x 2
    apart = np.abs(ends[:, :, None] - places)  # … x entries
    return (apart[:, :, :, None] - apart[:, :, None, :]).max(axis=1)


def axes_of(sizes: Sequence[tuple[int, ...]], fields: int) -> tuple[Axis, ...]:
    """Return the finest axes whose cells are not too many for so few entries."""
    most = min(MOST_CELLS, CELLS_PER_ENTRY * len(sizes)) if len(sizes) > 1 else 1
    for shift in range(MOST_QUARTERS.bit_length()):
        axes = tuple(_axis([some[field] for some in sizes], shift) for field in range(fields))
        if prod(axis.cells for axis in axes) <= most:
            break
    return axes


def _axis(sizes: Sequence[int], shift: int) -> Axis:
    quarters = [quarter_of(size) for size in sizes] or [0]
    lowest = min(quarters)
    return Axis(lowest=lowest, shift=shift, cells=(max(quarters) - lowest >> shift) + 1)
