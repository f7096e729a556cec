"""The vocabulary: frozen records that every other room speaks in."""

from __future__ import annotations

from autotune.records.asking import ask, described
from autotune.records.config import Config, Value
from autotune.records.device import DeviceIdentity, Target, Toolchain
from autotune.records.drift import Reading
from autotune.records.final import Finalist, leaders, tied, tied_trials
from autotune.records.goal import GOALS, TIME, Goal, goals_named, nondominated, undominated
from autotune.records.identity import canonical_json, digest, digest_bytes
from autotune.records.kernel import (
    Candidate,
    Condition,
    Cost,
    Kernel,
    SourceUnit,
    Tolerance,
)
from autotune.records.launch import ELEMENT_BYTES, Launch, Operand, Scalar, TensorMap
from autotune.records.library import LibraryKernel, Routine, device_language
from autotune.records.outcome import Binary, Failure, Measurement, Outcome, Resources, Status
from autotune.records.policy import CAREFUL, PRESETS, QUICK, STANDARD, Limits, Policy
from autotune.records.problem import Problem
from autotune.records.registry import absolute_reference, installed_kernels, load_kernel
from autotune.records.rung import Rung
from autotune.records.tie import MOST_APART, near_the_fastest, tie_order, ties
from autotune.records.trial import Trial
from autotune.records.words import headline, one_line

__all__ = [
    "CAREFUL",
    "ELEMENT_BYTES",
    "GOALS",
    "MOST_APART",
    "PRESETS",
    "QUICK",
    "STANDARD",
    "TIME",
    "Binary",
    "Candidate",
    "Condition",
    "Config",
    "Cost",
    "DeviceIdentity",
    "Failure",
    "Finalist",
    "Goal",
    "Kernel",
    "Launch",
    "LibraryKernel",
    "Limits",
    "Measurement",
    "Operand",
    "Outcome",
    "Policy",
    "Problem",
    "Reading",
    "Resources",
    "Routine",
    "Rung",
    "Scalar",
    "SourceUnit",
    "Status",
    "Target",
    "TensorMap",
    "Tolerance",
    "Toolchain",
    "Trial",
    "Value",
    "absolute_reference",
    "ask",
    "canonical_json",
    "described",
    "device_language",
    "digest",
    "digest_bytes",
    "goals_named",
    "headline",
    "installed_kernels",
    "leaders",
    "load_kernel",
    "near_the_fastest",
    "nondominated",
    "one_line",
    "tie_order",
    "tied",
    "tied_trials",
    "ties",
    "undominated",
]
