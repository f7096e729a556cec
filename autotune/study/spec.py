"""What a study is, once its file has been read and checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autotune.records import (
    TIME,
    Goal,
    Kernel,
    Limits,
    Policy,
    Problem,
    Trial,
    Value,
    goals_named,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalSpec:
    """How the best of a search meet again at its end.

    Attributes:
        candidates: How many at most; fewer than two hold none.
        rounds: How often each is measured, all in turns.
    """

    candidates: int = 24
    rounds: int = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftSpec:
    """How a search watches its device.

    Attributes:
        every: Trials between two readings of the yardstick; 0 takes none.
        limit: A reading is an excursion if it differs from the median one by a larger share.
    """

    every: int = 25
    limit: float = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySpec:
    """Everything that a study file says.

    Attributes:
        name: Identity of the study in the database: the same name resumes.
        kernel_ref: How any process loads the kernel: an installed name or ``/file.py:Class``.
        kernel: The loaded kernel.
        problems: What to tune for, one after the other.
        goals: Names of ``autotune.records.GOALS``, of which little is wanted; time is one.
        sampler: A name of ``autotune.search.SAMPLERS``.
        trials: Total for each problem, counting those already in the database.
        time_budget_s: For this run of the whole study, in seconds, or None.
        retry_failed: True to try again, in this run, what failed by what another moment may change:
            a crash, a limit of time or memory, an error of the device, a clock that was off. What
            was wrong stays wrong.
        seed: Seed of the search.
        prior: True if the search begins with what the kernel predicts to be fast.
        warm_start: True if the search learns from what the database holds of this kernel.
        stop_chance: The search ends once a gain over ``stop_gain`` is less likely; 0: never.
        stop_gain: The gain that is worth a search, as a share of the best time.
        policy: How candidates are measured.
        limits: When a candidate is given up.
        final: How the best meet again at the end.
        drift: How the device is watched.
        cross: How many winners of each problem are measured on the others, too.
        space: Parameters cut down to these values.
        export: Where to write the table when the study ends, or None.
    """

    name: str
    kernel_ref: str
    kernel: Kernel = field(compare=False, repr=False)
    problems: tuple[Problem, ...]
    goals: tuple[str, ...] = (TIME,)
    sampler: str = "auto"
    trials: int = 200
    time_budget_s: float | None = None
    retry_failed: bool = False
    seed: int = 0
    prior: bool = True
    warm_start: bool = True
    stop_chance: float = 0.0
    stop_gain: float = 0.01
    policy: Policy = field(default_factory=Policy)
    limits: Limits = field(default_factory=Limits)
    final: FinalSpec = field(default_factory=FinalSpec)
    drift: DriftSpec = field(default_factory=DriftSpec)
    cross: int = 0
    space: Mapping[str, list[Value]] = field(default_factory=dict)
    export: Path | None = None

    @property
    def seeks(self) -> tuple[Goal, ...]:
        """The goals, time first."""
        return goals_named(self.goals)

    def further(self, trial: Trial) -> list[float | None]:
        """Return how much a trial takes of the goals besides time, None where it does not tell."""
        several = len(self.goals) > 1  # asked of each trial of a long study that goes on
        return [goal.value(trial) for goal in self.seeks[1:]] if several else []

    def as_dict(self) -> dict[str, Any]:
        """Return what the database stores about this study, ready for JSON."""
        return {
            "name": self.name,
            "kernel": self.kernel_ref,
            "problems": [problem.as_dict() for problem in self.problems],
            "goals": list(self.goals),
            "search": {
                "sampler": self.sampler,
                "trials": self.trials,
                "seed": self.seed,
                "prior": self.prior,
                "warm_start": self.warm_start,
                "stop_chance": self.stop_chance,
                "stop_gain": self.stop_gain,
            },
            "policy": dataclasses.asdict(self.policy),
            "limits": dataclasses.asdict(self.limits),
            "final": dataclasses.asdict(self.final),
            "drift": dataclasses.asdict(self.drift),
            "cross": {"winners": self.cross},
            "space": dict(self.space),
        }
