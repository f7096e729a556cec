"""How long a config takes, predicted before anything is built.

Two demands overlap: that every byte goes through device memory, and that each resident block
waits for its tiles, of which ``stages`` are on their way at a time. Too few bytes on their way
leave the memory idle; that is what stages and resident blocks are for. Not measured yet: it
follows from the latency that was fitted to products of matrices.
"""

from __future__ import annotations

from autotune.records import Config, Target
from kernel_space.rates import LAUNCH_CLK, LOAD_CLK, rates_of, together
from kernel_space.residency import resident_threads
from kernel_space.stream.plan import StreamPlan
from kernel_space.stream.problem import StreamProblem


def estimate(problem: StreamProblem, config: Config, target: Target) -> float | None:
    """Return the predicted time in ns, or None where the device's rates are not known."""
    rates = rates_of(target)
    if rates is None:
        return None
    plan = StreamPlan.of(config, problem)
    tiles = -(-problem.count // plan.tile)
    resident = plan.blocks_per_sm or max(1, resident_threads(target) // plan.block_threads)
    rounds = -(-tiles // (resident * target.sm_count))
    waiting = rounds * LOAD_CLK / plan.stages
    moving = problem.moved_bytes / rates.memory_bytes_per_clk
    return (together(moving, waiting) + LAUNCH_CLK) / rates.clock_ghz
