"""One rung of a ladder: which of its configs is measured, and what was found of it."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from autotune.errors import InvalidInput
from autotune.records import Config, Outcome, Rung, Status, Trial
from autotune.search import make_searcher
from autotune.space import Space
from autotune.study.question import Question

REPRESENTATIVE = "representative"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What was found of one rung, or of the peer.

    Attributes:
        rung: The rung.
        choice: Which of its configs was measured: ``representative``, or of how many the fastest.
        status: How it ended; None if there was nothing to measure.
        message: Why it was not measured, or what went wrong; empty for ``ok``.
        trial: What was measured, all rounds together, or None.
        shared_bytes: Shared memory of a block, in bytes, or None if it did not run.
    """

    rung: Rung
    choice: str = ""
    status: Status | None = None
    message: str = ""
    trial: Trial | None = None
    shared_bytes: int | None = None

    @property
    def median_ns(self) -> float | None:
        """Median device time in ns, if it was measured and right."""
        return self.trial.median_ns if self.trial else None


class Contender:
    """A config that is built once and timed as often as it takes."""

    def __init__(self, question: Question, config: Config) -> None:
        self.question = question
        self.candidate = question.candidate(config)
        self.outcomes: list[Outcome] = []
        self._build = question.device.build(self.candidate)
        self._device_ns = 0

    @property
    def median_ns(self) -> float:
        """Median device time of the last round, in ns; infinite unless it was right."""
        last = self.outcomes[-1]
        if last.status is not Status.OK or last.measurement is None:
            return math.inf
        return last.measurement.median_ns

    def measure(self) -> None:
        """Verify and time it once more, unless it has failed."""
        if self.outcomes and self.outcomes[-1].status is not Status.OK:
            return
        built = self._build.result()
        began = time.perf_counter_ns()
        self.outcomes.append(self.question.measure(self.candidate, built))
        self._device_ns += time.perf_counter_ns() - began

    def trial(self, number: int) -> Trial:
        """Return what is stored of it: all rounds together."""
        return self.question.trial(
            number,
            config=self.candidate.config,
            built=self._build.result(),
            outcome=_together(self.outcomes),
            device_ns=self._device_ns,
        )


Record = Callable[[Contender], Trial]  # writes the trial of a contender down and returns it


class Entrant:
    """A rung, and the configs that compete to stand for it.

    Args:
        question: The problem, asked of a device.
        rung: The rung.
        trials: How many configs compete; with 1 it is the rung's representative.
        seed: Which ones follows from it.
    """

    def __init__(self, question: Question, rung: Rung, *, trials: int, seed: int) -> None:
        self.rung = rung
        self._question = question
        configs, self._choice = _choose(question, rung, trials, seed)
        self.contenders = [Contender(question, config) for config in configs]
        self.chosen = self.contenders[0] if self.contenders else None

    def heat(self, record: Record) -> None:
        """Time each contender once and choose the fastest; the others are done."""
        champion, *challengers = self.contenders
        champion.measure()
        for challenger in challengers:
            challenger.measure()
            record(max(challenger, champion, key=_median_ns))  # of equals, the challenger
            self.chosen = champion = min(champion, challenger, key=_median_ns)
        if champion.median_ns < math.inf:
            champion.outcomes.clear()  # the luck that won the heat must not count in the rounds

    def step(self, record: Record) -> Step:
        """Return what was found, and write it down."""
        if self.chosen is None:
            return self._nothing()
        if not self.chosen.outcomes:
            return Step(rung=self.rung, choice=self._choice, message="not measured")
        trial = record(self.chosen)
        return Step(
            rung=self.rung,
            choice=self._choice,
            status=trial.status,
            message=trial.message,
            trial=trial,
            shared_bytes=trial.shared_bytes,
        )

    def _nothing(self) -> Step:
        space = self._question.space
        if any(space.broken(config) is None for config in self.rung.preferred):
            return Step(rung=self.rung, message=f"{self._question.device.name} has no result of it")
        broken = _broken(space, self.rung)
        return Step(rung=self.rung, status=Status.CONSTRAINT, message=": ".join(broken))


def _broken(space: Space, rung: Rung) -> tuple[str, str]:
    """Return the rule that keeps all of a rung out, or else the config that it prefers."""
    for rule in space.constraints:
        reason = rule.reason(rung.where) if set(rule.uses) <= set(rung.where) else None
        if reason is not None:
            return rule.name, reason
    return space.broken(rung.preferred[0]) or ("", "")


def _median_ns(contender: Contender) -> float:
    return contender.median_ns


def _choose(question: Question, rung: Rung, trials: int, seed: int) -> tuple[Sequence[Config], str]:
    """Return the configs that compete for a rung, and in words how one of them is chosen.

    What a recording knows costs nothing to ask: all of it competes, for every rung alike.
    """
    if question.offered is not None:
        found = [*_pool(question, rung)]
        return found, f"fastest of {len(found)} recorded"
    valid = (config for config in rung.preferred if question.space.broken(config) is None)
    first = [*itertools.islice(valid, 1)]
    if trials == 1:
        return first, REPRESENTATIVE
    draw = random.Random(f"{seed} {rung.name}").getrandbits(32)  # noqa: S311 - no secret
    others = [config for config in _pool(question, rung) if config not in first]
    found = [*first, *_drawn(question, others, trials - len(first), seed=draw)]
    return found, f"fastest of {len(found)}"


def _drawn(question: Question, configs: Sequence[Config], count: int, *, seed: int) -> list[Config]:
    """Return ``count`` of the configs: a few that promise to be fast, then any."""
    searcher = make_searcher(
        "tpe",
        space=question.space,
        valid=configs,
        seed=seed,
        estimates=question.estimates(configs),
    )
    asked = (searcher.ask() for _ in range(count))
    return [config for config in asked if config is not None]


def _pool(question: Question, rung: Rung) -> Iterable[Config]:
    """Return every config of a rung that is valid and that the device can answer for."""
    if question.offered is not None:
        return filter(rung.holds, question.valid())
    try:
        return question.space.restricted({name: [value] for name, value in rung.where.items()})
    except InvalidInput:  # the space has no such value: what is shown of the rung says so
        return ()


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    """Return all rounds as one: the failure that ended them, or every sample."""
    last = outcomes[-1]
    measured = [each.measurement for each in outcomes if each.measurement is not None]
    if last.status is not Status.OK or last.measurement is None:
        return last
    samples = itertools.chain.from_iterable(each.samples_ns for each in measured)
    together = dataclasses.replace(last.measurement, samples_ns=tuple(samples))
    return dataclasses.replace(last, measurement=together)
