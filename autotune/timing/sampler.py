"""Warm up, sample until the policy is content, and refuse times that cannot be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from autotune.records import Failure, Policy, Status
from autotune.records.interval import SURE_FROM
from autotune.timing.plan import Plan, make_plan
from autotune.timing.stopping import (
    FEW,
    GLANCE,
    behind_above_ns,
    hopeless,
    lacking,
    slower,
    stop_above_ns,
)

LONGEST_NS = 86_400e9  # a day: no launch outlives its lane's limit, so this is a broken timer
SHORT_NS = 100_000.0  # below this, one launch by itself mostly times its own start
ALONE = Plan(launches=1, graph=False)
ESTIMATE = Plan(launches=16, graph=True)
UNSETTLED = 1.5  # before it is warm, a candidate may still become so many times faster
SETTLED = 4  # so many samples are compared with as many before them
MOST_WARM_UP = 5  # times what the policy asks for


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
        stopped: True if it was given up after these few samples, being too slow.
    """

    samples_ns: tuple[float, ...]
    launches_per_sample: int
    stopped: bool = False


def time_launches(
    stopwatch: Stopwatch, policy: Policy, *, sets: int, best_ns: float | None = None
) -> Timing | Failure:
    """Time a candidate as ``policy`` says.

    Args:
        stopwatch: Launches it and reads the clock.
        policy: Warm-up, batch length, number of samples, budget, precision and when to give up.
        sets: How many buffer sets the stopwatch rotates over.
        best_ns: Median of the best candidate so far, in ns: one that is much slower is given
            up after a few samples, and one that hardly wins is known by a few. None: none is.

    Returns:
        The samples, or ``bad_measurement`` if the clock gave a time that cannot be.
    """
    above_ns = stop_above_ns(policy, best_ns)
    try:
        first = _estimate(stopwatch, above_ns * UNSETTLED)
        if first.stopped:
            return first
        plan = make_plan(min(first.samples_ns), sets=sets, policy=policy)
        stopwatch.load(plan)
        above_ns *= plan.launches  # from here on, samples are those of whole batches
        glance = _glance(stopwatch, policy, min(first.samples_ns) * plan.launches, above_ns)
        if hopeless(glance, above_ns):
            return _timing(glance, plan, stopped=True)
        warm = _warm_up(stopwatch, policy, glance)
        behind_ns = behind_above_ns(policy, best_ns) * plan.launches
        samples, stopped = _sample(stopwatch, policy, warm, above_ns=above_ns, behind_ns=behind_ns)
    except _ImpossibleTime as error:
        return Failure(status=Status.BAD_MEASUREMENT, message=str(error))
    return _timing(samples, plan, stopped=stopped)


class _ImpossibleTime(Exception):
    pass


def _estimate(stopwatch: Stopwatch, above_ns: float) -> Timing:
    """Return about how long a launch takes, and whether that alone is too slow."""
    plan = ALONE
    sample = _first(stopwatch, plan)
    if sample < SHORT_NS:
        plan = ESTIMATE
        sample = _first(stopwatch, plan)
    if sample <= above_ns * plan.launches:
        return _timing([sample], plan, stopped=False)
    again = _read(stopwatch, 1)[0]  # perhaps the first was disturbed
    return _timing([sample, again], plan, stopped=again > above_ns * plan.launches)


def _first(stopwatch: Stopwatch, plan: Plan) -> float:
    """Return a first sample. What runs before it also loads code and is ignored."""
    stopwatch.load(plan)
    return _fresh(stopwatch, 1)[0]


def _glance(stopwatch: Stopwatch, policy: Policy, each_ns: float, above_ns: float) -> list[float]:
    """Return the first samples of warming up, if ``each_ns`` lets expect that it ends with them.

    None are taken if it takes less to warm up and then take a few.
    """
    if each_ns <= above_ns or (GLANCE - FEW) * each_ns > policy.warmup_ms * 1e6:
        return []
    return _fresh(stopwatch, GLANCE)


def _warm_up(stopwatch: Stopwatch, policy: Policy, begun: Sequence[float]) -> list[float]:
    """Run until the clock has settled; return the samples until then, in ns."""
    needed_ns = policy.warmup_ms * 1e6
    samples = [*begun, *_read(stopwatch, 1)]
    if sum(samples) < needed_ns:
        samples += _read(stopwatch, math.ceil((needed_ns - sum(samples)) / samples[-1]))
    while policy.precision and not _settled(samples, policy.precision):
        room = int((MOST_WARM_UP * needed_ns - sum(samples)) / samples[-1])
        if room < 1:
            break
        samples += _fresh(stopwatch, min(SETTLED, room))
    return samples


def _settled(samples: Sequence[float], precision: float) -> bool:
    """Return True unless the last samples all lie on one side of those before, and apart."""
    before, after = samples[-2 * SETTLED : -SETTLED], samples[-SETTLED:]
    if len(before) < SETTLED:
        return False
    trend = max(before) < min(after) or max(after) < min(before)
    return not trend or abs(median(after) / median(before) - 1) <= precision


def _sample(
    stopwatch: Stopwatch,
    policy: Policy,
    warm: Sequence[float],
    *,
    above_ns: float,
    behind_ns: float,
) -> tuple[list[float], bool]:
    """Return samples of what is ``warm`` by now, and whether they were stopped by ``above_ns``.

    Once it is clearly behind, they are enough, even if it is by those that showed it to be warm.
    """
    each_ns, shown = warm[-1], list(warm[-2 * SETTLED :])
    enough = len(shown) <= policy.max_samples and _settled(shown, policy.precision)
    if enough and slower(shown, behind_ns, fewest=SURE_FROM):
        return shown, slower(shown, above_ns, fewest=FEW)
    suspect = each_ns > above_ns and policy.max_samples > FEW
    samples = _fresh(stopwatch, FEW) if suspect else []
    while (more := lacking(samples, policy, each_ns=each_ns)) > 0:
        if slower(samples, above_ns, fewest=FEW):
            return samples, True
        if slower(samples, behind_ns, fewest=SURE_FROM):
            break
        samples += _fresh(stopwatch, more)
    return samples, False


def _timing(samples: Sequence[float], plan: Plan, *, stopped: bool) -> Timing:
    return Timing(
        samples_ns=tuple(sample / plan.launches for sample in samples),
        launches_per_sample=plan.launches,
        stopped=stopped,
    )


def _fresh(stopwatch: Stopwatch, count: int) -> list[float]:
    """Return samples of a busy device: the first after a pause is slower, on a GPU by 1 to 5 %."""
    return _read(stopwatch, count + 1)[1:]


def _read(stopwatch: Stopwatch, count: int) -> list[float]:
    samples = [float(sample) for sample in stopwatch.sample_ns(count)]
    for sample in samples:
        if not 0.0 < sample < LONGEST_NS:  # a NaN is not either
            raise _ImpossibleTime(f"the timer gave {sample} ns for a sample")
    return samples
