"""Timing: how a candidate that is right becomes samples in ns."""

from __future__ import annotations

from autotune.timing.plan import Plan, make_plan, set_count
from autotune.timing.sampler import Stopwatch, Timing, time_launches

__all__ = ["Plan", "Stopwatch", "Timing", "make_plan", "set_count", "time_launches"]
