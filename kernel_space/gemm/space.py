"""The knobs of a GEMM and the named rules between them."""

from __future__ import annotations

from autotune.records import Target
from autotune.space import Constraint, Parameter, Space
from kernel_space.gemm.config import WARP_LANES
from kernel_space.gemm.problem import GemmProblem
from kernel_space.gemm.registers import estimated_registers

MAX_THREADS = 512
MAX_PIECES = 64  # copies that one thread makes of a tile; they are unrolled
MAX_REGISTERS = 255  # of one thread, on every architecture
MIN_COPY_ASYNC_BYTES = 4
BUFFERS = {"sync1": 1, "sync2": 2}  # mechanisms whose number of stages is fixed


def gemm_space(problem: GemmProblem, target: Target) -> Space:
    """Return the parameters and constraints for ``problem`` on ``target``."""
    return Space(
        _parameters(problem),
        (
            *_tile_rules(problem, target),
            *_copy_rules(problem),
            _registers(problem, target),
            _raster(problem),
        ),
    )


def _parameters(problem: GemmProblem) -> tuple[Parameter, ...]:
    narrow = problem.element_bytes
    depths = (16, 32, 64) if problem.uses_tensor_cores else (8, 16, 32)
    return (
        Parameter("tile_m", (32, 64, 128, 256), about="rows of C that a block computes"),
        Parameter("tile_n", (32, 64, 128, 256), about="columns of C that a block computes"),
        Parameter("warp_m", (16, 32, 64, 128), about="rows of C that a warp computes"),
        Parameter("warp_n", (32, 64, 128), about="columns of C that a warp computes"),
        Parameter("tile_k", depths, about="values of k in one stage"),
        Parameter(
            "mechanism",
            ("sync1", "sync2", "cp_async"),
            ordered=False,
            about="how tiles reach shared memory: one buffer, two buffers, a ring of copies",
        ),
        Parameter("stages", (1, 2, 3, 4, 5, 6, 7, 8), about="tiles held in shared memory"),
        Parameter(
            "copy_bytes",
            tuple(size for size in (2, 4, 8, 16) if size >= narrow),
            about="bytes that one copy instruction moves",
        ),
        Parameter(
            "cache",
            ("l1", "bypass"),
            ordered=False,
            about="whether asynchronous copies leave their bytes in L1",
        ),
        Parameter(
            "raster",
            ("along_m", "along_n"),
            ordered=False,
            about="direction in which blocks run through C",
        ),
        Parameter("raster_group", (1, 4, 8), about="tiles across that run side by side"),
    )


def _tile_rules(problem: GemmProblem, target: Target) -> tuple[Constraint, ...]:
    size = problem.element_bytes

    def warp_tile_m(tile_m: int, warp_m: int) -> str | None:
        if warp_m > tile_m:
            return f"a warp of {warp_m} rows is taller than the block's {tile_m}"
        return None

    def warp_tile_n(tile_n: int, warp_n: int) -> str | None:
        if warp_n > tile_n:
            return f"a warp of {warp_n} columns is wider than the block's {tile_n}"
        return None

    def threads(tile_m: int, tile_n: int, warp_m: int, warp_n: int) -> str | None:
        count = _threads(tile_m, tile_n, warp_m, warp_n)
        most = min(MAX_THREADS, target.threads_per_block)
        if count > most:
            return f"{count // WARP_LANES} warps are {count} threads, more than {most}"
        if count < 2 * WARP_LANES:
            return "a block of one warp has nothing to run while that warp waits"
        return None

    def shared_memory(tile_m: int, tile_n: int, tile_k: int, stages: int) -> str | None:
        need = stages * (tile_m + tile_n) * tile_k * size
        most = target.shared_bytes_per_block
        if need > most:
            return f"{stages} stages of {need // stages} bytes are {need}, more than {most}"
        return None

    def stages(mechanism: str, stages: int) -> str | None:
        fixed = BUFFERS.get(mechanism, stages)
        if stages != fixed:
            return f"{mechanism} has {fixed} buffers in shared memory, not {stages}"
        return None

    return (
        Constraint("warp_tile", warp_tile_m),
        Constraint("warp_tile", warp_tile_n),
        Constraint("threads", threads),
        Constraint("stages", stages),
        Constraint("shared_memory", shared_memory),
    )


def _copy_rules(problem: GemmProblem) -> tuple[Constraint, ...]:
    size = problem.element_bytes
    widest = widest_copy_bytes(problem)

    def alignment(copy_bytes: int) -> str | None:
        for field in problem.row_fields:
            row_bytes = getattr(problem, field) * size
            if row_bytes % copy_bytes:
                return f"rows of {field} are {row_bytes} bytes, not a multiple of {copy_bytes}"
        return None

    def copy_size(mechanism: str, copy_bytes: int) -> str | None:
        if mechanism == "cp_async" and copy_bytes < MIN_COPY_ASYNC_BYTES:
            return f"cp.async moves 4, 8 or 16 bytes, not {copy_bytes}"
        if copy_bytes < MIN_COPY_ASYNC_BYTES <= widest:
            return f"{copy_bytes}-byte loads are for odd rows; here {widest} bytes fit"
        return None

    def cache(mechanism: str, copy_bytes: int, cache: str) -> str | None:
        if cache == "bypass" and mechanism != "cp_async":
            return f"{mechanism} copies through registers: nothing to bypass"
        if cache == "bypass" and copy_bytes != 16:
            return f"only 16-byte copies can bypass L1, not {copy_bytes}-byte ones"
        return None

    def divisibility(
        tile_m: int, tile_n: int, warp_m: int, warp_n: int, tile_k: int, copy_bytes: int
    ) -> str | None:
        each = _threads(tile_m, tile_n, warp_m, warp_n) * copy_bytes
        for name, extent in (("A", tile_m), ("B", tile_n)):
            tile_bytes = extent * tile_k * size
            if tile_bytes % each:
                return f"a tile of {name} is {tile_bytes} bytes; all threads copy {each} at once"
            if tile_bytes // each > MAX_PIECES:
                return f"{tile_bytes // each} copies of {name} for each thread and tile"
        return None

    return (
        Constraint("alignment", alignment),
        Constraint("copy_size", copy_size),
        Constraint("cache", cache),
        Constraint("divisibility", divisibility),
    )


def _registers(problem: GemmProblem, target: Target) -> Constraint:
    def registers(
        tile_m: int,
        tile_n: int,
        warp_m: int,
        warp_n: int,
        tile_k: int,
        mechanism: str,
        copy_bytes: int,
    ) -> str | None:
        threads = _threads(tile_m, tile_n, warp_m, warp_n)
        copied = (tile_m + tile_n) * tile_k * problem.element_bytes // threads
        need = estimated_registers(
            problem, warp=(warp_m, warp_n), mechanism=mechanism, copied=copied, piece=copy_bytes
        )
        most = min(MAX_REGISTERS, target.registers_per_sm // threads)
        if need > most:
            return f"{threads} threads have {most} registers each and need about {need}"
        return None

    return Constraint("registers", registers)


def _raster(problem: GemmProblem) -> Constraint:
    def raster(tile_m: int, tile_n: int, raster: str, raster_group: int) -> str | None:
        across, extent = (tile_n, problem.n) if raster == "along_m" else (tile_m, problem.m)
        tiles = max(1, -(-extent // across))
        if raster_group > tiles:
            return f"a band of {raster_group} tiles is wider than the grid of {tiles}"
        return None

    return Constraint("raster", raster)


def widest_copy_bytes(problem: GemmProblem) -> int:
    """Return the widest copy that every row of A and B of ``problem`` allows, in bytes."""
    rows = [getattr(problem, field) * problem.element_bytes for field in problem.row_fields]
    return next(size for size in (16, 8, 4, 2) if all(row % size == 0 for row in rows))


def _threads(tile_m: int, tile_n: int, warp_m: int, warp_n: int) -> int:
    return tile_m // warp_m * (tile_n // warp_n) * WARP_LANES
