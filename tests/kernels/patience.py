"""Time limits that a candidate which hangs meets soon, and a machine that stalls never."""

from __future__ import annotations

import time

from autotune.records import Limits

PATIENCE_S = 120.0
PATIENT = Limits(compile_s=PATIENCE_S, run_s=PATIENCE_S)
SOON_S = 1.0
HANGS = frozenset({"hang", "stop", "spins", "sleeps", "deadlocks", "stops"})


def limited(device):
    """Have ``device`` give up soon what hangs on purpose; return it."""
    lane, measure = device._lane, device._lane.measure

    def measured(job, *, config, **asked):
        lane._run_limit_s = SOON_S if HANGS & set(config.values()) else PATIENT.run_s
        return measure(job, config=config, **asked)

    lane.measure = measured
    return device


def until(condition):
    """Wait for what must come to be, however slowly."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
