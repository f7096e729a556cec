"""How likely configs run at all, by those that did and those that failed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from autotune.search.gaussian import Floats, Likeness, fitted, predicted
from autotune.search.pool import Pool
from autotune.search.scores import centred

MOST_SHOWN = 96  # configs that failed, and as many that ran: the newest of either
LEAST = 0.001  # chance of a config that is sure to fail: a model may be wrong

Rows = NDArray[np.intp]


class Feasibility:
    """A model of failures, apart from that of times.

    A failure beside a fast config says that one setting more is too much, not that its neighbours
    are slow. So failures are no times: whether a config runs is regressed by itself (1 if it
    failed, else 0), with weights of its own.

    Args:
        pool: Whose rows.
        likeness: Of its axes.
        learned: Rows whose fate is known, in the order in which it was learned: the weights are
            fitted to it.
        failed: Which of these failed.
    """

    def __init__(
        self, pool: Pool, likeness: Likeness, learned: Rows, failed: NDArray[np.bool_]
    ) -> None:
        self._pool, self._likeness = pool, likeness
        rows, labels = _shown(learned, failed)
        distances = likeness.distances(pool.codes[:, rows])
        self._weights = fitted(distances, centred(labels))

    def chances(self, learned: Rows, failed: NDArray[np.bool_], asked: Rows) -> Floats:
        """Return how likely rows run, from ``LEAST`` to 1.

        Args:
            learned: Rows whose fate is known by now, in the order in which it was learned.
            failed: Which of these failed.
            asked: The rows in question.
        """
        rows, labels = _shown(learned, failed)
        known = self._pool.codes[:, rows], centred(labels)
        codes = self._pool.codes[:, asked]
        fails = labels.mean() + predicted(self._likeness, self._weights, known, codes)
        chances: Floats = np.clip(1 - fails, LEAST, 1)
        return chances


def _shown(learned: Rows, failed: NDArray[np.bool_]) -> tuple[Rows, Floats]:
    """Return the rows that a model is shown, and 1 for each that failed, else 0."""
    either = [np.flatnonzero(failed)[-MOST_SHOWN:], np.flatnonzero(~failed)[-MOST_SHOWN:]]
    some = np.sort(np.concatenate(either))
    return learned[some], failed[some].astype(np.float64)
