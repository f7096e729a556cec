"""Timing: how a candidate that is right becomes samples in ns."""

from __future__ import annotations

from autotune.timing.plan import Plan, is_cold, make_plan, set_count
from autotune.timing.sampler import Stopwatch, Timing, time_launches
from autotune.timing.stopping import cut_short, stop_above_ns

__all__ = [
    "Plan",
    "Stopwatch",
    "Timing",
    "cut_short",
    "is_cold",
    "make_plan",
    "set_count",
    "stop_above_ns",
    "time_launches",
]
