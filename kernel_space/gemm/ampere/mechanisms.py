"""What sets one mechanism of this family apart from the others, in one table."""

from __future__ import annotations

from dataclasses import dataclass

WARP_LANES = 32
MAX_STAGES = 8
PRODUCERS = 128  # threads of a warp group, where copying is a task of its own
MBARRIER_BYTES = 16  # of one stage: full and empty
PIPELINE_BYTES = 24  # of one stage in a cuda::pipeline: the same, and a share of its count of users


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """How one mechanism uses threads, shared memory and registers.

    Attributes:
        stages: The numbers of tiles that it can hold in shared memory.
        barriers: Barriers of the whole block in each round, where that is a choice; else 0.
        asynchronous: True if copies pass no register on their way.
        every_copy: True if copies may be narrower than rows allow, and pass L1 or not; else
            they are as wide as can be, and bypass L1 if they can.
        fragment_sets: Register sets of fragments: with 2, one is loaded ahead.
        producers: Threads that only copy; with 0, those that multiply copy, too.
        stage_extra_bytes: Shared memory that a stage takes beside its tiles.
        includes: Headers of NVIDIA's C++ libraries that it is written with.
        tensor_overhead: Registers for addresses and counters, and for a compiler that loads
            early, where tensor cores multiply.
        ffma_overhead: The same where CUDA cores do.
    """

    stages: tuple[int, ...]
    barriers: tuple[int, ...] = (0,)
    asynchronous: bool = True
    every_copy: bool = False
    fragment_sets: int = 2
    producers: int = 0
    stage_extra_bytes: int = 0
    includes: tuple[str, ...] = ()
    tensor_overhead: int
    ffma_overhead: int


_RING = tuple(range(1, MAX_STAGES + 1))
TRAITS = {
    "sync1": Traits(
        stages=(1,),
        asynchronous=False,
        every_copy=True,
        fragment_sets=1,
        tensor_overhead=24,
        ffma_overhead=32,
    ),
    "sync2_smem": Traits(
        stages=(2,), asynchronous=False, fragment_sets=1, tensor_overhead=40, ffma_overhead=32
    ),
    "sync2": Traits(
        stages=(2,), asynchronous=False, every_copy=True, tensor_overhead=8, ffma_overhead=32
    ),
    "cg_memcpy_async": Traits(
        stages=(1,),
        every_copy=True,
        fragment_sets=1,
        includes=("cooperative_groups/memcpy_async.h",),
        tensor_overhead=24,
        ffma_overhead=40,
    ),
    "cp_async": Traits(
        stages=_RING, barriers=(1, 2), every_copy=True, tensor_overhead=24, ffma_overhead=40
    ),
    "pipeline_thread": Traits(
        stages=_RING,
        barriers=(1, 2),
        includes=("cuda/pipeline",),
        tensor_overhead=24,
        ffma_overhead=40,
    ),
    "pipeline_block": Traits(
        stages=_RING[1:],
        producers=PRODUCERS,
        stage_extra_bytes=PIPELINE_BYTES,
        includes=("cooperative_groups.h", "cuda/pipeline"),
        tensor_overhead=24,
        ffma_overhead=40,
    ),
    "mbarrier": Traits(
        stages=_RING[1:], stage_extra_bytes=MBARRIER_BYTES, tensor_overhead=24, ffma_overhead=40
    ),
    "ws_cp_async": Traits(
        stages=_RING[1:],
        producers=PRODUCERS,
        stage_extra_bytes=MBARRIER_BYTES,
        tensor_overhead=24,
        ffma_overhead=80,
    ),
}
MECHANISMS = tuple(TRAITS)
