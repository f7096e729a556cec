"""Studies: what to tune, and the loop that asks, compiles, measures and records."""

from __future__ import annotations

from autotune.study.events import Observer, ProblemReport, Reason, Silent, StudyReport
from autotune.study.file import load_study, parse_duration_s
from autotune.study.loop import run_study
from autotune.study.spec import StudySpec

__all__ = [
    "Observer",
    "ProblemReport",
    "Reason",
    "Silent",
    "StudyReport",
    "StudySpec",
    "load_study",
    "parse_duration_s",
    "run_study",
]
