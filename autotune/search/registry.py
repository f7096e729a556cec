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
    "auto": "gp (tpe for several goals), or exhaustive where the trials suffice for every config",
    "tpe": "Optuna's Parzen estimator over untried valid configs, with local refinement",
    "gp": "Gaussian process over untried valid configs: the one with most to gain comes next",
    "local": "plain local search with random restarts: the yardstick for the others",
    "random": "untried valid configs in random order",
    "exhaustive": "every valid config, in the order of the space or of the estimates",
}
OF_SEVERAL_GOALS = ("auto", "tpe", "random", "exhaustive")
MODELS = frozenset({"gp"})  # learn from elsewhere, and can tell what is still to be gained
FEWEST_ELSEWHERE = 20  # measurements of one place, or they say nothing
MOST_LEVELS = 4_096  # of all axes together: gp keeps a number for each two, and for each config
BELIEVED_FIRST = 3  # rows that are tried for a belief alone, before a model weighs it


def chosen(name: str, *, valid: int = 0, trials: int = 0, goals: int = 1) -> str:
    """Return the sampler that ``name`` stands for.

    Args:
        name: One of ``SAMPLERS``.
        valid: How many configs there are to choose from.
        trials: How many of them may be tried.
        goals: How many goals the search has.

    Raises:
        InvalidInput: There is no such sampler, or it seeks what is fast alone.
    """
    if name not in SAMPLERS:
        raise InvalidInput(f"no sampler named {name!r}; allowed: {', '.join(SAMPLERS)}")
    if goals > 1 and name not in OF_SEVERAL_GOALS:
        allowed = ", ".join(OF_SEVERAL_GOALS)
        raise InvalidInput(f"sampler {name} has one goal, time; with several, allowed: {allowed}")
    if name != "auto":
        return name
    model = "gp" if goals == 1 else "tpe"
    return "exhaustive" if 0 < valid <= trials else model


def make_searcher(
    name: str,
    *,
    space: Space,
    valid: Sequence[Config],
    seed: int,
    estimates: Mapping[Config, float] | None = None,
    elsewhere: Sequence[Mapping[Config, float]] = (),
    goals: int = 1,
) -> Searcher:
    """Return the sampler called ``name`` over the configs ``valid`` of ``space``.

    Args:
        name: One of ``SAMPLERS``.
        space: Says which parameters are ordered; it is not enumerated.
        valid: Distinct configs of ``space`` to choose from.
        seed: Everything random follows from it.
        estimates: Times that a model predicts, in ns. All samplers but ``random`` try the
            promising first. What is measured decides, and no config is left out.
        elsewhere: Times in ns that configs of this kernel took for other problems or on other
            devices, infinite for failures. ``gp`` learns from them what may be fast here.
        goals: How many goals there are, time being the first.

    Raises:
        InvalidInput: There is no such sampler, too many values for ``gp`` to compare, or too many
            goals for it.
    """
    name = chosen(name, goals=goals)
    from autotune.search.pool import Pool
    from autotune.search.pooled import PooledSearcher

    pool = Pool(space, valid, seed=seed)
    known = estimates or {}
    expected_ns = [known.get(config, math.inf) for config in valid]
    if name == "gp":
        return PooledSearcher(pool, _gp(pool, expected_ns, elsewhere))
    return PooledSearcher(pool, _strategy(name, pool, expected_ns, goals))


def _gp(
    pool: Pool, expected_ns: list[float], elsewhere: Sequence[Mapping[Config, float]]
) -> Strategy:
    from autotune.search.belief import belief
    from autotune.search.gp import STARTUP, GaussianProcess
    from autotune.search.promising import PromisingFirst, promising

    _require_comparable(pool)
    believed = belief(pool, expected_ns, elsewhere)
    if believed is None:
        return GaussianProcess(pool)
    rows = promising(pool, believed, most=BELIEVED_FIRST)
    model = GaussianProcess(pool, startup=min(len(rows), STARTUP), belief=believed)
    return PromisingFirst(pool, rows, then=model)


def _require_comparable(pool: Pool) -> None:
    """Raise if what a model holds of each two levels would not fit the memory."""
    if sum(len(axis.levels) for axis in pool.axes) <= MOST_LEVELS:
        return
    longest = max(pool.axes, key=lambda axis: len(axis.levels))
    raise InvalidInput(
        f"sampler gp: {longest.name} has {len(longest.levels):,} values; all parameters together "
        f"may have {MOST_LEVELS:,}",
        hint="allow fewer of them in [space], or take another sampler, such as tpe",
    )


def _strategy(name: str, pool: Pool, expected_ns: list[float], goals: int) -> Strategy:
    # Imported here: naming the samplers must not load numpy and Optuna.
    from autotune.search.sweep import Sweep

    if name == "random":
        return Sweep(pool, pool.shuffled)
    if name == "exhaustive":
        return Sweep(pool, sorted(range(len(pool)), key=expected_ns.__getitem__))
    from autotune.search.promising import PromisingFirst, promising

    rows = promising(pool, expected_ns)
    return PromisingFirst(pool, rows, then=_learner(name, pool, len(rows), goals))


def _learner(name: str, pool: Pool, before: int, goals: int) -> Strategy:
    """Return what goes on after so many rows that others chose."""
    if name == "tpe":
        from autotune.search.front_tpe import FrontTpe
        from autotune.search.tpe import STARTUP, Tpe

        startup = before + STARTUP
        one = goals == 1
        return Tpe(pool, startup=startup) if one else FrontTpe(pool, goals=goals, startup=startup)
    from autotune.search.local import LocalSearch

    return LocalSearch(pool)
