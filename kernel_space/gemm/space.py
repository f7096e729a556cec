"""The knobs of a GEMM, and the order in which its rules are checked."""

from __future__ import annotations

from autotune.records import Target
from autotune.space import Constraint, Parameter, Space
from kernel_space.gemm import hopper, rules
from kernel_space.gemm.problem import GemmProblem


def gemm_space(problem: GemmProblem, target: Target) -> Space:
    """Return the parameters and constraints for ``problem`` on ``target``."""
    return Space(
        _parameters(problem),
        (
            *hopper.hopper_rules(problem, target),
            *_rules_of_copies(problem, target),
            rules.raster(problem),
        ),
    )


def _rules_of_copies(problem: GemmProblem, target: Target) -> tuple[Constraint, ...]:
    """Return the rules of the mechanisms whose threads copy and whose warps multiply."""
    own = (
        *(Constraint.fixed("no_choice", *pin) for pin in hopper.ELSEWHERE.items()),
        *rules.block_tile(),
        *rules.warp_tile(),
        rules.threads(target),
        rules.stages(),
        rules.shared_memory(problem, target),
        rules.alignment(problem),
        rules.copy_size(problem),
        rules.cache(),
        rules.divisibility(problem),
        rules.registers(problem, target),
    )
    return tuple(rule.only_where("mechanism", rules.MECHANISMS) for rule in own)


def _parameters(problem: GemmProblem) -> tuple[Parameter, ...]:
    """Return every parameter, the mechanism and tiles first: most rules need them.

    A 0 says that the knob is not the mechanism's.
    """
    return (
        Parameter(
            "mechanism",
            (*rules.MECHANISMS, *hopper.MECHANISMS),
            ordered=False,
            about="how tiles reach shared memory, and who multiplies them",
        ),
        *_tile_parameters(problem),
        *_copy_parameters(problem),
        *_hopper_parameters(),
        *_raster_parameters(),
    )


def _tile_parameters(problem: GemmProblem) -> tuple[Parameter, ...]:
    depths = (16, 32, 64) if problem.uses_tensor_cores else (8, 16, 32)
    return (
        Parameter("tile_m", (32, 64, 128, 192, 256), about="rows of C that a block computes"),
        Parameter("tile_n", tuple(range(16, 257, 16)), about="columns of C that a block computes"),
        Parameter("warp_m", (0, 16, 32, 64), about="rows of C that a warp computes"),
        Parameter("warp_n", (0, 32, 64), about="columns of C that a warp computes"),
        Parameter("tile_k", depths, about="values of k in one stage"),
    )


def _copy_parameters(problem: GemmProblem) -> tuple[Parameter, ...]:
    sizes = tuple(size for size in rules.COPY_SIZES if size >= problem.element_bytes)
    most = hopper.MOST_STAGES
    return (
        Parameter("stages", tuple(range(1, most + 1)), about="tiles that shared memory holds"),
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
        Parameter("cluster_m", (1, 2), about="blocks of a cluster that share a tile of B"),
        Parameter("cluster_n", (1, 2), about="blocks of a cluster that share a tile of A"),
        Parameter(
            "operands",
            ("given", "swapped"),
            ordered=False,
            about="whether the transpose of C is computed, so that few rows lie along N",
        ),
        Parameter("split_k", (1, 2, 4, 8), about="blocks that share the sums of a tile"),
        Parameter("l2_promotion", (0, 128, 256), about="bytes that a miss brings into L2"),
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
