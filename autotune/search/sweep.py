"""Go through the configs in an order that is fixed beforehand."""

from __future__ import annotations

from collections.abc import Iterable

from autotune.search.pool import Pool
from autotune.search.pooled import Fate


class Sweep:
    """Chooses the first free row of a fixed order.

    Args:
        pool: What to choose from.
        order: Every row of ``pool``, once.
    """

    def __init__(self, pool: Pool, order: Iterable[int]) -> None:
        self._pool = pool
        self._order = iter(order)

    def choose(self) -> int:
        """Return the next row of the order that is free."""
        return next(row for row in self._order if self._pool.is_free(row))

    def learn(self, row: int, fate: Fate) -> None:
        """Learn nothing: the order stands."""

    def chance(self, gain: float) -> float | None:
        """Return None: there is no model to tell it."""
