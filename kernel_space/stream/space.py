"""The knobs of a stream, and the named rules between them."""

from __future__ import annotations

from autotune.records import Target, Value
from autotune.space import Constraint, Parameter, Space
from kernel_space.residency import RESERVED_SHARED_BYTES, resident_threads
from kernel_space.stream.plan import block_threads, shared_bytes
from kernel_space.stream.problem import StreamProblem

MECHANISMS = ("direct", "sync1", "cp_async", "pipeline_mbarrier", "bulk")
FIRST_CAPABILITY = {"cp_async": 80, "pipeline_mbarrier": 80, "bulk": 90}  # ten times it
FIXED: dict[str, dict[str, Value]] = {  # what a mechanism leaves no choice in
    "direct": {"stages": 1, "readers": "own", "store": "registers"},
    "sync1": {"stages": 1, "readers": "any", "store": "registers"},
    "cp_async": {"store": "registers"},
    "pipeline_mbarrier": {"readers": "any", "store": "registers"},
    "bulk": {"copy_bytes": 16, "readers": "any"},
}
OTHER_REGISTERS = 28  # of a thread, besides the pieces that it holds


def stream_space(problem: StreamProblem, target: Target) -> Space:
    """Return the parameters and constraints for ``problem`` on ``target``."""
    return Space(
        _parameters(),
        (
            *_no_choice(),
            _architecture(target),
            _one_tile(),
            _copy_size(),
            _shared_memory(problem, target),
            _resident_blocks(problem, target),
            _resident_threads(target),
            _registers(problem, target),
        ),
    )


def _parameters() -> tuple[Parameter, ...]:
    return (
        Parameter(
            "mechanism", MECHANISMS, ordered=False, about="how tiles reach the threads that compute"
        ),
        Parameter("stages", tuple(range(1, 9)), about="tiles that shared memory holds"),
        Parameter("blocks_per_sm", (0, 1, 2, 4, 8, 16), about="resident blocks; 0: one a tile"),
        Parameter("copy_bytes", (4, 8, 16), about="bytes that one copy instruction moves"),
        Parameter("thread_bytes", (4, 8, 16, 32, 64, 128), about="a thread's share of a tile"),
        Parameter("threads", (64, 128, 256, 512, 1024), about="threads of a block that compute"),
        Parameter(
            "readers", ("own", "any"), ordered=False, about="who may read what a thread has copied"
        ),
        Parameter(
            "eviction",
            ("normal", "first"),
            ordered=False,
            about="when L2 lets go of what is loaded and stored; of stores only by cp.async",
        ),
        Parameter(
            "store", ("registers", "bulk"), ordered=False, about="from where results are stored"
        ),
    )


def _no_choice() -> tuple[Constraint, ...]:
    return tuple(
        Constraint.fixed("no_choice", name, value).only_where("mechanism", (mechanism,))
        for mechanism, values in FIXED.items()
        for name, value in values.items()
    )


def _architecture(target: Target) -> Constraint:
    def broken(mechanism: str) -> str | None:
        first = FIRST_CAPABILITY.get(mechanism, 0)
        return (
            f"{mechanism} needs sm_{first}, not {target.arch}"
            if target.capability < first
            else None
        )

    return Constraint("architecture", broken)


def _one_tile() -> Constraint:
    """Return the rule that blocks of one tile have one stage: others would stay empty."""

    def broken(stages: int, blocks_per_sm: int) -> str | None:
        if blocks_per_sm == 0 and stages > 1:
            return f"a block that has one tile has nothing for {stages} stages"
        return None

    return Constraint("one_tile", broken)


def _copy_size() -> Constraint:
    def broken(copy_bytes: int, thread_bytes: int) -> str | None:
        if copy_bytes > thread_bytes:
            return f"a thread's share of {thread_bytes} bytes is less than a copy of {copy_bytes}"
        return None

    return Constraint("copy_size", broken)


def _shared_memory(problem: StreamProblem, target: Target) -> Constraint:
    """Return the rule that all stages fit into a block's shared memory."""
    most = target.shared_bytes_per_block

    def broken(mechanism: str, stages: int, thread_bytes: int, threads: int) -> str | None:
        need = shared_bytes(mechanism, stages, thread_bytes * threads * len(problem.inputs))
        return f"{stages} stages take {need} bytes, more than {most}" if need > most else None

    return Constraint("shared_memory", broken)


def _resident_blocks(problem: StreamProblem, target: Target) -> Constraint:
    """Return the rule that a multiprocessor has shared memory for all of its blocks."""
    most = target.shared_bytes_per_sm

    def broken(
        mechanism: str, stages: int, blocks_per_sm: int, thread_bytes: int, threads: int
    ) -> str | None:
        each = shared_bytes(mechanism, stages, thread_bytes * threads * len(problem.inputs))
        need = blocks_per_sm * (each + RESERVED_SHARED_BYTES)
        return (
            f"{blocks_per_sm} blocks take {need} bytes, more than {most}" if need > most else None
        )

    return Constraint("resident_blocks", broken)


def _resident_threads(target: Target) -> Constraint:
    """Return the rule that blocks and a multiprocessor may have so many threads."""
    most = resident_threads(target)

    def broken(mechanism: str, blocks_per_sm: int, threads: int) -> str | None:
        each = block_threads(mechanism, threads)
        if each > target.threads_per_block:
            return f"{each} threads in a block, more than {target.threads_per_block}"
        if blocks_per_sm * each > most:
            return f"{blocks_per_sm} blocks have {blocks_per_sm * each} threads, more than {most}"
        return None

    return Constraint("resident_threads", broken)


def _registers(problem: StreamProblem, target: Target) -> Constraint:
    """Return the rule that every resident thread can hold its share of a tile in registers."""

    def broken(mechanism: str, blocks_per_sm: int, thread_bytes: int, threads: int) -> str | None:
        count = max(blocks_per_sm, 1) * block_threads(mechanism, threads)
        need = thread_bytes // 4 * len(problem.inputs) + OTHER_REGISTERS
        most = target.registers_per_sm // count
        return f"{count} threads have {most} registers each, not {need}" if need > most else None

    return Constraint("registers", broken)
