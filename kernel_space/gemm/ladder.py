"""The ladder of a GEMM: each way to hide the latency of memory, and what it adds to the last.

A rung prefers the shape that suits its mechanism on large products, then ones that fit more
devices and smaller registers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from autotune.records import Config, Rung
from kernel_space.gemm import ampere, hopper
from kernel_space.gemm.ampere.rules import BYPASS_BYTES, MIN_ASYNC_BYTES, widest_copy_bytes
from kernel_space.gemm.problem import GemmProblem

Shape = tuple[int, int, int, int, int]  # tile_m, tile_n, tile_k, warp_m, warp_n


class _Threads(NamedTuple):
    """What a mechanism whose threads copy is shown with: barriers and stages, best first."""

    stages: Sequence[int]
    barriers: int = 0
    shape: Shape = (128, 256, 32, 64, 64)
    asynchronous: bool = True


class _Engine(NamedTuple):
    """What a mechanism of the copy engine is shown with."""

    tile_m: int
    tile_n: int
    cluster_m: int = 1


RUNGS: dict[str, tuple[_Threads | _Engine, str, str]] = {
    "sync1": (
        _Threads((1,), shape=(128, 128, 64, 64, 64), asynchronous=False),
        "one tile in shared memory, filled through registers, two barriers",
        "the start: the block either copies or multiplies, and all of it waits twice a tile",
    ),
    "sync2_smem": (
        _Threads((2,), shape=(128, 256, 64, 64, 64), asynchronous=False),
        "a second tile in shared memory",
        "the next tile is on its way while this one is multiplied, and one barrier goes",
    ),
    "sync2": (
        _Threads((2,), shape=(128, 256, 64, 64, 64), asynchronous=False),
        "a second set of fragments in registers",
        "tensor cores do not wait for shared memory: what comes next is read while they work",
    ),
    "cg_memcpy_async": (
        _Threads((1,), shape=(128, 128, 64, 64, 64)),
        "cooperative_groups::memcpy_async and its wait in place of loads, stores and a barrier",
        "bytes go straight to shared memory and leave registers free; nothing overlaps yet",
    ),
    "cp_async": (
        _Threads((4, 3, 2), barriers=2),
        "a ring of tiles, filled by asynchronous copies that are counted in batches",
        "several tiles are on their way at once: enough bytes to cover the latency of memory",
    ),
    "pipeline_thread": (
        _Threads((4, 3, 2), barriers=2),
        "the same ring in the words of cuda::pipeline, each thread for itself",
        "the four hand-overs have names; they compile to the same counters, so speed is alike",
    ),
    "pipeline_block": (
        _Threads((4, 3, 2)),
        "cuda::pipeline for the whole block, whose threads are producers or consumers",
        "roles are told apart in the source; the library's bookkeeping has its price",
    ),
    "mbarrier": (
        _Threads((4, 3, 2)),
        "a pair of barriers in shared memory for each tile: full and empty",
        "a tile is waited for by itself; no barrier of the block is left, so warps may drift apart",
    ),
    "ws_cp_async": (
        _Threads((4, 3, 2)),
        "warps of their own copy",
        "the warps that multiply compute no addresses and start no copies",
    ),
    "tma": (
        _Engine(256, 176),
        "one thread asks the copy engine for whole tiles; groups of four warps multiply",
        "no registers or instructions go to copies, and operands come from shared memory itself",
    ),
    "ws_basic": (
        _Engine(128, 128),
        "a warp group that only asks for tiles, and one that only multiplies",
        "the ring is refilled while products run: nobody stops to ask",
    ),
    "ws_cooperative": (
        _Engine(128, 256, cluster_m=2),
        "two groups share a larger tile, two blocks each other's copies",
        "a larger tile needs fewer bytes from L2 for each product, and shared copies fewer still",
    ),
    "ws_pingpong": (
        _Engine(128, 128),
        "two groups take tiles in turn instead of sharing one",
        "one stores its tile while the other multiplies, which counts most where k is small",
    ),
}
OTHER_SHAPES: tuple[Shape, ...] = ((128, 128, 32, 64, 32), (64, 64, 32, 32, 32))
FP32_SHAPES: tuple[Shape, ...] = ((128, 128, 16, 64, 32), (64, 64, 8, 32, 32))


def gemm_ladder(problem: GemmProblem, default: Config) -> tuple[Rung, ...]:
    """Return a rung for each mechanism, whether or not ``problem`` can use it.

    Args:
        problem: What is computed.
        default: The kernel's default for it: what a rung does not speak of is as it is there.
    """
    return tuple(
        Rung(
            name=mechanism,
            where={"mechanism": mechanism},
            preferred=tuple(
                _by_threads(problem, mechanism, how)
                if isinstance(how, _Threads)
                else _by_engine(problem, default, mechanism, how)
            ),
            change=change,
            why=why,
        )
        for mechanism, (how, change, why) in RUNGS.items()
    )


def _by_threads(problem: GemmProblem, mechanism: str, how: _Threads) -> Iterator[Config]:
    copy_bytes = widest_copy_bytes(problem)
    if how.asynchronous:
        copy_bytes = max(copy_bytes, MIN_ASYNC_BYTES)
    bypass = how.asynchronous and copy_bytes == BYPASS_BYTES
    shapes = (how.shape, *OTHER_SHAPES) if problem.uses_tensor_cores else FP32_SHAPES
    for shape, stages, group in itertools.product(shapes, how.stages, (4, 1)):
        tile_m, tile_n, tile_k, warp_m, warp_n = shape
        yield ampere.default(problem).replace(
            mechanism=mechanism,
            tile_m=tile_m,
            tile_n=tile_n,
            tile_k=tile_k,
            warp_m=warp_m,
            warp_n=warp_n,
            stages=stages,
            barriers=how.barriers,
            copy_bytes=copy_bytes,
            cache="bypass" if bypass else "l1",
            raster="along_m",
            raster_group=group,
        )


def _by_engine(
    problem: GemmProblem, default: Config, mechanism: str, how: _Engine
) -> Iterator[Config]:
    """Yield configs with as many stages as fit."""
    tiles = dict.fromkeys((how, how._replace(cluster_m=1), _Engine(128, 128), _Engine(64, 64)))
    for tile, group, stages in itertools.product(tiles, (8, 1), range(hopper.MOST_STAGES, 1, -1)):
        yield default.replace(
            **hopper.fixed(problem),
            mechanism=mechanism,
            tile_m=tile.tile_m,
            tile_n=tile.tile_n,
            cluster_m=tile.cluster_m,
            in_flight=hopper.IN_FLIGHT[mechanism][-1],
            stages=stages,
            raster_group=group,
        )
