"""Try first what promises to be fast, before a sampler has anything to learn from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from autotune.search.pool import Pool
from autotune.search.pooled import Fate, Strategy

FIRST = 10  # rows that are tried for their estimate alone
APART = 4  # steps between them at least: estimates hardly tell nearer rows apart


class PromisingFirst:
    """Chooses some rows in their order, then what another strategy chooses.

    Args:
        pool: What to choose from.
        rows: Rows of ``pool``, the most promising first.
        then: Goes on after them. It learns of them, too.
    """

    def __init__(self, pool: Pool, rows: Sequence[int], *, then: Strategy) -> None:
        self._pool = pool
        self._rows = rows
        self._then = then

    def choose(self) -> int:
        """Return the first free row of the promising ones, or else what the other chooses."""
        free = (row for row in self._rows if self._pool.is_free(row))
        row = next(free, None)
        return self._then.choose() if row is None else row

    def learn(self, row: int, fate: Fate) -> None:
        """Let the other strategy learn."""
        self._then.learn(row, fate)

    def chance(self, gain: float) -> float | None:
        """Return what the other strategy says, or None if it cannot tell."""
        return self._then.chance(gain)


def promising(pool: Pool, expected: Iterable[float], *, most: int = FIRST) -> list[int]:
    """Return the rows that are expected to be fastest, each some steps from those before it.

    Args:
        pool: What to choose from.
        expected: The time of each row, in any unit; infinite where nothing is known.
        most: How many rows at most.
    """
    left = np.array([*expected])
    rows: list[int] = []
    for _ in range(min(most, len(pool))):
        row = int(left.argmin())
        if left[row] == math.inf:
            break
        rows.append(row)
        left[pool.steps(pool.codes[:, row]) < APART] = math.inf
    return rows
