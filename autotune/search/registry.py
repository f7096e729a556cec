"""Samplers by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from autotune.errors import InvalidInput

if TYPE_CHECKING:  # the command line names the samplers before it needs one
    from autotune.records import Config
    from autotune.search.pool import Pool
    from autotune.search.pooled import Strategy
    from autotune.search.searcher import Searcher
    from autotune.space import Space

SAMPLERS: dict[str, str] = {
    "tpe": "Optuna's Parzen estimator over untried valid configs, with local refinement",
    "local": "plain local search with random restarts: the yardstick for the others",
    "random": "untried valid configs in random order",
    "exhaustive": "every valid config, in the order of the space",
}


def make_searcher(name: str, *, space: Space, valid: Sequence[Config], seed: int) -> Searcher:
    """Return the sampler called ``name`` over the configs ``valid`` of ``space``.

    Args:
        name: One of ``SAMPLERS``.
        space: Says which parameters are ordered; it is not enumerated.
        valid: Distinct configs of ``space`` to choose from.
        seed: Everything random follows from it.

    Raises:
        InvalidInput: There is no such sampler.
    """
    if name not in SAMPLERS:
        raise InvalidInput(f"no sampler named {name!r}; allowed: {', '.join(SAMPLERS)}")
    from autotune.search.pool import Pool
    from autotune.search.pooled import PooledSearcher

    pool = Pool(space, valid, seed=seed)
    return PooledSearcher(pool, _strategy(name, pool))


def _strategy(name: str, pool: Pool) -> Strategy:
    # Imported here: naming the samplers must not load numpy and Optuna.
    if name == "tpe":
        from autotune.search.tpe import Tpe

        return Tpe(pool)
    if name == "local":
        from autotune.search.local import LocalSearch

        return LocalSearch(pool)
    from autotune.search.sweep import Sweep

    return Sweep(pool, pool.shuffled if name == "random" else range(len(pool)))
