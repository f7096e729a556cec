"""Studies: what to tune, the loop that asks, compiles, measures and records; and ladders."""

from __future__ import annotations

from autotune.study.entrant import Step
from autotune.study.events import Observer, ProblemReport, Reason, Silent, StudyReport
from autotune.study.file import load_study, parse_duration_s
from autotune.study.ladder import LadderReport, LadderSpec, run_ladder
from autotune.study.loop import run_study
from autotune.study.spec import DriftSpec, FinalSpec, StudySpec

__all__ = [
    "DriftSpec",
    "FinalSpec",
    "LadderReport",
    "LadderSpec",
    "Observer",
    "ProblemReport",
    "Reason",
    "Silent",
    "Step",
    "StudyReport",
    "StudySpec",
    "load_study",
    "parse_duration_s",
    "run_ladder",
    "run_study",
]
