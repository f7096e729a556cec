"""The named rules of the GEMM space. Each says why a config breaks it, in numbers.

A rule that no device could keep (a copy that does not divide, say) and a rule that only saves
time (a band of blocks wider than the grid) look alike here: both remove a config before it is
compiled, under a name that is counted.
"""

from __future__ import annotations

from autotune.records import Target, Value
from autotune.space import Constraint
from kernel_space.gemm.ampere.mechanisms import MECHANISMS, TRAITS, WARP_LANES
from kernel_space.gemm.ampere.registers import estimated_registers
from kernel_space.gemm.problem import GemmProblem

FIXED: dict[str, Value] = {  # knobs of tensor copies, switched off: these mechanisms lack them
    "cluster_m": 1,
    "cluster_n": 1,
    "in_flight": 0,
    "operands": "given",
    "split_k": 1,
    "l2_promotion": 0,
    "keep": "neither",
    "epilogue": "direct",
    "repack": "none",
}
BLOCK_TILES = (32, 64, 128, 256)
LIBRARY_SHAPES = (  # of a block's tile and a warp's
    (64, 64, 32, 32),
    (128, 128, 64, 32),
    (128, 128, 64, 64),
    (128, 256, 64, 64),
)
COPY_SIZES = (2, 4, 8, 16)
MIN_ASYNC_BYTES = 4
BYPASS_BYTES = 16
TENSOR_STEP, FFMA_STEP = 16, 4  # values of k that are multiplied at a time
MAX_THREADS = 512
MAX_REGISTERS = 255  # of one thread, on every architecture
REGISTER_GRAIN = 8  # registers of a thread are given out in such lots
MAX_COPIES = 64  # of one thread and tile; they are unrolled


def ampere_rules(problem: GemmProblem, target: Target) -> tuple[Constraint, ...]:
    """Return the constraints of the mechanisms whose threads copy and whose warps multiply."""
    rules = (
        elements(problem),
        *(Constraint.fixed("no_choice", name, value) for name, value in FIXED.items()),
        *block_tile(),
        *warp_tile(),
        library_shapes(),
        fragments(problem),
        threads(target),
        stages(problem),
        barriers(),
        shared_memory(problem, target),
        alignment(problem),
        copy_size(problem),
        cache(),
        divisibility(problem),
        registers(problem, target),
    )
    return tuple(rule.only_where("mechanism", MECHANISMS) for rule in rules)


def unavailable(problem: GemmProblem) -> str | None:
    """Return why no mechanism of this family can run ``problem``, or None."""
    if problem.input_dtype == "e4m3":
        return "warps multiply bf16, fp16 and fp32; e4m3 is left to warp groups"
    return None


def elements(problem: GemmProblem) -> Constraint:
    """Return the rule that there are products of such elements."""
    reason = unavailable(problem)

    def broken(mechanism: str) -> str | None:
        del mechanism
        return reason

    return Constraint("elements", broken)


def block_tile() -> tuple[Constraint, Constraint]:
    """Return the rules that a block's tile is a power of two that swizzled rows divide."""

    def rows(tile_m: int) -> str | None:
        return None if tile_m in BLOCK_TILES else f"{tile_m} rows are not a power of two from 32"

    def columns(tile_n: int) -> str | None:
        return None if tile_n in BLOCK_TILES else f"{tile_n} columns are not a power of two from 32"

    return Constraint("block_tile", rows), Constraint("block_tile", columns)


def warp_tile() -> tuple[Constraint, Constraint]:
    """Return the rules that a warp's tile fits the block's."""

    def rows(tile_m: int, warp_m: int) -> str | None:
        if warp_m == 0:
            return "every warp needs a tile of its own"
        if warp_m > tile_m:
            return f"a warp of {warp_m} rows is taller than the block's {tile_m}"
        return None

    def columns(tile_n: int, warp_n: int) -> str | None:
        if warp_n == 0:
            return "every warp needs a tile of its own"
        if warp_n > tile_n:
            return f"a warp of {warp_n} columns is wider than the block's {tile_n}"
        return None

    return Constraint("warp_tile", rows), Constraint("warp_tile", columns)


def library_shapes() -> Constraint:
    """Return the rule that what takes seconds to compile is tried with a few shapes only."""

    def broken(mechanism: str, tile_m: int, tile_n: int, warp_m: int, warp_n: int) -> str | None:
        shape = (tile_m, tile_n, warp_m, warp_n)
        if TRAITS[mechanism].includes and shape not in LIBRARY_SHAPES:
            return (
                f"libraries are slow to compile, so {mechanism} has {len(LIBRARY_SHAPES)} shapes; "
                f"{tile_m}x{tile_n} by warps of {warp_m}x{warp_n} is none of them"
            )
        return None

    return Constraint("library_shapes", broken)


def fragments(problem: GemmProblem) -> Constraint:
    """Return the rule that a second set of fragments has a step of the same tile to hold."""
    step = TENSOR_STEP if problem.uses_tensor_cores else FFMA_STEP

    def broken(mechanism: str, tile_k: int) -> str | None:
        steps, sets = tile_k // step, TRAITS[mechanism].fragment_sets
        if steps < sets:
            return f"{mechanism} loads fragments ahead, but a tile of {tile_k} is {steps} step"
        return None

    return Constraint("fragments", broken)


def threads(target: Target) -> Constraint:
    """Return the rule that a block has a sensible number of threads."""
    most = min(MAX_THREADS, target.threads_per_block)

    def broken(mechanism: str, tile_m: int, tile_n: int, warp_m: int, warp_n: int) -> str | None:
        multiplying = _multiplying(tile_m, tile_n, warp_m, warp_n)
        count = multiplying + TRAITS[mechanism].producers
        if count > most:
            return f"{count // WARP_LANES} warps are {count} threads, more than {most}"
        if multiplying == WARP_LANES:
            return "while the only warp that multiplies waits, nothing else runs"
        return None

    return Constraint("threads", broken)


def stages(problem: GemmProblem) -> Constraint:
    """Return the rule that the number of buffers is the mechanism's own."""

    def broken(mechanism: str, stages: int) -> str | None:
        allowed = TRAITS[mechanism].stages
        if stages not in allowed:
            some = " to ".join(map(str, dict.fromkeys((allowed[0], allowed[-1]))))
            return f"{mechanism} holds {some} in shared memory, not {stages}"
        if stages == 1 < allowed[-1] and not problem.uses_tensor_cores:
            return "in a ring of one every address is a constant, too many for CUDA cores' code"
        return None

    return Constraint("stages", broken)


def barriers() -> Constraint:
    """Return the rule that only rings of batches choose how many barriers a round has."""

    def broken(mechanism: str, stages: int, barriers: int) -> str | None:
        allowed = TRAITS[mechanism].barriers
        if barriers not in allowed:
            return f"{mechanism} has {' or '.join(map(str, allowed))} here, not {barriers}"
        if barriers == 1 and stages == 1:
            return "with one barrier a round fills the stage of the round before; that takes two"
        return None

    return Constraint("barriers", broken)


def shared_memory(problem: GemmProblem, target: Target) -> Constraint:
    """Return the rule that all stages fit into a block's shared memory."""
    most = target.shared_bytes_per_block

    def broken(mechanism: str, tile_m: int, tile_n: int, tile_k: int, stages: int) -> str | None:
        tiles = (tile_m + tile_n) * tile_k * problem.element_bytes
        stage = tiles + TRAITS[mechanism].stage_extra_bytes
        if stages * stage > most:
            return f"{stages} stages of {stage} bytes are {stages * stage}, more than {most}"
        return None

    return Constraint("shared_memory", broken)


def alignment(problem: GemmProblem) -> Constraint:
    """Return the rule that rows of A and B, as stored, are whole numbers of copies."""
    rows = {name: problem.row_bytes(name) for name in problem.row_fields}

    def broken(copy_bytes: int) -> str | None:
        for field, row_bytes in rows.items():
            if row_bytes % copy_bytes:
                return f"rows along {field} are {row_bytes} bytes, not a multiple of {copy_bytes}"
        return None

    return Constraint("alignment", broken)


def copy_size(problem: GemmProblem) -> Constraint:
    """Return the rule that the mechanism can copy so few bytes at a time, and should."""
    widest = widest_copy_bytes(problem)

    def broken(mechanism: str, barriers: int, copy_bytes: int) -> str | None:
        if TRAITS[mechanism].asynchronous and copy_bytes < MIN_ASYNC_BYTES:
            return f"cp.async moves 4, 8 or 16 bytes, not {copy_bytes}"
        if copy_bytes < widest and not _every_copy(mechanism, barriers):
            return f"narrower copies are tried elsewhere; these rows allow {widest} bytes"
        if copy_bytes < MIN_ASYNC_BYTES <= widest:
            return f"{copy_bytes}-byte loads are for odd rows; these allow {widest} bytes"
        return None

    return Constraint("copy_size", broken)


def cache() -> Constraint:
    """Return the rule that only wide asynchronous copies choose a cache mode."""

    def broken(mechanism: str, barriers: int, copy_bytes: int, cache: str) -> str | None:
        if cache == "bypass" and not TRAITS[mechanism].asynchronous:
            return f"{mechanism} copies through registers; only asynchronous copies bypass L1"
        if cache == "bypass" and copy_bytes != BYPASS_BYTES:
            return f"only {BYPASS_BYTES}-byte copies can bypass L1, not {copy_bytes}-byte ones"
        if cache == "l1" and copy_bytes == BYPASS_BYTES and TRAITS[mechanism].includes:
            return f"libraries let {BYPASS_BYTES}-byte copies bypass L1"
        could = TRAITS[mechanism].asynchronous and copy_bytes == BYPASS_BYTES
        if cache == "l1" and could and not _every_copy(mechanism, barriers):
            return f"{BYPASS_BYTES}-byte copies through L1 are tried elsewhere"
        return None

    return Constraint("cache", broken)


def divisibility(problem: GemmProblem) -> Constraint:
    """Return the rule that all who copy make equally many copies of each tile, not too many."""

    def broken(  # threads, and what they copy
        mechanism: str,
        tile_m: int,
        tile_n: int,
        warp_m: int,
        warp_n: int,
        tile_k: int,
        copy_bytes: int,
    ) -> str | None:
        count = _copying(mechanism, (tile_m, tile_n), (warp_m, warp_n))
        at_once = count * copy_bytes
        for name, extent in (("A", tile_m), ("B", tile_n)):
            tile_bytes = extent * tile_k * problem.element_bytes
            if tile_bytes % at_once:
                return (
                    f"{count} threads copy {at_once} bytes at once; "
                    f"a tile of {name} is {tile_bytes}"
                )
            if tile_bytes > at_once * MAX_COPIES:
                return f"{tile_bytes // at_once} copies of {name} for each thread and tile"
        return None

    return Constraint("divisibility", broken)


def registers(problem: GemmProblem, target: Target) -> Constraint:
    """Return the rule that nothing is likely to spill."""

    def broken(  # all that decides how many values a thread holds
        tile_m: int,
        tile_n: int,
        warp_m: int,
        warp_n: int,
        tile_k: int,
        mechanism: str,
        copy_bytes: int,
    ) -> str | None:
        copying = _copying(mechanism, (tile_m, tile_n), (warp_m, warp_n))
        copied = (tile_m + tile_n) * tile_k * problem.element_bytes // copying
        need = estimated_registers(
            problem, warp=(warp_m, warp_n), mechanism=mechanism, copied=copied, piece=copy_bytes
        )
        count = _multiplying(tile_m, tile_n, warp_m, warp_n) + TRAITS[mechanism].producers
        each = target.registers_per_sm // count
        most = min(MAX_REGISTERS, each - each % REGISTER_GRAIN)
        if need > most:
            return f"{count} threads have {most} registers each and need about {need}"
        return None

    return Constraint("registers", broken)


def widest_copy_bytes(problem: GemmProblem) -> int:
    """Return the widest copy that divides every row of A and B, in bytes."""
    rows = [problem.row_bytes(name) for name in problem.row_fields]
    return next(size for size in reversed(COPY_SIZES) if all(row % size == 0 for row in rows))


def _every_copy(mechanism: str, barriers: int) -> bool:
    """Return whether this is where the ways to copy are compared: one form of a ring is enough."""
    return TRAITS[mechanism].every_copy and barriers != 1


def _multiplying(tile_m: int, tile_n: int, warp_m: int, warp_n: int) -> int:
    return tile_m // warp_m * (tile_n // warp_n) * WARP_LANES


def _copying(mechanism: str, tile: tuple[int, int], warp: tuple[int, int]) -> int:
    return TRAITS[mechanism].producers or _multiplying(*tile, *warp)
