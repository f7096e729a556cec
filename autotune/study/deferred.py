"""A searcher that is made when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from autotune.records import Config
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

    def tell(self, *news: Any, **more: Any) -> None:
        """Tell the one that is made."""
        self._made.tell(*news, **more)

    def chance(self, gain: float) -> float | None:
        """Ask the one that is made."""
        return self._made.chance(gain)
