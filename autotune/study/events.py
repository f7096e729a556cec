"""What a running study says, and what it says at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from autotune.device.protocol import Device
from autotune.records import Problem, Status, Trial
from autotune.study.spec import StudySpec


class Reason(StrEnum):
    """Why the work on one problem ended."""

    BUDGET = "trials done"
    CROSSED = "others' winners measured"
    EXHAUSTED = "space exhausted"
    FINISHED_BEFORE = "already finished"
    TIME = "time budget spent"
    UNLIKELY = "a gain is unlikely"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemReport:
    """What a study found for one problem.

    Attributes:
        problem: What was tuned for.
        reason: Why the work on it ended.
        ran: Trials of this run, others' winners included.
        total: Trials in the database, this run's included.
        valid: Size of the valid space.
        best: The trial that answers for the problem, as in a table; None if none is right.
        tied: How many others tie with it.
        front: How many trials are right and beaten by none in all goals of the study.
        default: The trial of the kernel's default config, or None if it was not tried.
        statuses: How many trials ended in each status.
    """

    problem: Problem
    reason: Reason
    ran: int
    total: int
    valid: int
    best: Trial | None
    tied: int = 0
    front: int = 0
    default: Trial | None
    statuses: Mapping[Status, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyReport:
    """What a study found, problem by problem. A problem that time did not reach is absent.

    Attributes:
        study: Its name.
        device: The name that the device was opened by.
        replays: True if that device repeats what was measured before.
        problems: What was found, in the order of the study.
        seconds: How long this run took.
    """

    study: str
    device: str
    replays: bool = False
    problems: tuple[ProblemReport, ...]
    seconds: float

    @property
    def statuses(self) -> Mapping[Status, int]:
        """How many trials of the whole study ended in each status."""
        total: Counter[Status] = Counter()
        for report in self.problems:
            total.update(report.statuses)
        return total


class Observer(Protocol):
    """Hears of every step of a study. It must not raise."""

    def started(self, spec: StudySpec, device: Device) -> None:
        """The device answers and the kernel's language suits it."""

    def problem_started(self, problem: Problem, *, planned: int, done: int, valid: int) -> None:
        """``planned`` trials are to come; ``done`` are in the database already."""

    def trial(self, problem: Problem, trial: Trial, best: Trial | None) -> None:
        """``trial`` is in the database; ``best`` is the fastest right one so far."""

    def final_round(self, number: int, *, rounds: int, racing: int) -> None:
        """A round of a final begins, the first of at most ``rounds``, in which so many race."""

    def problem_finished(self, report: ProblemReport) -> None:
        """The work on one problem ended."""

    def note(self, text: str) -> None:
        """Something a person may want to know."""


class Silent:
    """An observer that says nothing."""

    def started(self, spec: StudySpec, device: Device) -> None:
        """Say nothing."""

    def problem_started(self, problem: Problem, *, planned: int, done: int, valid: int) -> None:
        """Say nothing."""

    def trial(self, problem: Problem, trial: Trial, best: Trial | None) -> None:
        """Say nothing."""

    def final_round(self, number: int, *, rounds: int, racing: int) -> None:
        """Say nothing."""

    def problem_finished(self, report: ProblemReport) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""
