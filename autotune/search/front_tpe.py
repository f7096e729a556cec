"""Optuna's TPE for several goals over the valid configs of a space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from autotune.records import nondominated
from autotune.search.pool import Pool
from autotune.search.pooled import Fate
from autotune.search.tpe import ELITE, REFINE_EVERY, STARTUP, Tpe


class FrontTpe(Tpe):
    """Chooses the free row nearest to what TPE suggests for all goals together.

    TPE is shown ranks: it holds the points good that span most of the area below a reference, and
    one row that is a hundred times slower than the others would decide what that is. Each fourth
    row is a refinement, for which the members of the front take turns.

    Args:
        pool: What to choose from.
        goals: How many there are, time being the first.
        startup: How many rows are learned before there is a model.
    """

    def __init__(self, pool: Pool, *, goals: int, startup: int = STARTUP) -> None:
        super().__init__(pool, startup=startup)
        self._goals = goals
        self._known: dict[int, tuple[float, ...]] = {}
        self._right: list[int] = []  # those of them that were not given up
        self._ranks: dict[int, list[float]] = {}

    def learn(self, row: int, fate: Fate) -> None:
        """Remember what became of ``row``. If a goal of it is not known, it counts as failed."""
        values = [value for value in (fate.time_ns, *fate.further) if value is not None]
        whole = len(values) == self._goals
        super().learn(row, fate if whole else Fate(time_ns=None))
        if whole:
            self._known[row] = tuple(values)
            if not fate.given_up:
                self._right.append(row)

    def _suggestion(self) -> int:
        self._trials.clear()
        known = {row: self._known[row] for row in self._recalled() if row in self._known}
        self._ranks = dict(zip(known, _shares(np.array([*known.values()])), strict=True))
        return super()._suggestion()

    def _values(self, row: int) -> Sequence[float] | None:
        return self._ranks.get(row)

    def _incumbent(self) -> int:
        front = self._front(self._right)
        return front[self._pool.taken_count // REFINE_EVERY % len(front)]

    def _elite(self) -> list[int]:
        """Return the front, then the front of the others, and so on."""
        left, elite = [*self._right], list[int]()
        while left and len(elite) < ELITE:
            front = self._front(left)
            elite += front
            left = [row for row in left if row not in front]
        return elite

    def _front(self, rows: Sequence[int]) -> list[int]:
        return [rows[at] for at in nondominated([self._known[row] for row in rows])]


def _shares(values: NDArray[np.float64]) -> list[list[float]]:
    """Return the rank of each value in its column, 0 for the least and 1 for the greatest."""
    levels = [np.unique(column, return_inverse=True)[1] for column in values.T]
    shares = np.transpose([each / max(1, each.max()) for each in levels])
    return [[*map(float, row)] for row in shares]
