"""Warm up, sample until the policy is content, and refuse times that cannot be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from autotune.records import Failure, Policy, Status
from autotune.timing.plan import Plan, make_plan

LONGEST_NS = 86_400e9  # a day: no launch outlives its lane's limit, so this is a broken timer
SHORT_NS = 100_000.0  # below this, one launch by itself mostly times its own start
ESTIMATE = Plan(launches=16, graph=True)


class Stopwatch(Protocol):
    """Times batches of launches of one candidate on one device."""

    def load(self, plan: Plan) -> None:
        """Get ready to take samples as ``plan`` says."""

    def sample_ns(self, count: int) -> Sequence[float]:
        """Take ``count`` samples back to back; return the device time of each, in ns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Samples of one candidate.

    Attributes:
        samples_ns: Device time of one launch, in ns, for each sample.
        launches_per_sample: Launches that each number is a mean of.
    """

    samples_ns: tuple[float, ...]
    launches_per_sample: int


def time_launches(stopwatch: Stopwatch, policy: Policy, *, sets: int) -> Timing | Failure:
    """Time a candidate as ``policy`` says.

    Args:
        stopwatch: Launches it and reads the clock.
        policy: Warm-up, batch length, number of samples and budget.
        sets: How many buffer sets the stopwatch rotates over.

    Returns:
        The samples, or ``bad_measurement`` if the clock gave a time that cannot be.
    """
    try:
        plan = make_plan(_estimate_ns(stopwatch), sets=sets, policy=policy)
        stopwatch.load(plan)
        _warm_up(stopwatch, policy)
        samples = _sample(stopwatch, policy)
    except _ImpossibleTime as error:
        return Failure(status=Status.BAD_MEASUREMENT, message=str(error))
    return Timing(
        samples_ns=tuple(sample / plan.launches for sample in samples),
        launches_per_sample=plan.launches,
    )


class _ImpossibleTime(Exception):
    pass


def _estimate_ns(stopwatch: Stopwatch) -> float:
    """Return about how long one launch takes; the first one also loads code and is ignored."""
    stopwatch.load(Plan(launches=1, graph=False))
    alone = _read(stopwatch, 2)[-1]
    if alone >= SHORT_NS:
        return alone
    stopwatch.load(ESTIMATE)
    return _read(stopwatch, 1)[0] / ESTIMATE.launches


def _warm_up(stopwatch: Stopwatch, policy: Policy) -> None:
    needed_ns = policy.warmup_ms * 1e6
    first = _read(stopwatch, 1)[0]
    if first < needed_ns:
        _read(stopwatch, math.ceil((needed_ns - first) / first))


def _sample(stopwatch: Stopwatch, policy: Policy) -> list[float]:
    samples = _read(stopwatch, policy.min_samples)
    spent_ns = sum(samples)
    affordable = int((policy.budget_ms * 1e6 - spent_ns) * len(samples) / spent_ns)
    more = min(affordable, policy.max_samples - len(samples))
    return samples + _read(stopwatch, more) if more > 0 else samples


def _read(stopwatch: Stopwatch, count: int) -> list[float]:
    samples = [float(sample) for sample in stopwatch.sample_ns(count)]
    for sample in samples:
        if not 0.0 < sample < LONGEST_NS:  # a NaN is not either
            raise _ImpossibleTime(f"the timer gave {sample} ns for a sample")
    return samples
