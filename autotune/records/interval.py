"""How well samples tell the median: an interval from their order alone, whatever their shape."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import sqrt

SURE_FROM = 6  # fewer samples cannot give an interval of 95 %, however wide


def median_interval(samples: Sequence[float]) -> tuple[float, float]:
    """Return two of ``samples`` that the true median lies between, with 95 % confidence.

    Of n independent samples, the number below the median is binomial (n, 1/2), whatever their
    distribution; so the interval from the (k+1)-th smallest to the (k+1)-th largest misses the
    median with probability 2 P(Bin(n, 1/2) <= k) (H. A. David and H. N. Nagaraja, *Order
    Statistics*, 3rd ed., section 7.1). The largest k that keeps this at 5 % is taken. With fewer
    than ``SURE_FROM`` samples, k is 0 and the confidence is 1 - 2^(1-n): 75 % for three.
    """
    ordered = sorted(samples)
    left_out = _left_out(len(ordered))
    return ordered[left_out], ordered[-1 - left_out]


def median_error(spread: float, samples: int) -> float:
    """Return the standard error of a median as a share of it, were the samples normal.

    Args:
        spread: Interquartile range of the samples over their median.
        samples: How many there are.
    """
    return 0.93 * spread / sqrt(samples)


@lru_cache(maxsize=1024)
def _left_out(count: int) -> int:
    """Return how many of ``count`` samples may lie outside the interval at each end."""
    beyond, ways = 1, 1  # of 2^count equally likely outcomes: with up to, and with just, k below
    k = 0
    while True:
        ways = ways * (count - k) // (k + 1)
        beyond += ways
        if 40 * beyond > 2**count:  # 2 beyond / 2^count > 5 %
            return k
        k += 1
