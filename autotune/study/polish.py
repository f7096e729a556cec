"""The last trials of a search: what differs from one of its best in a single parameter.

A model tries few of the configs that it expects to be about as fast as the best, and the noise
decides which. So two searches of one space end with different ones; those that lie nearest to the
best are tried in the end, whatever the model expects of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from autotune.records import Config, Status
from autotune.search import Searcher
from autotune.space import Space

ONE_IN = 10  # trials
BEST = 12  # configs whose neighbours are tried, the fastest one's first


class Polished:
    """A searcher that asks for untried neighbours of the best in the last of its trials.

    Args:
        searcher: Chooses all others, and learns from all.
        space: Says which values there are.
        valid: The configs to choose from.
        trials: How many there are to be, those that were told included.
    """

    def __init__(
        self, searcher: Searcher, space: Space, valid: Iterable[Config], *, trials: int
    ) -> None:
        self._searcher = searcher
        self._values = {each.name: each.values for each in space.parameters}
        self._valid = frozenset(valid)
        self._begins = trials - trials // ONE_IN
        self._taken: set[Config] = set()
        self._times_ns: dict[Config, float] = {}

    def ask(self) -> Config | None:
        """Return a config to measure, or None if none is left."""
        chosen = self._neighbour() if len(self._taken) >= self._begins else None
        others = iter(self._searcher.ask, None)
        chosen = chosen or next((each for each in others if each not in self._taken), None)
        if chosen is not None:
            self._taken.add(chosen)
        return chosen

    def tell(
        self,
        config: Config,
        status: Status,
        time_ns: float | None,
        further: Sequence[float | None] = (),
    ) -> None:
        """Learn what became of ``config``, asked or not."""
        self._taken.add(config)
        if status is Status.OK and time_ns is not None:
            self._times_ns[config] = time_ns
        self._searcher.tell(config, status, time_ns, further)

    def chance(self, gain: float) -> float | None:
        """Return what the searcher says."""
        return self._searcher.chance(gain)

    def _neighbour(self) -> Config | None:
        best = sorted(self._times_ns, key=lambda config: self._times_ns[config])[:BEST]
        near = (each for config in best for each in self._around(config))
        return next(
            (each for each in near if each in self._valid and each not in self._taken), None
        )

    def _around(self, config: Config) -> Iterator[Config]:
        for name, values in self._values.items():
            for value in values:
                yield config.replace(**{name: value})
