"""A config for one problem: sizes, the generated header, the launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from autotune.records import Config, Launch, Scalar, Target
from kernel_space.header import config_header
from kernel_space.stream.problem import FACTOR, StreamProblem

WARP_LANES = 32
BARRIER_BYTES = 16  # of one stage: full and empty
WITH_BARRIERS = ("pipeline_mbarrier", "bulk")


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPlan:
    """One point of the space, bound to a problem."""

    problem: StreamProblem
    mechanism: str
    stages: int
    copy_bytes: int
    threads: int
    thread_bytes: int
    blocks_per_sm: int
    readers: str
    eviction: str
    store: str

    @classmethod
    def of(cls, config: Config, problem: StreamProblem) -> Self:
        """Read the parameters."""
        number = {name: value for name, value in config.items() if isinstance(value, int)}
        return cls(
            problem=problem,
            mechanism=str(config["mechanism"]),
            stages=number["stages"],
            copy_bytes=number["copy_bytes"],
            threads=number["threads"],
            thread_bytes=number["thread_bytes"],
            blocks_per_sm=number["blocks_per_sm"],
            readers=str(config["readers"]),
            eviction=str(config["eviction"]),
            store=str(config["store"]),
        )

    @property
    def block_threads(self) -> int:
        """Threads of a block: those that compute, and the copy engine's warp."""
        return block_threads(self.mechanism, self.threads)

    @property
    def tile(self) -> int:
        """Elements of each array that a block takes at a time."""
        return self.threads * self.thread_bytes // self.problem.element_bytes

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory of a block, in bytes."""
        stage_bytes = self.threads * self.thread_bytes * len(self.problem.inputs)
        return shared_bytes(self.mechanism, self.stages, stage_bytes)

    def launch(self, target: Target) -> Launch:
        """Return a grid that stays on the device, or one block for each tile."""
        tiles = max(self.problem.count // self.tile, 1)  # a block is enough for a rest
        blocks = min(tiles, target.sm_count * self.blocks_per_sm or tiles)
        arrays = (self.problem.inputs[0], self.problem.inputs[-1], "y")
        return Launch(
            grid=(blocks if self.problem.count else 0, 1, 1),
            block=(self.block_threads, 1, 1),
            shared_bytes=self.shared_bytes,
            arguments=(*arrays, Scalar(dtype="int64", value=self.problem.count)),
        )

    def header(self) -> str:
        """Return the text of ``config.h``: all that is fixed when the kernel is compiled."""
        constants: dict[str, bool | int | str] = {
            "Dtype DTYPE": f"Dtype::{self.problem.dtype}",
            "Operation OPERATION": f"Operation::{self.problem.operation}",
            "float FACTOR": f"{FACTOR}f",
            "Mechanism MECHANISM": f"Mechanism::{self.mechanism}",
            "int STAGES": self.stages,
            "int COPY_BYTES": self.copy_bytes,
            "int THREADS": self.threads,
            "int THREAD_BYTES": self.thread_bytes,
            "int BLOCK_THREADS": self.block_threads,
            "Readers READERS": f"Readers::{self.readers}",
            "Eviction EVICTION": f"Eviction::{self.eviction}",
            "Store STORE": f"Store::{self.store}",
        }
        return config_header(constants)


def block_threads(mechanism: str, threads: int) -> int:
    """Return how many threads a block has of which ``threads`` compute."""
    return threads + WARP_LANES if mechanism == "bulk" else threads


def shared_bytes(mechanism: str, stages: int, stage_bytes: int) -> int:
    """Return the dynamic shared memory of a block with stages of that size, in bytes."""
    if mechanism == "direct":
        return 0
    barrier_bytes = BARRIER_BYTES if mechanism in WITH_BARRIERS else 0
    return stages * (stage_bytes + barrier_bytes)
