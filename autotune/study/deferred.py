"""A searcher that is made when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from autotune.records import Config, Status
from autotune.search import Searcher


class Deferred:
    """A searcher that ``make`` makes: meanwhile, what needs no choice can be measured."""

    def __init__(self, make: Callable[[], Searcher]) -> None:
        self._make = make

    def make(self) -> None:
        """Make it now, unless it is made."""
        _ = self._made

    @cached_property
    def _made(self) -> Searcher:
        return self._make()

    def ask(self) -> Config | None:
        """Ask the one that is made."""
        return self._made.ask()

    def tell(
        self,
        config: Config,
        status: Status,
        time_ns: float | None,
        further: Sequence[float | None] = (),
    ) -> None:
        """Tell the one that is made."""
        self._made.tell(config, status, time_ns, further)

    def chance(self, gain: float) -> float | None:
        """Ask the one that is made."""
        return self._made.chance(gain)
