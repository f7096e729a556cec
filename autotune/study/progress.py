"""The progress of a study with one problem: what is recorded of it, and what is added."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import TypeVar

from autotune.records import (
    Binary,
    Config,
    Failure,
    Finalist,
    Outcome,
    Reading,
    Trial,
    undominated,
)
from autotune.store import Context, Final, Store
from autotune.store.chosen import decided
from autotune.study.question import Question

_Row = TypeVar("_Row")


class Progress:
    """What the database holds of one problem of a study, and the only way to add to it.

    Args:
        question: The problem, asked of a device.
        store: The database.
        valid: The configs that count: a study's space may have shrunk since.

    Attributes:
        trials: Its trials by config, in the order of their numbers.
        next_number: Of the next trial; those that do not count have numbers, too.
        best: The fastest trial that is right, or None.
        final: The newest final, or None: trials may have been added since.
    """

    def __init__(self, question: Question, store: Store, *, valid: Container[Config]) -> None:
        self._question, self._store = question, store
        self._study_id = store.find_study(question.spec.name)
        history = self._stored(store.trials)
        self.trials = {trial.config: trial for trial in history if trial.config in valid}
        self.next_number = max((trial.number for trial in history), default=-1) + 1
        self.best = self._fastest()
        self.final = self._newest_final()
        self._aside: dict[Config, Trial] = {}

    @property
    def default(self) -> Trial | None:
        """The trial of the kernel's default, or None if it was not tried."""
        return self.trials.get(self._question.default.config)

    def recorded(self) -> list[Trial]:
        """Return its trials, also those that are set aside: their rows still stand."""
        return [*self.trials.values(), *self._aside.values()]

    def readings(self) -> list[Reading]:
        """Return what earlier runs read of the yardstick, oldest first."""
        return self._stored(self._store.readings)

    def add(
        self, config: Config, *, built: Binary | Failure, outcome: Outcome, device_ns: int
    ) -> Trial:
        """Record what became of ``config`` and return it as it will be read.

        It replaces the trial of that config which was set aside.

        Raises:
            InvalidInput: It is right, and neither of it nor of one before does the device tell
                every goal.
        """
        trial = self._question.trial(
            self.next_number, config=config, built=built, outcome=outcome, device_ns=device_ns
        )
        if not self._tells_goals():  # what tells a goal once may fail to, later
            self._question.require_goals(trial)
        context, replaced = self._question.context, self._aside.get(config)
        trial = self._store.record(self._begun(), context, trial, replaces=replaced)
        self._aside.pop(config, None)
        self.next_number += 1
        self.trials[trial.config] = trial
        if _is_right(trial) and (self.best is None or _median_ns(trial) < _median_ns(self.best)):
            self.best = trial
        return trial

    def set_aside(self, trial: Trial) -> None:
        """Count a trial no longer. Its row stays until its config is recorded again."""
        self._aside[trial.config] = self.trials.pop(trial.config)
        if self.best is trial:
            self.best = self._fastest()

    def add_reading(self, reading: Reading) -> None:
        """Record a reading of the yardstick."""
        self._store.record_reading(self._begun(), self._question.context, reading)

    def add_final(self, finalists: Sequence[Finalist]) -> None:
        """Record a final."""
        self._store.record_final(self._begun(), self._question.context, finalists)
        self.final = self._newest_final()

    def has_final(self) -> bool:
        """Return True if a final was held since the last trial."""
        final = self.final
        return final is not None and not any(
            trial.finished_at > final.finished_at for trial in self.trials.values()
        )

    def fastest_first(self) -> list[Trial]:
        """Return the trials that are right, by their time."""
        return sorted(filter(_is_right, self.trials.values()), key=_median_ns)

    def tied(self) -> list[Trial]:
        """Return the trial that answers for the problem, as in a table, and what ties with it."""
        return decided(self._sound(), self.final)

    def front(self) -> list[Trial]:
        """Return the trials that are right and that none beats in all goals, the fastest first."""
        if len(self._question.spec.goals) == 1:
            return self.tied()[:1]
        return undominated(self._sound(), self._question.spec.seeks)

    def _sound(self) -> list[Trial]:
        """Return the trials that are right, in the final, too, by their time."""
        finalists = self.final.finalists if self.final else ()
        failed = {each.config for each in finalists if each.failed}
        return [trial for trial in self.fastest_first() if trial.config not in failed]

    def _tells_goals(self) -> bool:
        """Return True if a trial that is right tells every goal."""
        further = self._question.spec.further
        return any(None not in further(trial) for trial in filter(_is_right, self.trials.values()))

    def _fastest(self) -> Trial | None:
        return min(filter(_is_right, self.trials.values()), key=_median_ns, default=None)

    def _newest_final(self) -> Final | None:
        if self._study_id is None:
            return None
        return self._store.final(self._study_id, self._question.context)

    def _stored(self, rows: Callable[[int, Context], list[_Row]]) -> list[_Row]:
        return [] if self._study_id is None else rows(self._study_id, self._question.context)

    def _begun(self) -> int:
        """Return the study's id. It is made with its first row: none is ever empty."""
        if self._study_id is None:
            spec = self._question.spec
            self._study_id = self._store.begin_study(
                spec.name, spec=spec.as_dict(), sampler=spec.sampler, seed=spec.seed
            )
        return self._study_id


def _is_right(trial: Trial) -> bool:
    return trial.median_ns is not None


def _median_ns(trial: Trial) -> float:
    assert trial.median_ns is not None
    return trial.median_ns
