"""A config of these mechanisms for one problem: sizes, the generated header, the launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from autotune.records import Condition, Config, Launch, Scalar, Target
from kernel_space.gemm.ampere.mechanisms import TRAITS, WARP_LANES, Traits
from kernel_space.gemm.problem import GemmProblem
from kernel_space.header import config_header


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """The part of the product that a block works on at a time, in elements."""

    m: int
    n: int
    k: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Warp:
    """The part of a block's tile that one warp owns, in elements."""

    m: int
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """How tiles reach shared memory: the mechanism, and how many tiles it holds there.

    ``barriers`` of the whole block stand in each round, where that is a choice; else it is 0.
    """

    mechanism: str
    stages: int
    barriers: int

    @property
    def traits(self) -> Traits:
        """What sets the mechanism apart."""
        return TRAITS[self.mechanism]


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyPlan:
    """One copy instruction: how wide it is, in bytes, and what it leaves in L1."""

    bytes: int
    cache: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Raster:
    """The order of blocks: bands ``group`` tiles wide that run along ``order``."""

    order: str
    group: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AmperePlan:
    """One point of the space, grouped by meaning and bound to a problem."""

    problem: GemmProblem
    tile: Tile
    warp: Warp
    pipeline: Pipeline
    copy: CopyPlan
    raster: Raster

    @classmethod
    def of(cls, config: Config, problem: GemmProblem) -> Self:
        """Group the parameters that apply."""
        number = {name: value for name, value in config.items() if isinstance(value, int)}
        return cls(
            problem=problem,
            tile=Tile(m=number["tile_m"], n=number["tile_n"], k=number["tile_k"]),
            warp=Warp(m=number["warp_m"], n=number["warp_n"]),
            pipeline=Pipeline(
                mechanism=str(config["mechanism"]),
                stages=number["stages"],
                barriers=number["barriers"],
            ),
            copy=CopyPlan(bytes=number["copy_bytes"], cache=str(config["cache"])),
            raster=Raster(order=str(config["raster"]), group=number["raster_group"]),
        )

    @property
    def threads(self) -> int:
        """Threads in a block: those that multiply, and those that only copy."""
        warps = self.tile.m // self.warp.m * (self.tile.n // self.warp.n)
        return warps * WARP_LANES + self.pipeline.traits.producers

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory of a block, in bytes."""
        tiles = (self.tile.m + self.tile.n) * self.tile.k * self.problem.element_bytes
        return self.pipeline.stages * (tiles + self.pipeline.traits.stage_extra_bytes)

    @property
    def tiles(self) -> tuple[int, int]:
        """How many tiles cover C, along M and along N."""
        return -(-self.problem.m // self.tile.m), -(-self.problem.n // self.tile.n)

    def launch(self, target: Target) -> Launch:
        """Return one block for each tile of C."""
        del target
        problem = self.problem
        tiles_m, tiles_n = self.tiles
        pitches = (problem.shape_a[1], problem.shape_b[1], problem.n)
        return Launch(
            grid=(tiles_m * tiles_n, 1, 1),
            block=(self.threads, 1, 1),
            shared_bytes=self.shared_bytes,
            arguments=(
                *("a", "b", "c"),
                *(Scalar(dtype="int32", value=getattr(problem, name)) for name in problem.SIZES),
                *(Scalar(dtype="int64", value=pitch) for pitch in pitches),
                Scalar(dtype="int32", value=int(self.raster.order == "along_m")),
                Scalar(dtype="int32", value=self.raster.group),
            ),
        )

    def header(self) -> str:
        """Return the text of ``config.h``: all that is fixed when the kernel is compiled.

        Shapes and the raster are not: they are arguments, so that one binary serves them all.
        A library is included from here, so that mechanisms without one neither wait for it nor
        need it.
        """
        mechanism, includes = self.pipeline.mechanism, self.pipeline.traits.includes
        constants: dict[str, bool | int | str] = {
            "Dtype DTYPE": f"Dtype::{self.problem.input_dtype}",
            "Dtype RESULT": f"Dtype::{self.problem.output_dtype}",
            "bool A_TRANSPOSED": self.problem.a_transposed,
            "bool B_TRANSPOSED": self.problem.b_transposed,
            "int TILE_M": self.tile.m,
            "int TILE_N": self.tile.n,
            "int TILE_K": self.tile.k,
            "int WARP_M": self.warp.m,
            "int WARP_N": self.warp.n,
            "Mechanism MECHANISM": f"Mechanism::{mechanism}",
            "int STAGES": self.pipeline.stages,
            "int BARRIERS": self.pipeline.barriers,
            "int PRODUCERS": self.pipeline.traits.producers,
            "int COPY_BYTES": self.copy.bytes,
            "Cache CACHE": f"Cache::{self.copy.cache}",
        }
        directives = [f"#include <{name}>" for name in includes]
        if includes:
            directives.append(f"#define {mechanism.upper()}")
        return config_header(constants, directives=directives)


def conditions(problem: GemmProblem, config: Config) -> tuple[Condition, ...]:
    """Return the row lengths that the config's copies need."""
    multiple = AmperePlan.of(config, problem).copy.bytes // problem.element_bytes
    if multiple == 1:
        return ()
    fields = dict.fromkeys(problem.row_fields)
    return tuple(Condition(field=field, multiple_of=multiple) for field in fields)
