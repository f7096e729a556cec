"""Optuna's TPE over the valid configs of a space."""

from __future__ import annotations

import bisect
from collections.abc import Container, Sequence
from itertools import islice
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.samplers import TPESampler
from optuna.storages import InMemoryStorage
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState, create_trial

from autotune.search.pool import Axis, Pool
from autotune.search.pooled import Fate
from autotune.search.sweep import Sweep

STARTUP = 10  # rows that are drawn at random before there is a model
REFINE_EVERY = 4
ORDINAL_LEVELS = 5  # on shorter axes TPE's narrow bells seldom reach a neighbour: categories do
ELITE = 25  # TPE's good group never holds more
MEMORY = 120  # each row shown costs time at each suggestion

optuna.logging.set_verbosity(optuna.logging.WARNING)  # it announces each study on stderr


class Tpe:
    """Chooses the free row nearest to what TPE suggests, and each fourth time a refinement.

    A refinement is the free row nearest to the fastest one. TPE alone is good early but, with
    bad luck, walks past the best row's neighbours.

    The study is built anew for each suggestion, in memory, from the rows that were really
    chosen: what TPE suggests follows from the seed and from what was learned, and an
    interrupted search leaves nothing behind. It holds codes, so that distances on an ordered
    axis are counted in levels.

    Args:
        pool: What to choose from.
        startup: How many rows are learned before there is a model.
    """

    _goals = 1

    def __init__(self, pool: Pool, *, startup: int = STARTUP) -> None:
        self._pool = pool
        self._startup = startup
        self._space = {axis.name: _distribution(axis) for axis in pool.axes}
        self._random = Sweep(pool, pool.shuffled)
        self._learned: dict[int, float | None] = {}
        self._ranked: list[tuple[float, int]] = []
        self._pending: dict[int, None] = {}  # a set that keeps its order
        self._trials: dict[int, FrozenTrial] = {}

    def choose(self) -> int:
        """Return a free row and keep the model away from it until it is learned."""
        if len(self._learned) < self._startup or not self._ranked:
            row = self._random.choose()
        elif self._pool.taken_count % REFINE_EVERY == 0:
            row = self._refinement()
        else:
            row = self._suggestion()
        self._pending[row] = None
        return row

    def learn(self, row: int, fate: Fate) -> None:
        """Remember what became of ``row``.

        What was given up is shown to TPE with the time that it takes at least, which is enough to
        rank it behind what is fast. It is never refined.
        """
        self._pending.pop(row, None)
        self._trials.pop(row, None)
        self._learned[row] = fate.time_ns
        if fate.time_ns is not None and not fate.given_up:
            bisect.insort(self._ranked, (fate.time_ns, row))

    def chance(self, gain: float) -> float | None:
        """Return None: the estimator tells which is likelier to be good, not how good."""

    def _refinement(self) -> int:
        return self._pool.nearest(self._pool.codes[:, self._incumbent()])[0]

    def _incumbent(self) -> int:
        """Return the row whose neighbours are tried."""
        return self._ranked[0][1]

    def _elite(self) -> list[int]:
        """Return the rows that the model never forgets."""
        return [row for _, row in self._ranked[:ELITE]]

    def _values(self, row: int) -> Sequence[float] | None:
        """Return what is known of a row, or None: of those that failed or are pending."""
        time_ns = self._learned.get(row)
        return None if time_ns is None else [time_ns]

    def _suggestion(self) -> int:
        seed = (self._pool.seed * 1_000_003 + self._pool.taken_count) % 2**32
        tpe = TPESampler(seed=seed, n_startup_trials=1)
        shown = _Shown([self._trial(row) for row in self._recalled()])
        each = [StudyDirection.MINIMIZE] * self._goals
        study = optuna.create_study(storage=shown, sampler=tpe, directions=each)
        asked = create_trial(state=TrialState.RUNNING)
        asked.number = 0  # TPE leaves out trials that bear this number; the others bear -1
        suggested = tpe.sample_relative(study, asked, self._space)
        return self._pool.nearest([suggested[name] for name in self._space])[0]

    def _recalled(self) -> list[int]:
        """Return the rows that the model is built from: the best, the latest, the pending."""
        best = set(self._elite())
        latest = set(islice(reversed(self._learned), MEMORY - ELITE))
        return [row for row in self._learned if row in best or row in latest] + [*self._pending]

    def _trial(self, row: int) -> FrozenTrial:
        """Return the trial that tells TPE of ``row``.

        A failure stays a running trial: TPE counts those among the bad ones, without a made-up
        time, and never among the good ones, however few of these there are. No trial has a
        number: TPE, which trusts late ones more, then trusts the slow ones more that it holds
        bad, and failures most.
        """
        if row not in self._trials:
            values = self._values(row)
            self._trials[row] = create_trial(
                state=TrialState.RUNNING if values is None else TrialState.COMPLETE,
                values=values,
                params=dict(zip(self._space, self._pool.codes[:, row].tolist(), strict=True)),
                distributions=self._space,
            )
        return self._trials[row]


class _Shown(InMemoryStorage):
    """A storage that shows a study a list of trials and keeps nothing."""

    def __init__(self, trials: list[FrozenTrial]) -> None:
        super().__init__()
        self._shown = trials

    def get_all_trials(
        self,
        study_id: int,
        deepcopy: bool = True,  # noqa: FBT001, FBT002 (Optuna's signature)
        states: Container[TrialState] | None = None,
    ) -> list[FrozenTrial]:
        """Return the trials in these states."""
        del study_id, deepcopy
        return [trial for trial in self._shown if states is None or trial.state in states]

    def set_trial_system_attr(self, trial_id: int, key: str, value: Any) -> None:
        """Drop what TPE leaves here for other processes: there are none."""


def _distribution(axis: Axis) -> BaseDistribution:
    if axis.ordered and len(axis.levels) >= ORDINAL_LEVELS:
        return IntDistribution(0, len(axis.levels) - 1)
    return CategoricalDistribution(range(len(axis.levels)))
