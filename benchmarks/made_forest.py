"""A forest for a table made by hand: of the size of those that ``autotune export`` writes."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from autotune.dispatch import Condition, broken_condition
from autotune.dispatch.nearest import octaves
from autotune.dispatch.tree import taker
from autotune.table.forest import measures_of, step_of
from autotune.table.growing import Samples, grown

Json = dict[str, Any]

DRAWN = 2000
STEPS = (1, 8, 64)  # what random sizes are multiples of
MISFIT = 100.0  # octaves: so much farther is an entry that may not serve


def forest(fields: Sequence[str], entries: Sequence[Json]) -> Json:
    """Return one tree that answers about as nearness does.

    Args:
        fields: The scaled fields.
        entries: Those of the table, which all have the same exact fields.
    """
    draw = random.Random(0)  # noqa: S311 - reproducible problems
    first = entries[0]["problem"]
    problems = [first | _drawn(draw, fields) for _ in range(DRAWN)]
    measures = measures_of(fields)
    takers = [taker(measure, fields) for measure in measures]
    samples = Samples(
        np.array([[take(_sized(each, fields)) for take in takers] for each in problems]),
        np.array([[_loss(problem, each, fields) for each in entries] for problem in problems]),
        np.ones(DRAWN),
    )
    steps = [step_of(each, range(len(entries))) for each in grown(samples)]
    exact = {name: value for name, value in first.items() if name not in fields}
    return {
        "measures": [{"kind": each.kind, "units": dict(each.units)} for each in measures],
        "trees": [{"exact": exact, "steps": steps}],
    }


def _drawn(draw: random.Random, fields: Sequence[str]) -> dict[str, int]:
    step = draw.choice(STEPS)
    return {name: step * math.ceil(2 ** draw.uniform(4, 14) / step) for name in fields}


def _sized(problem: Json, fields: Sequence[str]) -> list[int]:
    return [problem[name] for name in fields]


def _loss(problem: Json, entry: Json, fields: Sequence[str]) -> float:
    apart = octaves(_sized(problem, fields), _sized(entry["problem"], fields))
    conditions = [Condition(**each) for each in entry["conditions"]]
    return apart + MISFIT * (broken_condition(conditions, problem) is not None)
