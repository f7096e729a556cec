"""How long the multiprocessors take where threads copy and warps multiply.

A block goes through K in steps, one tile of A and B each. A step takes as long as what is scarce
takes for all blocks of a multiprocessor (products, shared memory, the way from L2), and no less
than one block needs alone, which waits for its tiles unless enough are on their way.

"Fitted" says: to the 9,064 ok trials of these mechanisms in the H200 recording, by least squares
of the logarithm of recorded over predicted time about its mean for each problem, where a config
weighs the root of the best time over its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from autotune.records import Target
from kernel_space.gemm.ampere.mechanisms import TRAITS, WARP_LANES
from kernel_space.gemm.ampere.registers import estimated_registers
from kernel_space.gemm.problem import GemmProblem
from kernel_space.gemm.waves import EPILOGUE_BYTES_PER_CLK, Front, Waves
from kernel_space.rates import (
    L2_BYTES_PER_CLK,
    LOAD_CLK,
    SHARED_BYTES_PER_CLK,
    Rates,
    together,
)
from kernel_space.residency import RESERVED_SHARED_BYTES, resident_threads

BARRIER_CLK = 65  # of a block, with what threads lose by waiting for the last; fitted
COPY_CLK = 2.8  # for a warp to move a piece each through L1 or registers; fitted
START_CLK = 2000  # of a block before its first product; fitted
SCHEDULERS = 4  # of a multiprocessor: fewer warps leave products undone
REGISTERS_ABOVE_ESTIMATE = 12  # that the compiler takes beyond what a config needs; measured

STEP_FACTOR = {
    "sync1": 1.1,  # fitted
    "sync2": 1.4,  # fitted
    "cp_async": 1.0,  # fitted: the measure of the others
    "sync2_smem": 1.1,  # as sync1: the same copies; not measured
    "cg_memcpy_async": 1.0,  # as cp_async with one stage; not measured
    "pipeline_thread": 1.0,  # emits the instructions of cp_async; not measured
    "pipeline_block": 1.2,  # some tens of instructions more for each step; not measured
    "mbarrier": 1.0,  # predicted 0.95 to 1.05; not measured
    "ws_cp_async": 1.0,  # not measured
}
BARRIERS = {"sync1": 2, "cg_memcpy_async": 2}  # of a step where that is no choice; else 1


class _Step(NamedTuple):
    """What one step of one block demands, in clocks."""

    multiply: float
    shared: float
    fill: float
    copy: float
    barriers: float
    ahead: int  # tiles on their way while one is multiplied
    idle: float  # how many times longer products take where schedulers have no warp

    def clk(self, resident: int) -> float:
        """Return the clocks of a step in which every resident block makes one."""
        scarce = together(self.multiply, self.shared, self.fill) + self.copy
        own = max(self.multiply * self.idle, self.shared) + self.copy + self.barriers
        if not self.ahead:
            return together(resident * scarce, own + LOAD_CLK)
        return together(resident * scarce, own, (own + LOAD_CLK) / (self.ahead + 1))


def waves(problem: GemmProblem, knobs: Mapping[str, Any], target: Target, rates: Rates) -> Waves:
    """Return what the multiprocessors make of a config's ``knobs``."""
    tile_m, tile_n = knobs["tile_m"], knobs["tile_n"]
    warps = tile_m // knobs["warp_m"] * (tile_n // knobs["warp_n"])
    tiles = -(-problem.m // tile_m) * -(-problem.n // tile_n)
    busy = min(tiles, target.sm_count)
    step = _step(problem, knobs, rates, warps=warps, share=busy / target.sm_count)
    steps: float = -(-problem.k // knobs["tile_k"]) * STEP_FACTOR[knobs["mechanism"]]
    store_clk: float = tile_m * tile_n * problem.result_bytes / EPILOGUE_BYTES_PER_CLK

    def turn(blocks: int) -> float:
        return steps * step.clk(blocks) + blocks * store_clk + START_CLK

    resident = _resident(problem, knobs, target, warps)
    full, rest = divmod(-(-tiles // target.sm_count), resident)
    clk = full * turn(resident) + (turn(rest) if rest else 0.0)
    return Waves(clk, Front(tile_m, tile_n, min(tiles, resident * target.sm_count)))


def _step(
    problem: GemmProblem, knobs: Mapping[str, Any], rates: Rates, *, warps: int, share: float
) -> _Step:
    tile_m, tile_n, tile_k = knobs["tile_m"], knobs["tile_n"], knobs["tile_k"]
    each, mechanism = problem.element_bytes, knobs["mechanism"]
    stage_bytes = (tile_m + tile_n) * tile_k * each
    read_bytes = warps * (knobs["warp_m"] + knobs["warp_n"]) * tile_k * each
    rate = rates.mma_flop_per_clk if problem.uses_tensor_cores else rates.fma_flop_per_clk
    pieces = 0 if knobs["cache"] == "bypass" else stage_bytes // knobs["copy_bytes"]
    return _Step(
        multiply=2 * tile_m * tile_n * tile_k / rate,
        shared=(read_bytes + stage_bytes) / SHARED_BYTES_PER_CLK,
        fill=share * stage_bytes / L2_BYTES_PER_CLK,
        copy=pieces / WARP_LANES * COPY_CLK,
        barriers=BARRIER_CLK * (knobs["barriers"] or BARRIERS.get(mechanism, 1)),
        ahead=knobs["stages"] - 1,
        idle=max(1.0, SCHEDULERS / warps),
    )


def _resident(problem: GemmProblem, knobs: Mapping[str, Any], target: Target, warps: int) -> int:
    """Return how many blocks a multiprocessor holds."""
    mechanism, traits = knobs["mechanism"], TRAITS[knobs["mechanism"]]
    stage_bytes = (knobs["tile_m"] + knobs["tile_n"]) * knobs["tile_k"] * problem.element_bytes
    shared_bytes = knobs["stages"] * (stage_bytes + traits.stage_extra_bytes)
    threads = warps * WARP_LANES + traits.producers
    registers = REGISTERS_ABOVE_ESTIMATE + estimated_registers(
        problem,
        warp=(knobs["warp_m"], knobs["warp_n"]),
        mechanism=mechanism,
        copied=stage_bytes // (warps * WARP_LANES),
        piece=knobs["copy_bytes"],
    )
    fits = (
        target.shared_bytes_per_sm // (shared_bytes + RESERVED_SHARED_BYTES),
        target.registers_per_sm // (-(-registers // 8) * 8 * threads),
        resident_threads(target) // threads,
    )
    return max(1, int(min(fits)))
