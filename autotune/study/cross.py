"""Cross-measurement: what won on one problem is measured on the others.

A table that serves many problems by few configs, or a problem that was not tuned, needs to know
what a config costs where it did not win. (See ``docs/studies.md``.)
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from autotune.dispatch import broken_condition
from autotune.records import Binary, Candidate, Config, Failure
from autotune.store import Store
from autotune.study.ahead import Ahead
from autotune.study.events import Observer
from autotune.study.progress import Progress
from autotune.study.question import Question


def cross_measure(
    questions: Iterable[Question], store: Store, *, observer: Observer, deadline: float | None
) -> Iterator[tuple[Question, int]]:
    """Measure the winners of each problem on the others; yield each that got rows, and how many.

    Only problems with equal exact fields answer for one another. What is recorded already, what
    the device cannot answer for and what its conditions exclude is passed over. Nothing is given
    up for being slow: how slow it is is the question.

    Args:
        questions: The problems of a study, whose searches are over.
        store: The database.
        observer: Hears how many are measured on which problem.
        deadline: When to stop, on the clock of ``time.monotonic``; None for never.
    """
    fields = [_Field(question, store) for question in questions if question.spec.cross]
    for field in fields:
        configs = [config for config in field.others_winners(fields) if field.lacks(config)]
        if configs:
            observer.note(f"{field.question.problem}: measures {len(configs)} of others' winners")
        if measured := field.measure(configs, deadline):
            yield field.question, measured


class _Field:
    """One problem: what won on it, and what it knows of the others' winners."""

    def __init__(self, question: Question, store: Store) -> None:
        self.question = question
        self._offered = None if question.offered is None else frozenset(question.offered)
        self._progress = Progress(question, store, valid=self)
        ranked = [*self._progress.tied(), *self._progress.fastest_first()]
        configs = dict.fromkeys(trial.config for trial in ranked)
        self.winners = list(configs)[: question.spec.cross]

    def __contains__(self, config: object) -> bool:
        """Return True if the device can answer for a config, and it keeps the rules."""
        if self._offered is not None and config not in self._offered:
            return False
        return isinstance(config, Config) and self.question.space.broken(config) is None

    def others_winners(self, fields: Iterable[_Field]) -> list[Config]:
        """Return what won on other problems and may serve this one, each once."""
        found = (
            config
            for other in fields
            if other is not self and other.exact_fields() == self.exact_fields()
            for config in other.winners
            if other.admits(config, self)
        )
        return list(dict.fromkeys(found))

    def admits(self, config: Config, other: _Field) -> bool:
        """Return True if the conditions of a config of this problem hold for another one."""
        conditions = self.question.spec.kernel.conditions(self.question.problem, config)
        return broken_condition(conditions, other.question.problem.as_dict()) is None

    def exact_fields(self) -> dict[str, int | str]:
        """Return the fields in which problems must be equal to answer for one another."""
        scaled = self.question.spec.kernel.scaled_fields
        fields = self.question.problem.as_dict()
        return {name: value for name, value in fields.items() if name not in scaled}

    def lacks(self, config: Config) -> bool:
        """Return True if ``config`` may be measured here and has no row yet."""
        return config not in self._progress.trials and config in self

    def measure(self, configs: Sequence[Config], deadline: float | None) -> int:
        """Measure and record ``configs`` until the time is up; return how many were."""
        with Ahead(self.question, iter(configs), deadline) as ahead:
            for done in range(len(configs)):
                taken = ahead.take_built(len(configs) - done)
                if taken is None:
                    return done
                self._finish(*taken)
        return len(configs)

    def _finish(self, candidate: Candidate, built: Binary | Failure) -> None:
        began = time.perf_counter_ns()
        outcome = self.question.measure(candidate, built)
        self._progress.add(
            candidate.config,
            built=built,
            outcome=outcome,
            device_ns=time.perf_counter_ns() - began,
        )
