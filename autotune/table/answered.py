"""A problem with its winner, and what the database knows of every other config on it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from autotune.dispatch import broken_condition
from autotune.errors import AutotuneError
from autotune.records import Config
from autotune.store import TrialRow
from autotune.store.chosen import Winner, clearly_faster, measurement, winner
from autotune.table.eligible import acceptor, eligible
from autotune.table.evidence import Evidence


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A problem that was tuned, and the row that answers for it.

    Attributes:
        evidence: The problem, and every row of the context that speaks for it.
        rows: The row of each config that may be offered.
        winner: The best of them, or the kernel's default if that is clearly faster.
        answer: What the table will say: the winner, or a row of a portfolio or by preference.
        replaced: What the kernel's default took the place of in the answer, or None.
    """

    evidence: Evidence
    rows: dict[Config, TrialRow]
    winner: Winner
    answer: Winner
    replaced: TrialRow | None = None

    @classmethod
    def of(cls, evidence: Evidence, *, unverified: bool) -> Answered | None:
        """Return the problem with its winner, or None if nothing may be offered for it."""
        rows = eligible(evidence, unverified=unverified)
        if not rows:
            return None
        first = winner([*rows.values()], evidence.final)
        answered = cls(evidence=evidence, rows=rows, winner=first, answer=first)
        final = evidence.final
        if final and answered.default in {each.config for each in final.finalists}:
            return answered  # they met in turns, which decides it better than their rows can
        kept = _not_below_default(answered)
        return dataclasses.replace(kept, winner=kept.answer)

    @property
    def config(self) -> Config:
        """The config of the answer."""
        return self.answer.row.trial.config

    @property
    def sizes(self) -> tuple[int, ...]:
        """The problem's scaled fields, in order."""
        fields = self.evidence.problem.as_dict()
        return tuple(int(fields[name]) for name in self.evidence.kernel.scaled_fields)

    @property
    def exact_key(self) -> tuple[int | str, ...]:
        """The problem's other fields, in order."""
        return self.evidence.exact_key

    @property
    def loss(self) -> float:
        """How much longer the answer takes than the winner, as a share."""
        return self.loss_of(self.config) or 0.0

    def answered_by(self, config: Config) -> Answered:
        """Return the problem with a config that may be offered, or a clearly faster default."""
        answer = Winner(row=self.rows[config], tied=0)
        return _not_below_default(dataclasses.replace(self, answer=answer, replaced=None))

    def loss_of(self, config: Config) -> float | None:
        """Return how much longer ``config`` takes than the winner, as a share, if that is known.

        One that was given up is at least as slow as the bound that its trial states.
        """
        row = self.rows.get(config)
        ns = self._given_up_ns.get(config) if row is None else measurement(row).median_ns
        best_ns = measurement(self.winner.row).median_ns
        return None if ns is None else max(0.0, ns / best_ns - 1)

    def admits(self, config: Config, other: Answered) -> bool:
        """Return True if a program would launch the config of ``other`` for this problem.

        Its conditions must hold, the kernel must take it, and it must not have failed here.
        """
        conditions = other.evidence.kernel.conditions(other.evidence.problem, config)
        if broken_condition(conditions, self.evidence.problem.as_dict()) is not None:
            return False
        return self._fits(config) and config not in self._failed

    @cached_property
    def default(self) -> Config | None:
        """What the kernel proposes for this problem without tuning."""
        evidence = self.evidence
        try:
            return evidence.kernel.default(evidence.problem, evidence.context.device.target)
        except AutotuneError:
            return None

    @cached_property
    def _fits(self) -> Callable[[Config], bool]:
        return acceptor(self.evidence)

    @cached_property
    def _given_up_ns(self) -> dict[Config, float]:
        trials = (row.trial for row in self.evidence.rows)
        return {trial.config: trial.bound_ns for trial in trials if trial.bound_ns is not None}

    @cached_property
    def _failed(self) -> frozenset[Config]:
        """Configs whose rows here all failed."""
        trials = [row.trial for row in self.evidence.rows]
        right = {trial.config for trial in trials if trial.known_ns is not None}
        return self.evidence.untrusted | {t.config for t in trials if t.config not in right}


def _not_below_default(answered: Answered) -> Answered:
    """Return the problem answered by the kernel's default if that is clearly faster."""
    row = None if answered.default is None else answered.rows.get(answered.default)
    if row is None or not clearly_faster(row, answered.answer.row):
        return answered
    answer = Winner(row=row, tied=0)
    return dataclasses.replace(answered, answer=answer, replaced=answered.answer.row)
