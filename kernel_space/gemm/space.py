"""The knobs of a GEMM, and the order in which its rules are checked."""

from __future__ import annotations

from autotune.records import Target
from autotune.space import Parameter, Space
from kernel_space.gemm import rules
from kernel_space.gemm.problem import GemmProblem


def gemm_space(problem: GemmProblem, target: Target) -> Space:
    """Return the parameters and constraints for ``problem`` on ``target``."""
    return Space(
        _parameters(problem),
        (
            *rules.warp_tile(),
            rules.threads(target),
            rules.stages(),
            rules.shared_memory(problem, target),
            rules.alignment(problem),
            rules.copy_size(problem),
            rules.cache(),
            rules.divisibility(problem),
            rules.registers(problem, target),
            rules.raster(problem),
        ),
    )


def _parameters(problem: GemmProblem) -> tuple[Parameter, ...]:
    """Return every parameter, tiles first: most rules need them."""
    return (*_tile_parameters(problem), *_copy_parameters(problem), *_raster_parameters())


def _tile_parameters(problem: GemmProblem) -> tuple[Parameter, ...]:
    depths = (16, 32, 64) if problem.uses_tensor_cores else (8, 16, 32)
    return (
        Parameter("tile_m", (32, 64, 128, 256), about="rows of C that a block computes"),
        Parameter("tile_n", (32, 64, 128, 256), about="columns of C that a block computes"),
        Parameter("warp_m", (16, 32, 64), about="rows of C that a warp computes"),
        Parameter("warp_n", (32, 64), about="columns of C that a warp computes"),
        Parameter("tile_k", depths, about="values of k in one stage"),
    )


def _copy_parameters(problem: GemmProblem) -> tuple[Parameter, ...]:
    sizes = tuple(size for size in rules.COPY_SIZES if size >= problem.element_bytes)
    return (
        Parameter(
            "mechanism",
            rules.MECHANISMS,
            ordered=False,
            about="how tiles reach shared memory: one buffer, two buffers, a ring of copies",
        ),
        Parameter("stages", tuple(range(1, 9)), about="tiles that shared memory holds"),
        Parameter("copy_bytes", sizes, about="bytes that one copy instruction moves"),
        Parameter(
            "cache",
            ("l1", "bypass"),
            ordered=False,
            about="whether asynchronous copies leave their bytes in L1",
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
