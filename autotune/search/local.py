"""Plain local search: the yardstick that a model has to beat."""

from __future__ import annotations

import math

from autotune.search.pool import Pool
from autotune.search.pooled import Fate
from autotune.search.sweep import Sweep

REACH = 2


class LocalSearch:
    """Chooses the free row nearest to the incumbent, the fastest one so far.

    Without an incumbent, and once nothing free is left within ``reach`` of it, rows are drawn
    at random until one is faster.

    Args:
        pool: What to choose from.
        reach: How far a neighbour may lie, in steps along the axes.
    """

    def __init__(self, pool: Pool, *, reach: int = REACH) -> None:
        self._pool = pool
        self._reach = reach
        self._random = Sweep(pool, pool.shuffled)
        self._incumbent: int | None = None
        self._best_ns = math.inf

    def choose(self) -> int:
        """Return a free neighbour of the incumbent, or else a random free row."""
        if self._incumbent is not None:
            row, steps = self._pool.nearest(self._pool.codes[:, self._incumbent])
            if steps <= self._reach:
                return row
        return self._random.choose()

    def learn(self, row: int, fate: Fate) -> None:
        """Make ``row`` the incumbent if it is the fastest so far: what was given up is not."""
        time_ns = None if fate.given_up else fate.time_ns
        if time_ns is not None and time_ns < self._best_ns:
            self._incumbent, self._best_ns = row, time_ns

    def chance(self, gain: float) -> float | None:
        """Return None: there is no model to tell it."""
