"""What the database knows of a kernel already when a search begins."""

from __future__ import annotations

import math
from datetime import datetime

from autotune.dispatch.nearest import octaves
from autotune.records import Config, Trial
from autotune.search import FEWEST_ELSEWHERE
from autotune.store import Context, Filter, Store
from autotune.study.question import Question

NEAREST = 3  # contexts are asked

# How far apart contexts are, in octaves: a size that doubles is one.
_OTHER_FIELD = 4.0  # a data type, a layout
_OTHER_DEVICE = 2.0
_OTHER_SOURCE = 0.5


def experience(
    question: Question, store: Store, *, before: datetime | None = None
) -> list[dict[Config, float]]:
    """Return what configs took where it was most like ``question``, the nearest first.

    These are other problems, the same problem on another device of the kind or with an older
    source, and other studies of the same problem.

    Args:
        question: What is about to be searched.
        store: The database.
        before: Only what was recorded by then counts, or everything. A search that resumes asks
            for what it was told when it began.

    Returns:
        Times in ns by config; infinite for what failed.
    """
    here = question.context
    stored = store.contexts(Filter(kernel=here.kernel, device=here.device.kind))
    like = sorted(stored, key=lambda each: _octaves(question, each.context))
    found: list[dict[Config, float]] = []
    for each in like:
        trials = store.answers(each, before=before).values()
        if len(trials) >= FEWEST_ELSEWHERE:
            found.append({trial.config: _time_ns(trial) for trial in trials})
        if len(found) == NEAREST:
            break
    return found


def _octaves(question: Question, there: Context) -> float:
    here, scaled = question.context, question.spec.kernel.scaled_fields
    fields, others = here.problem.as_dict(), there.problem.as_dict()
    sizes = sum(_doublings(fields[name], others.get(name)) for name in scaled)
    differing = sum(fields[name] != others.get(name) for name in fields if name not in scaled)
    return (
        sizes
        + _OTHER_FIELD * differing
        + _OTHER_DEVICE * (here.device.name != there.device.name)
        + _OTHER_SOURCE * (here.source_digest != there.source_digest)
    )


def _doublings(size: int | str, other: int | str | None) -> float:
    if not isinstance(size, int) or not isinstance(other, int):
        return _OTHER_FIELD
    return octaves([size], [other])


def _time_ns(trial: Trial) -> float:
    return math.inf if trial.known_ns is None else trial.known_ns
