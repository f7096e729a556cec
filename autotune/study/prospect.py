"""Whether a search still promises a gain, for a study that ends when none is likely."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autotune.records import Trial
from autotune.search import Searcher
from autotune.study.spec import StudySpec

EVERY = 8  # trials between two estimates
SAID_EVERY = 40


class Prospect:
    """Asks a searcher now and then what is still to be gained, if the study wants to know.

    Args:
        searcher: Whom to ask.
        spec: Says which gain counts, and which chance of it is too small.
        say: Passes an estimate on to a person.
    """

    def __init__(self, searcher: Searcher, spec: StudySpec, say: Callable[[str], None]) -> None:
        self._searcher = searcher
        self._spec = spec
        self._say = say

    def recall(self, trials: Sequence[Trial]) -> bool:
        """Tell the searcher what is recorded; return True if that was where the search ended.

        Rows may have been added since: winners of other problems, say.
        """
        asked, poor = len(trials) - len(trials) % EVERY, False
        for told, trial in enumerate(trials, 1):
            further = self._spec.further(trial)
            self._searcher.tell(trial.config, trial.status, trial.known_ns, further)
            if told == asked:
                poor = self.is_poor(told)
        return poor

    def is_due(self, trials: int) -> bool:
        """Return True if it is worth asking after so many trials."""
        return bool(self._spec.stop_chance) and trials % EVERY == 0

    def is_poor(self, trials: int) -> bool:
        """Return True if a gain is unlikely after so many trials."""
        least, gain = self._spec.stop_chance, self._spec.stop_gain
        if not self.is_due(trials):
            return False
        chance = self._searcher.chance(gain)
        if chance is None:
            return False
        if chance < least or trials % SAID_EVERY == 0:
            self._say(
                f"after {trials} trials the chance of a gain over {100 * gain:g} % is {chance:.0%}"
            )
        return chance < least
