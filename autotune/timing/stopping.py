"""When samples are enough: the median is told well, or it is clearly too slow to matter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from autotune.records import Policy
from autotune.records.interval import SURE_FROM, median_interval

# So many samples may tell that a candidate is too slow. All of them are then above the bound, which
# happens to one whose median is at the bound once in eight times, and hardly to one that may win.
FEW = 3
GLANCE = 2 * FEW  # so many, before the clock has settled, tell whether times still fall
BEHIND = 1.03  # times the best: what is slower hardly wins, and whatever may is timed in a final


def lacking(samples: Sequence[float], policy: Policy, *, each_ns: float) -> int:
    """Return how many samples to take next; 0 once there are enough.

    Args:
        samples: The samples so far, in ns.
        policy: Fewest and most samples, budget and precision.
        each_ns: About how long a sample takes.
    """
    count = len(samples)
    affordable = int((policy.budget_ms * 1e6 - sum(samples)) / each_ns)
    allowed = min(affordable, policy.max_samples - count)
    wanted = _imprecise(samples, policy.precision) if policy.precision else allowed
    return max(policy.min_samples - count, min(allowed, wanted), 0)


def stop_above_ns(policy: Policy, best_ns: float | None) -> float:
    """Return the time from which on a candidate is given up; infinite for never.

    Args:
        policy: Says how many times the best that is.
        best_ns: Median of the best so far, in ns, or None.
    """
    return _times(policy.stop_factor, best_ns)


def behind_above_ns(policy: Policy, best_ns: float | None) -> float:
    """Return the time from which on a candidate hardly wins; infinite if all are sampled whole.

    A search needs to know about how slow it is, and nothing else rests on its precision.
    """
    return _times(BEHIND if policy.stop_factor and policy.precision else 0.0, best_ns)


def _times(factor: float, best_ns: float | None) -> float:
    if not factor or best_ns is None or math.isnan(best_ns):
        return math.inf
    return factor * best_ns


def slower(samples: Sequence[float], than_ns: float, *, fewest: int) -> bool:
    """Return True if ``fewest`` samples are there and their median surely exceeds ``than_ns``."""
    return len(samples) >= fewest and median_interval(samples)[0] > than_ns


def hopeless(glance: Sequence[float], above_ns: float) -> bool:
    """Return True if a candidate need not be warmed up to know that it is too slow.

    Even its fastest sample is, and its times do not fall any more. To matter yet, it would have
    to become faster by as much as ``above_ns`` is above the best.
    """
    if len(glance) < GLANCE:
        return False
    falls = max(glance[-FEW:]) < min(glance[:-FEW])
    return min(glance) > above_ns and not falls


def cut_short(samples: tuple[float, ...], above_ns: float) -> tuple[float, ...] | None:
    """Return the samples until it showed that they are too slow, or None if it never did.

    One that shows it with its last sample is measured like any other.
    """
    heads = (samples[:count] for count in range(FEW, len(samples)))
    return next((head for head in heads if slower(head, above_ns, fewest=FEW)), None)


def _imprecise(samples: Sequence[float], precision: float) -> int:
    """Return how many more samples the interval seems to lack; it shrinks by their square root.

    At most as many as there are, for few samples tell their own spread badly.
    """
    count = len(samples)
    if count < SURE_FROM:
        return SURE_FROM - count
    low, high = median_interval(samples)
    excess = (high - low) / 2 / median(samples) / precision
    return 0 if excess <= 1 else math.ceil(count * min(excess**2 - 1, 1.0))
