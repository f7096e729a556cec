"""How long the multiprocessors take with tensor copies and warp-group products.

One block lives on each multiprocessor and takes tile after tile. A step through K takes as long
as the scarcest of products, shared memory, the way from L2 and the wait for a tile that
``stages`` of them hide. The result of a tile leaves under the next one's products, or not, by
mechanism; that of the last tile never does.

"Fitted" says: by ``benchmarks/fit_prior.py`` to 34,124 times that were measured on an H200, of
configs drawn at random for sixteen problems and of some eighty fast ones for each of 200 others.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

from autotune.records import Target
from kernel_space.gemm.hopper.plan import GROUP_ROWS, LINE_BYTES, resident_clusters, tile_k
from kernel_space.gemm.problem import GemmProblem
from kernel_space.gemm.waves import EPILOGUE_BYTES_PER_CLK, Front, Waves
from kernel_space.rates import L2_BYTES_PER_CLK, SHARED_BYTES_PER_CLK, Rates, together

LATENCY_CLK = 2200  # from a tensor copy to its barrier, while others copy; fitted
TILE_CLK = 1000  # to begin a tile; fitted
CLUSTER_FACTOR = 1.11  # of a step, for blocks that wait for each other; fitted
RAGGED_SHARE = 0.5  # that is asked of L2 on top, by rows that are no whole lines; fitted
NARROW = 0.5  # of that, where a miss brings 128 bytes into L2 and not 256; fitted
PART_CLK = 1200  # for each of the blocks that share a tile's sums; fitted
PARTIAL_BYTES_PER_CLK = 22  # of partial sums, between multiprocessors; fitted
PAIR_COLUMNS = 32  # of a tile leave together
ODD_FACTOR = 1.5  # of the way out, where half a pair is left over; fitted
DIRECT_FACTOR = 2.0  # of the way out, for short stores; fitted
WAIT_CLK = {"tma": 340, "ws_basic": 20, "ws_cooperative": 10, "ws_pingpong": 0}  # a step; fitted
ALONE_CLK = {"ws_basic": 120, "ws_pingpong": 180}  # of a step whose product nothing follows; fitted
# Of the way out of a tile that another follows; fitted.
EXPOSED = {"tma": 1.0, "ws_basic": 0.9, "ws_cooperative": 0.8, "ws_pingpong": 0.0}


def waves(problem: GemmProblem, knobs: Mapping[str, Any], target: Target, rates: Rates) -> Waves:
    """Return what the multiprocessors make of a config's ``knobs``."""
    tile_m, tile_n, parts = knobs["tile_m"], knobs["tile_n"], knobs["split_k"]
    cluster_m, cluster_n = knobs["cluster_m"], knobs["cluster_n"]
    swapped = knobs["operands"] == "swapped"
    rows, columns = (problem.n, problem.m) if swapped else (problem.m, problem.n)
    size = cluster_m * cluster_n * parts
    clusters = -(-rows // (tile_m * cluster_m)) * -(-columns // (tile_n * cluster_n))
    room = resident_clusters(size, target)
    at_once, turns = min(clusters, room), -(-clusters // room)
    steps = -(-problem.k // (tile_k(problem) * parts))
    step_clk = _step_clk(problem, knobs, rates, share=at_once * size / target.sm_count)
    clk = turns * (steps * step_clk + TILE_CLK)
    clk += _store_clk(problem, knobs) * (1 + (turns - 1) * EXPOSED[knobs["mechanism"]])
    if parts > 1:
        clk += PART_CLK * parts + tile_m * tile_n * 4 / PARTIAL_BYTES_PER_CLK
    tile = (tile_n, tile_m) if swapped else (tile_m, tile_n)
    return Waves(clk, Front(*tile, at_once * cluster_m * cluster_n))


def _step_clk(
    problem: GemmProblem, knobs: Mapping[str, Any], rates: Rates, *, share: float
) -> float:
    tile_m, tile_n, mechanism = knobs["tile_m"], knobs["tile_n"], knobs["mechanism"]
    cluster_m, cluster_n = knobs["cluster_m"], knobs["cluster_n"]
    flop_per_clk = rates.wgmma_flop_per_clk * problem.tensor_speed
    multiply = 2 * tile_m * tile_n * tile_k(problem) / flop_per_clk
    read = (tile_m + tile_m / GROUP_ROWS * tile_n) * LINE_BYTES / SHARED_BYTES_PER_CLK
    spared = tile_m / sqrt(cluster_n) + tile_n / sqrt(cluster_m)  # L2 is spared, not the way in
    fill = share * _asked(problem, knobs) * spared * LINE_BYTES / L2_BYTES_PER_CLK
    own = max(multiply, read) + WAIT_CLK[mechanism]
    if knobs["in_flight"] == 1:
        own += ALONE_CLK.get(mechanism, 0)
    step = together(own, fill, (own + LATENCY_CLK) / knobs["stages"])
    return step * CLUSTER_FACTOR if cluster_m * cluster_n > 1 else step


def _store_clk(problem: GemmProblem, knobs: Mapping[str, Any]) -> float:
    """Return how long the result of a tile takes on its way out."""
    sums: int = knobs["tile_m"] * knobs["tile_n"]
    clk = sums * problem.result_bytes / EPILOGUE_BYTES_PER_CLK
    if knobs["epilogue"] == "direct" and knobs["split_k"] == 1:
        clk *= DIRECT_FACTOR
    return clk * ODD_FACTOR if knobs["tile_n"] % PAIR_COLUMNS else clk


def _asked(problem: GemmProblem, knobs: Mapping[str, Any]) -> float:
    """Return what is asked of L2 for each byte: more if a tile's line lies in two of memory."""
    ragged = any(problem.row_bytes(field) % LINE_BYTES for field in problem.row_fields)
    if not ragged or knobs["repack"] == "rows":
        return 1
    return 1 + RAGGED_SHARE * (NARROW if knobs["l2_promotion"] == LINE_BYTES else 1)
