"""The knobs of a GEMM, and the order in which its rules are checked."""

from __future__ import annotations

from functools import cache

from autotune.records import Target
from autotune.space import Constraint, Parameter, Space
from kernel_space.gemm import ampere, hopper
from kernel_space.gemm.ampere import ampere_rules
from kernel_space.gemm.hopper import hopper_rules
from kernel_space.gemm.problem import GemmProblem

TILE_ROW_BYTES = (32, 64, 128)  # of one stage, along K


def gemm_space(problem: GemmProblem, target: Target) -> Space:
    """Return the parameters and constraints for ``problem`` on ``target``."""
    return Space(
        _parameters(problem.element_bytes),
        (*ampere_rules(problem, target), *hopper_rules(problem, target), raster(problem)),
    )


def raster(problem: GemmProblem) -> Constraint:
    """Return the rule that a band of blocks is no wider than the grid."""

    def broken(tile_m: int, tile_n: int, raster: str, raster_group: int) -> str | None:
        tile, extent = (tile_n, problem.n) if raster == "along_m" else (tile_m, problem.m)
        tiles = max(1, -(-extent // tile))
        if raster_group > tiles:
            return f"a band of {raster_group} tiles is wider than the grid of {tiles}"
        return None

    return Constraint("raster", broken)


@cache
def _parameters(element_bytes: int) -> tuple[Parameter, ...]:
    """Return every parameter, the mechanism and tiles first: most rules need them.

    A 0 says that the knob is not the mechanism's.
    """
    return (
        Parameter(
            "mechanism",
            (*ampere.MECHANISMS, *hopper.MECHANISMS),
            ordered=False,
            about="how tiles reach shared memory, and who multiplies them",
        ),
        *_tile_parameters(element_bytes),
        *_copy_parameters(element_bytes),
        *_hopper_parameters(),
        *_raster_parameters(),
    )


def _tile_parameters(element_bytes: int) -> tuple[Parameter, ...]:
    depths = tuple(row // element_bytes for row in TILE_ROW_BYTES)
    return (
        Parameter("tile_m", (32, 64, 128, 192, 256), about="rows of C that a block computes"),
        Parameter("tile_n", tuple(range(16, 257, 16)), about="columns of C that a block computes"),
        Parameter("warp_m", (0, 16, 32, 64), about="rows of C that a warp computes"),
        Parameter("warp_n", (0, 32, 64), about="columns of C that a warp computes"),
        Parameter("tile_k", depths, about="values of k in one stage"),
    )


def _copy_parameters(element_bytes: int) -> tuple[Parameter, ...]:
    sizes = tuple(size for size in ampere.COPY_SIZES if size >= element_bytes)
    most = hopper.MOST_STAGES
    return (
        Parameter("stages", tuple(range(1, most + 1)), about="tiles that shared memory holds"),
        Parameter("barriers", (0, 1, 2), about="barriers of a block in each round of a ring"),
        Parameter("copy_bytes", sizes, about="bytes that one copy instruction moves"),
        Parameter(
            "cache",
            ("l1", "bypass"),
            ordered=False,
            about="whether asynchronous copies leave their bytes in L1",
        ),
    )


def _hopper_parameters() -> tuple[Parameter, ...]:
    return (
        Parameter("cluster_m", (1, 2, 4), about="blocks of a cluster that share a tile of B"),
        Parameter("cluster_n", (1, 2, 4), about="blocks of a cluster that share a tile of A"),
        Parameter("in_flight", (0, 1, 2), about="stages that a warp group multiplies at a time"),
        Parameter(
            "operands",
            ("given", "swapped"),
            ordered=False,
            about="whether the transpose of C is computed, so that few rows lie along N",
        ),
        Parameter("split_k", (1, 2, 4, 8), about="blocks that share the sums of a tile"),
        Parameter("l2_promotion", (0, 128, 256), about="bytes that a miss brings into L2"),
        Parameter(
            "keep",
            ("neither", "a", "b"),
            ordered=False,
            about="the operand that L2 holds on to while the other one streams past",
        ),
        Parameter(
            "epilogue",
            ("direct", "staged"),
            ordered=False,
            about="whether sums reach C straight from registers or through shared memory",
        ),
        Parameter(
            "repack",
            ("none", "rows"),
            ordered=False,
            about="what is copied to rows that tensor maps can address, before the product",
        ),
    )


def _raster_parameters() -> tuple[Parameter, ...]:
    return (
        Parameter(
            "raster",
            ("along_m", "along_n"),
            ordered=False,
            about="direction in which bands of blocks run through C",
        ),
        Parameter("raster_group", (1, 4, 8), about="width of a band, in tiles"),
    )
