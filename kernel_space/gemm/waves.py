"""How blocks go through C, wave by wave, and what each wave takes from memory."""

from __future__ import annotations

from typing import NamedTuple

from kernel_space.gemm.problem import GemmProblem

EPILOGUE_BYTES_PER_CLK = 11  # of C, from one multiprocessor; fitted on an H200: 9 to 13


class Front(NamedTuple):
    """What of C the device works on at a time.

    Attributes:
        tile_m: Rows of C that a block computes.
        tile_n: Columns of C that a block computes.
        tiles: How many blocks compute a tile each.
    """

    tile_m: int
    tile_n: int
    tiles: int


class Waves(NamedTuple):
    """What a family of mechanisms makes of a config.

    Attributes:
        clk: Clocks that the busiest multiprocessor works.
        front: What goes through C, wave by wave.
    """

    clk: float
    front: Front


def memory_bytes(
    problem: GemmProblem, front: Front, l2_bytes: int, *, along_m: bool, group: int
) -> float:
    """Return the bytes that go through device memory.

    While A and B fit the L2 cache each matrix goes once. Else each wave reads anew the rows of
    A and the columns of B that it touches: ``group`` tiles across a band that runs along M or
    N, and as many along it as there are blocks. (No recorded problem exceeds the cache: this
    part follows from geometry and is not measured.)
    """
    m, n, k, each = problem.m, problem.n, problem.k, problem.element_bytes
    once, written = (m + n) * k * each, m * n * problem.result_bytes
    if once <= l2_bytes:
        return once + written
    long = -(-front.tiles // group)
    tiles_m, tiles_n = (long, group) if along_m else (group, long)
    touched = min(tiles_m * front.tile_m, m) + min(tiles_n * front.tile_n, n)
    count = m * n / (front.tile_m * front.tile_n * front.tiles)
    return max(once, count * touched * k * each) + written
