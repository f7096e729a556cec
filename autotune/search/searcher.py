"""The protocol that every sampler answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autotune.records import Config, Status


class Searcher(Protocol):
    """Chooses configs and learns from what became of them.

    A searcher is a function of its seed and of the calls that it has had: the same calls give
    the same configs, and a searcher that is told the rows of an interrupted study goes on as
    if nothing had happened.
    """

    def ask(self) -> Config | None:
        """Return a config to measure, or None once every valid one was asked or told.

        It may be called again before the last answer is told. No config comes twice.
        """
        ...

    def tell(
        self,
        config: Config,
        status: Status,
        time_ns: float | None,
        further: Sequence[float | None] = (),
    ) -> None:
        """Learn what became of ``config``, asked or not.

        Args:
            config: A config that is not valid in this space (any more) is ignored.
            status: How its trial ended.
            time_ns: Its median in ns if it is ``ok``. A time that is not finite counts as a
                failure: it teaches what to avoid and never becomes the best. If it was
                ``stopped_early``, a time that it is surely not below: it never becomes the best
                either, whatever that says.
            further: How much it takes of the other goals of this search, in their order; None
                where that is not known.
        """
        ...

    def chance(self, gain: float) -> float | None:
        """Return how likely it is that a config which was not told is clearly the fastest.

        It is an estimate, and follows from what was told alone.

        Args:
            gain: By how much faster than the fastest, as a share: 0.01 is 1 %.

        Returns:
            Between 0 and 1, or None if this searcher cannot tell, or not yet.
        """
        ...
