"""What random search is expected to find, and the window of time in which others are compared.

The definition is that of Willemsen, van Nieuwpoort and van Werkhoven (doi
10.1016/j.future.2024.05.021). Values are ranked from the worst, which is 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from autotune.errors import InvalidInput
from autotune.score.landscape import Floats, Landscape

START, END = 0.5, 0.95  # shares of the way from the median to the best: where the window begins
TIMES = 1000
_HINT = "choose other problems with --kernel or --problem"


class Baseline:
    """Random search without replacement on one landscape.

    Args:
        landscape: What it searches.

    Attributes:
        best_ns: The least value.
        times_ns: Equidistant moments of the window, in ns since the start, [1000].
        expected_ns: Best value that random search is expected to have then, in ns, [1000].

    Raises:
        InvalidInput: Its values are all the same, or so few that random search is expected to
            have the best from the start.
    """

    def __init__(self, landscape: Landscape) -> None:
        right = landscape.value_ns[np.isfinite(landscape.value_ns)]
        if len(right) == 0 or right.min() == right.max():
            raise InvalidInput(f"{landscape.name}: no two configurations differ in speed", _HINT)
        self._ascending = np.sort(right)
        self._worst_first = self._ascending[::-1]
        self._cost_ns = float(np.median(landscape.cost_ns))
        self.best_ns = float(self._ascending[0])
        begin, end = (self.draws(share) * self._cost_ns for share in (START, END))
        self.times_ns: Floats = np.linspace(begin, end, TIMES)
        draws = np.maximum(np.rint(self.times_ns / self._cost_ns), 1)
        self.expected_ns: Floats = np.array([self.after(int(count)) for count in draws])
        if not (self.expected_ns > self.best_ns).any():
            raise InvalidInput(f"{landscape.name}: too few configurations for a score", _HINT)

    def draws(self, share: float) -> int:
        """Return after how many draws it is expected to be so far from the median to the best."""
        cut = self.best_ns + (float(np.median(self._ascending)) - self.best_ns) * (1 - share)
        place, count = int(np.argmax(self._worst_first <= cut)), len(self._worst_first)
        return math.ceil(place / (count + 1 - place))

    def after(self, draws: int) -> float:
        """Return the best value, in ns, that so many draws are expected to find."""
        count = len(self._worst_first)
        place = min(count - 1, round(draws * (count + 1) / (draws + 1)))
        return float(self._worst_first[place])

    def ranks(self, value_ns: ArrayLike) -> Floats:
        """Return the rank of each value; equal ones share the middle, an infinite one is 0."""
        values = np.asarray(value_ns, dtype=np.float64)
        below, upto = (np.searchsorted(self._ascending, values, s) for s in ("left", "right"))
        ranks: Floats = len(self._ascending) - 1 - (below + upto - 1) / 2
        return np.maximum(ranks, 0.0)

    def values(self, ranks: Floats) -> Floats:
        """Return the value in ns at the nearest whole rank of each."""
        found: Floats = self._worst_first[np.rint(ranks).astype(np.intp)]
        return found

    def gains(self, found_ns: Floats) -> Floats:
        """Return how far ``found_ns``, [..., 1000], is from random search (0) to the best (1).

        It is NaN while random search is expected to have the best already.
        """
        room = self.expected_ns - self.best_ns
        room = np.where(room > 0, room, np.nan)
        gains: Floats = (self.expected_ns - found_ns) / room
        return gains
