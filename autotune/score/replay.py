"""Drive a sampler through a landscape, as a study on the recording would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from autotune.records import Config
from autotune.score.landscape import Landscape
from autotune.search import Searcher, make_searcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """When a search may end: once it has had both.

    Attributes:
        cost_ns: What its configs have cost, in ns.
        measurements: How many there were.
    """

    cost_ns: float
    measurements: int


def replay(landscape: Landscape, sampler: str, *, seed: int, budget: Budget) -> list[int]:
    """Return the rows that ``sampler`` asks for, in order, until ``budget`` is used up.

    What is asked is told before the next is asked, as by a study on a recording.
    """
    searcher = make_searcher(
        sampler,
        space=landscape.space,
        valid=landscape.configs,
        seed=seed,
        estimates=landscape.estimates,
    )
    row_of = {config: row for row, config in enumerate(landscape.configs)}
    rows: list[int] = []
    spent_ns = 0.0
    for config in _asked(searcher, landscape):
        row = row_of[config]
        searcher.tell(config, landscape.statuses[row], landscape.told_ns[row])
        rows.append(row)
        spent_ns += float(landscape.cost_ns[row])
        if spent_ns > budget.cost_ns and len(rows) >= budget.measurements:
            break
    return rows


def _asked(searcher: Searcher, landscape: Landscape) -> Iterator[Config]:
    yield from landscape.first
    while (config := searcher.ask()) is not None:
        yield config


def seed_of(seed: int, repeat: int) -> int:
    """Return the seed of one repeat: 32 bits that follow from both."""
    return int(np.random.SeedSequence((seed, repeat)).generate_state(1)[0])
