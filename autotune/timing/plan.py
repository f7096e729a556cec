"""How many launches make a sample, and how many buffer sets keep them cold."""

from __future__ import annotations

import math
from dataclasses import dataclass

from autotune.errors import InvalidInput
from autotune.records import Policy

COLD_L2_SIZES = 3  # so much other data passes through L2 before a buffer is used again
MOST_SETS = 512  # sets of 350 kB and more are then surely cold; smaller ones are small anyway
SURELY_GRAPH_BELOW_NS = 20_000.0  # shorter launches would wait for the host


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How one sample is made.

    Attributes:
        launches: Launches in a sample; it lasts as long as all of them.
        graph: True to replay them as one CUDA graph, so that the host is not in the way.
    """

    launches: int
    graph: bool


def set_count(set_bytes: int, l2_bytes: int, cache: str) -> int:
    """Return how many sets of operands to rotate over.

    Args:
        set_bytes: Size of all operands of one launch, in bytes.
        l2_bytes: Size of the last-level cache, in bytes.
        cache: ``hot`` reuses one set; with ``cold``, more than three caches' worth of other
            operands is read or written between two uses of one set, as far as ``MOST_SETS``
            sets go: what a tiny problem reads may stay in L2.
    """
    if cache == "hot":
        return 1
    if cache != "cold":
        raise InvalidInput(f"policy: cache={cache!r} is not one of cold, hot")
    return min(MOST_SETS, COLD_L2_SIZES * l2_bytes // max(1, set_bytes) + 2)


def is_cold(set_bytes: int, sets: int, l2_bytes: int) -> bool:
    """Return True if no operand can be left in the cache when its set is used again."""
    return (sets - 1) * set_bytes > COLD_L2_SIZES * l2_bytes


def make_plan(launch_ns: float, *, sets: int, policy: Policy) -> Plan:
    """Return how to sample launches that each take about ``launch_ns``.

    A launch that lasts a sample by itself is timed alone. Shorter ones are batched; a batch
    becomes a graph if whole turns over all ``sets`` fit the time that a sample may take.
    """
    sample_ns = policy.sample_us * 1e3
    if launch_ns >= sample_ns:
        return Plan(launches=1, graph=False)
    launches = math.ceil(sample_ns / launch_ns)
    whole_turns = math.ceil(launches / sets) * sets
    longest_ns = policy.budget_ms * 1e6 / policy.min_samples
    if launch_ns < SURELY_GRAPH_BELOW_NS or whole_turns * launch_ns <= longest_ns:
        return Plan(launches=whole_turns, graph=True)
    return Plan(launches=launches, graph=False)
