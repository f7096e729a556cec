"""Trees for problems that were not tuned, where they lose less than nearness does.

A tree learns from problems that are imagined around those that were tuned, each with what the
kernel predicts that every config of the table loses there, and from those that were tuned, which
count more, with what was measured. It is offered if it answers problems that were left out better
than the nearest entry does. A kernel that predicts nothing has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.dispatch import Measure
from autotune.dispatch.tree import taker
from autotune.records import Config
from autotune.table.answered import Answered
from autotune.table.growing import Grown, Samples, grown, led
from autotune.table.imagined import Times, imagined, losses_of, predicted
from autotune.table.regret import LEAST_GAIN, Judgement, LeftOut, Losses, loss

RULE = "tree"
IMAGINED = 3000
WEIGHT = 8.0  # of a problem that was tuned, in imagined ones
LEAST_TUNED = 4  # problems that are worth a tree
TILES = ((1, 1), (64, 128), (128, 128), (128, 256))  # along the first two scaled fields
RESTS = (8, 64)

Json = dict[str, Any]
Key = tuple[int | str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A tree, and what it leads to.

    Attributes:
        steps: The tree.
        configs: What its ends are places of.
    """

    steps: Sequence[Grown]
    configs: Sequence[Config]


class Grove:
    """What trees of one choice of the exact fields learn from.

    Args:
        problems: All that were tuned.
        configs: All that a table may have for them.
        times: What the kernel predicts of these on those.
    """

    def __init__(
        self, problems: Sequence[Answered], configs: Sequence[Config], times: Times
    ) -> None:
        self._problems, self._configs = problems, configs
        fields = problems[0].evidence.kernel.scaled_fields
        self.measures = measures_of(fields)
        self._takers = [taker(measure, fields) for measure in self.measures]
        drawn = imagined(problems, IMAGINED)
        sizes = [[getattr(each, name) for name in fields] for each in drawn]
        self._measured = self._taken([*sizes, *(each.sizes for each in problems)])
        self._times = np.concatenate([predicted(problems[0], drawn, configs), times])
        self._known = np.array([[loss(each, some) for some in configs] for each in problems])

    def planted(self, entries: Sequence[Answered], without: Answered | None = None) -> Planted:
        """Return a tree that leads to configs of ``entries`` and knows nothing of ``without``."""
        configs = list(dict.fromkeys(entry.config for entry in entries))
        columns = [self._configs.index(config) for config in configs]
        kept = [at for at, each in enumerate(self._problems) if each is not without]
        first = len(self._times) - len(self._problems)
        rows = [*range(first), *(first + at for at in kept)]
        losses, known = losses_of(self._times[:, columns]), self._known[:, columns]
        losses[first:] = np.where(np.isnan(known), losses[first:], known)
        weights = np.where(np.arange(len(losses)) < first, 1.0, WEIGHT)
        samples = Samples(self._measured[rows], losses[rows], weights[rows])
        return Planted(steps=grown(samples), configs=configs)

    def answer(self, planted: Planted, problem: Answered) -> Config:
        """Return where a tree leads."""
        return planted.configs[led(planted.steps, self._taken([problem.sizes])[0])]

    def _taken(self, sizes: Sequence[Sequence[int]]) -> NDArray[np.int64]:
        return np.array([[take(some) for take in self._takers] for some in sizes], np.int64)


def forest_of(
    case: LeftOut, entries: Sequence[Answered], nearest: Judgement
) -> tuple[Judgement, Json | None]:
    """Return trees for a table if they lose less than the rule of ``nearest`` does.

    Args:
        case: All problems of one kernel, left out in turn.
        entries: What the table has.
        nearest: What nearness has cost.

    Returns:
        What the better rule has cost, and what the table says of the trees, or None.
    """
    groves = dict(_groves(case, entries))
    losses = nearest.losses.copy()
    for at, (problem, others) in enumerate(zip(case.problems, case.entries, strict=True)):
        grove = groves.get(problem.exact_key)
        if grove is not None:
            alike = [each for each in others if each.exact_key == problem.exact_key]
            config = grove.answer(grove.planted(alike, problem), problem)
            entry = next(each for each in alike if each.config == config)
            if problem.admits(config, entry):
                losses[at] = loss(problem, config)
    if not _better(losses, nearest.losses):
        return nearest, None
    document = _document(groves, entries)
    return Judgement(weights=nearest.weights, losses=losses, rule=RULE), document


def measures_of(fields: Sequence[str]) -> list[Measure]:
    """Return what a tree may ask for: sizes, what they leave of a tile, and how many tiles."""
    sizes = [Measure("tiles", ((name, 1),)) for name in fields]
    rests = [Measure("rest", ((name, unit),)) for name in fields for unit in RESTS]
    pairs = [tuple(zip(fields[:2], units, strict=True)) for units in TILES if len(fields) > 1]
    return [*sizes, *rests, *(Measure("tiles", pair) for pair in pairs)]


def step_of(step: Grown, entries: Sequence[int]) -> Json:
    """Return what a table says of a step.

    Args:
        step: A question, or an end with the place of a config.
        entries: The place in the table of an entry with each config.
    """
    if step.question is None:
        return {"entry": entries[step.config]}
    asked = {"measure": step.question.measure, "at_most": step.question.at_most}
    return {**asked, "next": step.next}


def _groves(case: LeftOut, entries: Sequence[Answered]) -> Iterator[tuple[Key, Grove]]:
    tables = [entries, *case.entries]
    for key, some in groupby(sorted(case.problems, key=_place), key=_place):
        problems = list(some)
        alike = [each for table in tables for each in table if _place(each) == key]
        configs = list(dict.fromkeys(each.config for each in alike))
        if len(problems) < LEAST_TUNED or len(configs) < 2 or not problems[0].sizes:
            continue
        times = predicted(problems[0], [each.evidence.problem for each in problems], configs)
        if np.isfinite(times).any():
            yield problems[0].exact_key, Grove(problems, configs, times)


def _place(problem: Answered) -> list[str]:
    return [repr(value) for value in problem.exact_key]


def _better(losses: Losses, others: Losses) -> bool:
    known = ~np.isnan(others)
    both = known & ~np.isnan(losses)
    if 2 * both.sum() < known.sum() or not both.any():
        return False  # too few can tell
    return float((others - losses)[both].mean()) > LEAST_GAIN


def _document(groves: Mapping[Key, Grove], entries: Sequence[Answered]) -> Json:
    measures = next(iter(groves.values())).measures
    trees = [_tree(key, grove, entries) for key, grove in groves.items()]
    questions = [step for tree in trees for step in tree["steps"] if "next" in step]
    used = sorted({question["measure"] for question in questions})
    for question in questions:
        question["measure"] = used.index(question["measure"])
    asked = [{"kind": measures[at].kind, "units": dict(measures[at].units)} for at in used]
    return {"measures": asked, "trees": trees}


def _tree(key: Key, grove: Grove, entries: Sequence[Answered]) -> Json:
    places = [at for at, each in enumerate(entries) if each.exact_key == key]
    planted = grove.planted([entries[at] for at in places])
    firsts = [
        next(at for at in places if entries[at].config == config) for config in planted.configs
    ]
    evidence = entries[places[0]].evidence
    scaled, fields = evidence.kernel.scaled_fields, evidence.problem.as_dict()
    exact = {name: value for name, value in fields.items() if name not in scaled}
    return {"exact": exact, "steps": [step_of(step, firsts) for step in planted.steps]}
