"""A searcher over a pool: what all samplers share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from autotune.records import Config, Status
from autotune.search.pool import Pool

_TIMED = (Status.OK, Status.STOPPED_EARLY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What became of a row.

    Attributes:
        time_ns: The time that it took, in ns, or None if it failed.
        given_up: True if it was given up after that time: it takes so long, or longer.
        further: How much it takes of the goals besides time, None where that is not known.
    """

    time_ns: float | None
    given_up: bool = False
    further: Sequence[float | None] = ()


class Strategy(Protocol):
    """The part in which samplers differ. Rows are those of a pool."""

    def choose(self) -> int:
        """Return a free row. It is called only while there is one."""
        ...

    def learn(self, row: int, fate: Fate) -> None:
        """Learn what became of ``row``, free or not. Called once a row."""
        ...

    def chance(self, gain: float) -> float | None:
        """Return how likely a row that is not learned is faster than the fastest by ``gain``.

        None if that cannot be told, or not yet.
        """
        ...


class PooledSearcher:
    """Asks what a strategy chooses from a pool, and no config twice.

    Args:
        pool: The valid configs. The searcher takes rows out of it.
        strategy: Chooses among the free rows of ``pool``.
    """

    def __init__(self, pool: Pool, strategy: Strategy) -> None:
        self._pool = pool
        self._strategy = strategy
        self._told: set[int] = set()

    def ask(self) -> Config | None:
        """Return a config that was neither asked nor told before, or None if none is left."""
        if self._pool.taken_count == len(self._pool):
            return None
        return self._pool.take(self._strategy.choose())

    def tell(
        self,
        config: Config,
        status: Status,
        time_ns: float | None,
        further: Sequence[float | None] = (),
    ) -> None:
        """Learn what became of ``config``; one that the pool lacks or was told is ignored."""
        row = self._pool.row(config)
        if row is None or row in self._told:
            return
        self._told.add(row)
        self._pool.take(row)
        fate = Fate(
            time_ns=_time_of(status, time_ns),
            given_up=status is Status.STOPPED_EARLY,
            further=further,
        )
        self._strategy.learn(row, fate)

    def chance(self, gain: float) -> float | None:
        """Return what the strategy says, or None if it cannot tell."""
        return self._strategy.chance(gain)


def _time_of(status: Status, time_ns: float | None) -> float | None:
    """Return the time that a trial may be ranked by, in ns, or None if nothing is known of it."""
    if status not in _TIMED or time_ns is None or not math.isfinite(time_ns):
        return None
    return time_ns
