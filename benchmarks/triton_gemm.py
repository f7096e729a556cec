"""Launch the Triton kernels of ``triton_kernels.py``, cut up in each way worth trying.

Ways are chosen by class of shape: few rows, rows that TMA cannot address, and the rest. Extents
are arguments that the compiler does not look at, so that all shapes of a class share binaries.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import torch
import triton
from harness import Arm
from triton.tools.tensor_descriptor import TensorDescriptor
from triton_kernels import by_pointers, by_tma

from kernel_space.gemm import GemmProblem

SHARED_BYTES = 227 << 10
REGISTERS = 1 << 16
OTHER_REGISTERS = 96  # of a thread, beside its sums
TMA_BYTES = 16  # TMA addresses rows that begin at multiples of this
WIDEST_UNIT = 8
Buffers = Mapping[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class Blocks:
    """How a product is cut up.

    Attributes:
        bm: Rows of C in a tile.
        bn: Columns of C in a tile.
        bk: Values of k in a stage.
        stages: Stages of a tile's loads.
        warps: Warps of a program.
        halves: Whether a tile is stored in two halves (TMA only).
        flat: Whether the loops over tiles and k are one, so that loads run ahead (TMA only).
        band: Rows of tiles in a band.
    """

    bm: int
    bn: int
    bk: int
    stages: int
    warps: int
    halves: bool = False
    flat: bool = True
    band: int = 8

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a program for 16-bit elements, about."""
        waiting = self.bm * self.bn // (2 if self.halves else 1)
        return 2 * (self.stages * (self.bm + self.bn) * self.bk + waiting)

    def programs(self, multiprocessors: int) -> int:
        """Return how many programs the device holds at a time, about."""
        registers = self.bm * self.bn + OTHER_REGISTERS * 32 * self.warps
        return multiprocessors * max(
            1, min(SHARED_BYTES // self.shared_bytes, REGISTERS // registers)
        )


_WIDE = [
    *(
        Blocks(128, 256, 64, 3, 8, halves, flat)
        for halves in (False, True)
        for flat in (False, True)
    ),
    *(Blocks(128, 256, 64, 4, 8, True, flat) for flat in (False, True)),
    Blocks(128, 256, 64, 4, 8, halves=True, band=16),
    *(Blocks(256, 128, 64, stages, 8, halves=True) for stages in (3, 4)),
    *(Blocks(128, 128, 64, 4, warps, flat=flat) for warps in (4, 8) for flat in (False, True)),
    Blocks(128, 128, 64, 5, 8, halves=True),
    Blocks(128, 128, 128, 3, 8, halves=True),
    Blocks(64, 256, 64, 4, 4),
    *(Blocks(128, 64, 64, stages, 4) for stages in (4, 6)),
    Blocks(128, 64, 128, 3, 4),
    *(Blocks(64, 128, 64, stages, 4) for stages in (4, 6)),
    Blocks(64, 128, 128, 4, 4),
    *(Blocks(64, 64, 128, 4, 4, flat=flat) for flat in (False, True)),
    Blocks(64, 64, 64, 6, 4),
]
_POINTERS = [
    Blocks(128, 256, 64, 3, 8),
    Blocks(256, 128, 64, 3, 8),
    *(Blocks(128, 128, bk, stages, 8) for bk, stages in ((64, 3), (64, 4), (32, 5))),
    *(Blocks(128, 128, bk, stages, 4) for bk, stages in ((64, 3), (32, 4))),
    *(Blocks(128, 64, 64, stages, 4) for stages in (3, 5)),
    *(Blocks(64, 128, 64, stages, 4) for stages in (3, 5)),
    *(Blocks(64, 64, 64, stages, 4) for stages in (4, 6)),
    Blocks(64, 64, 128, 3, 4),
    Blocks(64, 32, 128, 4, 4),
]


def candidates(problem: GemmProblem) -> list[Blocks]:
    """Return what to try for a problem: about two dozen, by its class."""
    if not _has_tma(problem):
        return _POINTERS
    return _skinny(problem.m) if problem.m <= 128 else _WIDE


def _skinny(m: int) -> list[Blocks]:
    """Return tiles that few rows of C fill, 16 being the fewest that a product takes."""
    lowest = next(height for height in (16, 32, 64, 128) if height >= m)
    made = (
        Blocks(bm, bn, bk, stages, 4)
        for bm in sorted({lowest, 64})
        for bn in (32, 64, 128)
        for bk, stages in ((64, 6), (128, 3), (128, 5), (256, 3))
    )
    return [blocks for blocks in made if blocks.shared_bytes <= SHARED_BYTES]


def warm(
    problems: Iterable[GemmProblem],
    buffers: Buffers,
    *,
    ways: Callable[[GemmProblem], Iterable[Blocks]] = candidates,
) -> None:
    """Compile what all problems may try, on every core at a time; faulty candidates show later.

    Args:
        problems: Of one dtype; those of one class share their compiled kernels.
        buffers: Any a, b and c of that dtype.
        ways: What a problem may try.
    """
    cores = len(os.sched_getaffinity(0))
    with (
        ThreadPoolExecutor(cores) as pool,  # the compiler's passes leave Python's lock
        triton.AsyncCompileMode(pool, ignore_errors=True),
    ):
        for problem in problems:
            for blocks in ways(problem):
                _Product(problem, blocks).warm(buffers)


def arm(problem: GemmProblem, blocks: Blocks, buffers: Sequence[Buffers]) -> Arm:
    """Return what launches once on the buffer set of a number."""
    made = _Product(problem, blocks)
    arguments = [made.arguments(each) for each in buffers]
    programs = blocks.programs(torch.cuda.get_device_properties().multi_processor_count)
    return lambda i: made.launch(arguments[i], programs)


class _Product:
    def __init__(self, problem: GemmProblem, blocks: Blocks) -> None:
        self._problem, self._blocks = problem, blocks
        self._by_tma = _has_tma(problem)
        self._kernel: Any = by_tma if self._by_tma else by_pointers
        self._unit = math.gcd(problem.m, problem.n, problem.k, WIDEST_UNIT)
        self._settings = {
            "a_t": problem.a_transposed,
            "b_t": problem.b_transposed,
            "bm": blocks.bm,
            "bn": blocks.bn,
            "bk": blocks.bk,
            "band": blocks.band,
            "num_warps": blocks.warps,
            "num_stages": blocks.stages,
        }
        if self._by_tma:
            self._settings |= {"halves": blocks.halves, "flat": blocks.flat}
        else:
            self._settings["unit"] = self._unit

    def arguments(self, buffers: Buffers) -> tuple[Any, ...]:
        problem, unit = self._problem, 1 if self._by_tma else self._unit
        extents = (problem.m // unit, problem.n // unit, problem.k // unit)
        matrices = [buffers[name] for name in "abc"]
        return (*(self._described(matrices) if self._by_tma else matrices), *extents)

    def launch(self, arguments: tuple[Any, ...], most_programs: int) -> None:
        blocks, problem = self._blocks, self._problem
        tiles = math.ceil(problem.m / blocks.bm) * math.ceil(problem.n / blocks.bn)
        self._kernel[min(tiles, most_programs),](*arguments, **self._settings)

    def warm(self, buffers: Buffers) -> None:
        self._kernel.warmup(*self.arguments(buffers), grid=(1,), **self._settings)

    def _described(self, matrices: Sequence[torch.Tensor]) -> list[TensorDescriptor]:
        return [
            TensorDescriptor.from_tensor(matrix, list(box))
            for matrix, box in zip(matrices, boxes(self._problem, self._blocks), strict=True)
        ]


def boxes(problem: GemmProblem, blocks: Blocks) -> tuple[tuple[int, int], ...]:
    """Return the rows and columns of A, B and C that TMA moves at a time, as they are stored."""
    a = (blocks.bm, blocks.bk)[:: -1 if problem.a_transposed else 1]
    b = (blocks.bk, blocks.bn)[:: -1 if problem.b_transposed else 1]
    return a, b, (blocks.bm, blocks.bn // 2 if blocks.halves else blocks.bn)


def _has_tma(problem: GemmProblem) -> bool:
    rows = (*(problem.row_bytes(field) for field in problem.row_fields), problem.row_bytes("n"))
    return not any(size % TMA_BYTES for size in rows)
