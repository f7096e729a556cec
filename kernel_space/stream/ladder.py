"""The ladder of a stream: each way to keep memory busy, and what it adds to the last."""

from __future__ import annotations

from autotune.records import Config, Rung, Value
from kernel_space.stream.space import FIXED

OTHERS: dict[str, Value] = {
    "copy_bytes": 16,
    "thread_bytes": 32,
    "threads": 256,
    "eviction": "normal",
}
RUNGS: dict[str, tuple[dict[str, Value], str, str]] = {
    "direct": (
        {"blocks_per_sm": 0},
        "plain loads and stores, a block for each tile",
        "the start: only resident threads hide latency, with a load or two each",
    ),
    "sync1": (
        {"blocks_per_sm": 4},
        "blocks that stay, and one tile in shared memory with two barriers",
        "nothing is gained yet: copies and stores alternate, and the detour costs",
    ),
    "cp_async": (
        {"blocks_per_sm": 4, "stages": 4, "readers": "own"},
        "a ring of tiles, filled by asynchronous copies that are counted in batches",
        "bytes in flight take no registers, so that there can be more of them",
    ),
    "pipeline_mbarrier": (
        {"blocks_per_sm": 4, "stages": 4},
        "a pair of barriers in shared memory for each tile: full and empty",
        "any thread may read what another has copied, without a barrier of the block",
    ),
    "bulk": (
        {"blocks_per_sm": 2, "stages": 4, "thread_bytes": 64, "store": "bulk"},
        "one thread asks the copy engine for whole tiles, in and out",
        "no thread spends instructions on copies, and a request is a whole tile",
    ),
}


def stream_ladder() -> tuple[Rung, ...]:
    """Return a rung for each mechanism, with fewer resident blocks where those do not fit."""
    return tuple(
        Rung(
            name=mechanism,
            where={"mechanism": mechanism},
            preferred=tuple(
                Config({**OTHERS, **choice, **FIXED[mechanism], **smaller}, mechanism=mechanism)
                for smaller in ({}, {"blocks_per_sm": 2}, {"blocks_per_sm": 1})
            ),
            change=change,
            why=why,
        )
        for mechanism, (choice, change, why) in RUNGS.items()
    )
