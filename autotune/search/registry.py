"""Samplers by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
    "exhaustive": "every valid config, in the order of the space or of the estimates",
}


def make_searcher(
    name: str,
    *,
    space: Space,
    valid: Sequence[Config],
    seed: int,
    estimates: Mapping[Config, float] | None = None,
) -> Searcher:
    """Return the sampler called ``name`` over the configs ``valid`` of ``space``.

    Args:
        name: One of ``SAMPLERS``.
        space: Says which parameters are ordered; it is not enumerated.
        valid: Distinct configs of ``space`` to choose from.
        seed: Everything random follows from it.
        estimates: Times that a model predicts, in ns. All samplers but ``random`` try the
            promising first. What is measured decides, and no config is left out.

    Raises:
        InvalidInput: There is no such sampler.
    """
    if name not in SAMPLERS:
        raise InvalidInput(f"no sampler named {name!r}; allowed: {', '.join(SAMPLERS)}")
    from autotune.search.pool import Pool
    from autotune.search.pooled import PooledSearcher

    pool = Pool(space, valid, seed=seed)
    known = estimates or {}
    return PooledSearcher(pool, _strategy(name, pool, [known.get(c, math.inf) for c in valid]))


def _strategy(name: str, pool: Pool, expected_ns: list[float]) -> Strategy:
    # Imported here: naming the samplers must not load numpy and Optuna.
    from autotune.search.sweep import Sweep

    if name == "random":
        return Sweep(pool, pool.shuffled)
    if name == "exhaustive":
        return Sweep(pool, sorted(range(len(pool)), key=expected_ns.__getitem__))
    from autotune.search.promising import PromisingFirst, promising

    rows = promising(pool, expected_ns)
    return PromisingFirst(pool, rows, then=_model(name, pool, len(rows)))


def _model(name: str, pool: Pool, before: int) -> Strategy:
    """Return what goes on after so many rows that others chose."""
    if name == "tpe":
        from autotune.search.tpe import STARTUP, Tpe

        return Tpe(pool, startup=before + STARTUP)
    from autotune.search.local import LocalSearch

    return LocalSearch(pool)
