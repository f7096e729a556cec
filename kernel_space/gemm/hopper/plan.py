"""A config of a Hopper mechanism for one problem: sizes, the generated header, the launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from autotune.records import Condition, Config, Launch, Operand, Scalar, Target, TensorMap
from kernel_space.gemm.hopper.repack import copies, packing
from kernel_space.gemm.problem import GemmProblem
from kernel_space.header import config_header

ROLES = {
    "tma": "none",
    "ws_basic": "cooperative",
    "ws_cooperative": "cooperative",
    "ws_pingpong": "pingpong",
}
MECHANISMS = tuple(ROLES)
IN_FLIGHT = {name: (1,) if name == "tma" else (1, 2) for name in MECHANISMS}  # the usual one last
PRODUCTS = {  # how wgmma is told what it multiplies, and 32 bytes of K in elements
    "bf16": "k16.f32.bf16.bf16",
    "fp16": "k16.f32.f16.f16",
    "e4m3": "k32.f32.e4m3.e4m3",
}
NOWHERE = Scalar(dtype="int64", value=0)  # a pointer that nothing follows
GROUP_THREADS = 128
GROUP_ROWS = 64  # of A that one wgmma takes
LINE_BYTES = 128  # of shared memory, which the swizzle permutes
PANEL_BYTES = 64 * LINE_BYTES
MAX_CONSUMERS = 3  # whose registers still hold a useful tile
STORE_SLOTS = 2  # panels of C on their way out, for each consumer
ALIGNMENT_BYTES = 1024
BARRIER_BYTES = 16  # of one stage: full and empty
UNEVEN_SMS = 12  # that clusters of more than two blocks leave idle on an H200
PITCH_BYTES = 16  # what every row that a tensor map describes must be a multiple of


@dataclass(frozen=True, slots=True, kw_only=True)
class HopperPlan:
    """One point of the space, bound to a problem.

    ``rows`` and ``columns`` speak of the product that is computed: C, or its transpose where
    the operands are swapped.
    """

    problem: GemmProblem
    mechanism: str
    tile_m: int
    tile_n: int
    stages: int
    cluster_m: int
    cluster_n: int
    in_flight: int
    split_k: int
    swapped: bool
    l2_promotion_bytes: int
    keep: str
    epilogue: str
    along_m: bool
    group: int
    repacked: bool

    @classmethod
    def of(cls, config: Config, problem: GemmProblem) -> Self:
        """Read the parameters that apply."""
        number = {name: value for name, value in config.items() if isinstance(value, int)}
        return cls(
            problem=problem,
            mechanism=str(config["mechanism"]),
            tile_m=number["tile_m"],
            tile_n=number["tile_n"],
            stages=number["stages"],
            cluster_m=number["cluster_m"],
            cluster_n=number["cluster_n"],
            in_flight=number["in_flight"],
            split_k=number["split_k"],
            swapped=config["operands"] == "swapped",
            l2_promotion_bytes=number["l2_promotion"],
            keep=str(config["keep"]),
            epilogue=str(config["epilogue"]),
            along_m=config["raster"] == "along_m",
            group=number["raster_group"],
            repacked=config["repack"] == "rows",
        )

    @property
    def consumers(self) -> int:
        """Warp groups that multiply."""
        return consumers(self.mechanism, self.tile_m)

    @property
    def threads(self) -> int:
        """Threads in a block; all but the rung without roles have a producer warp group."""
        return GROUP_THREADS * (self.consumers + (self.mechanism != "tma"))

    @property
    def blocks_in_cluster(self) -> int:
        """Blocks that share operands, or the parts of K."""
        return self.cluster_m * self.cluster_n * self.split_k

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory of a block, in bytes."""
        staged = self.epilogue != "direct"
        panels = self.consumers * STORE_SLOTS * self._panel_bytes if staged else 0
        stages = self.stages * (self.stage_bytes + BARRIER_BYTES)
        return stages + panels + ALIGNMENT_BYTES

    @property
    def stage_bytes(self) -> int:
        """One tile of A and one of B, in bytes."""
        return self._operand_bytes(self.tile_m, 0) + self._operand_bytes(self.tile_n, 1)

    @property
    def partial_bytes(self) -> int:
        """What a block of a split product leaves for the others, in bytes: fp32, rows padded."""
        rows, columns = self.tile_m, self.tile_n
        if self.swapped:
            rows, columns = columns, rows
        return rows * (columns + 4) * 4

    @property
    def tiles(self) -> int:
        """Tiles of the product, whole clusters of them."""
        rows, columns = self._extents
        across = -(-rows // (self.tile_m * self.cluster_m))
        return across * -(-columns // (self.tile_n * self.cluster_n))

    def header(self) -> str:
        """Return the text of ``config.h``."""
        lines = [
            "#define HOPPER",
            f'#define KIND "{PRODUCTS[self.problem.input_dtype]}"',
            f'#define MAJORS "{self._majors}"',
        ]
        if self.blocks_in_cluster > 1:
            lines.append(f"#define CLUSTER_SIZE {self.blocks_in_cluster}")
        if self.repacked:
            lines.append("#define REPACK")
        return config_header(self._constants(), directives=lines)

    def launch(self, target: Target) -> Launch:
        """Return a grid that fills the device once, or one cluster for each split tile."""
        given, c = self.problem.matrices, self.problem.result
        a, b = (self._copies.get(each.name, each) for each in given)
        left, right = (b, a) if self.swapped else (a, b)
        size = self.blocks_in_cluster
        resident = resident_clusters(size, target)
        clusters = self.tiles if self.split_k > 1 else min(self.tiles, resident)
        return Launch(
            grid=(clusters * size if self.problem.m and self.problem.n else 0, 1, 1),
            block=(self.threads, 1, 1),
            shared_bytes=self.shared_bytes,
            arguments=(
                self._operand_map(left, self.tile_m // self.cluster_n, 0),
                self._operand_map(right, self.tile_n // self.cluster_m, 1),
                self._result_map(c) or self._operand_map(left, self.tile_m // self.cluster_n, 0),
                c.name,
                *(Scalar(dtype="int32", value=getattr(self.problem, name)) for name in "mnk"),
                Scalar(dtype="int32", value=int(self.along_m)),
                Scalar(dtype="int32", value=self.group),
                "scale" if self.problem.scaled else NOWHERE,
            ),
            before=packing(given, target) if self.repacked else (),
            scratch=tuple(self._copies.values()),
            overlaps=True,
        )

    @property
    def _copies(self) -> dict[str, Operand]:
        """What takes the place of A and B, by their names, where tensor maps cannot."""
        return copies(self.problem.matrices) if self.repacked else {}

    @property
    def _extents(self) -> tuple[int, int]:
        m, n = self.problem.m, self.problem.n
        return (n, m) if self.swapped else (m, n)

    @property
    def _stores(self) -> str:
        """How sums leave, in the words of the kernel; not every row can be a tensor copy's."""
        if self.epilogue == "direct":
            return "direct"
        whole = self.problem.n * self.problem.result_bytes % PITCH_BYTES == 0
        return "tensor" if whole else "rows"

    @property
    def _panel(self) -> tuple[int, int]:
        """Rows and columns of a panel of C."""
        if self.swapped:
            return self.tile_n, 64
        rows = self.tile_m if self.mechanism == "ws_pingpong" else self.tile_m // self.consumers
        return rows, next(width for width in (64, 32, 16) if self.tile_n % width == 0)

    @property
    def _panel_bytes(self) -> int:
        rows, columns = self._panel
        return rows * columns * self.problem.result_bytes

    @property
    def _majors(self) -> str:
        """What ends the instruction: which operands lie across K. Elements of 8 bits may not."""
        if self.problem.element_bytes == 1:
            return ""
        return "".join(f", {int(not self._k_contiguous(side))}" for side in (0, 1))

    def _k_contiguous(self, side: int) -> bool:
        """Return whether K is contiguous in the left (0) or right (1) operand."""
        problem = self.problem
        majors = (not problem.a_transposed, problem.b_transposed)
        return majors[1 - side if self.swapped else side]

    def _operand_bytes(self, extent: int, side: int) -> int:
        if self._k_contiguous(side):
            return extent * LINE_BYTES
        return -(-extent // 64) * PANEL_BYTES

    def _operand_map(self, operand: Operand, extent: int, side: int) -> TensorMap:
        depth = tile_k(self.problem)
        return TensorMap(
            operand=operand,
            box=(extent, depth) if self._k_contiguous(side) else (depth, 64),
            l2_promotion_bytes=self.l2_promotion_bytes,
        )

    def _result_map(self, c: Operand) -> TensorMap | None:
        if self._stores != "tensor":
            return None
        rows, columns = self._panel
        return TensorMap(
            operand=c,
            box=(rows, columns),
            swizzle_bytes=columns * self.problem.result_bytes,
        )

    def _constants(self) -> dict[str, bool | int | str]:
        return {
            "int TILE_M": self.tile_m,
            "int TILE_N": self.tile_n,
            "int ELEMENT_BYTES": self.problem.element_bytes,
            "int STAGES": self.stages,
            "int CONSUMERS": self.consumers,
            "int CLUSTER_M": self.cluster_m,
            "int CLUSTER_N": self.cluster_n,
            "int IN_FLIGHT": self.in_flight,
            "int SPLIT_K": self.split_k,
            "int STORE_SLOTS": STORE_SLOTS,
            "bool A_K_CONTIGUOUS": self._k_contiguous(0),
            "bool B_K_CONTIGUOUS": self._k_contiguous(1),
            "bool SWAPPED": self.swapped,
            "bool SCALED": self.problem.scaled,
            "Dtype RESULT": f"Dtype::{self.problem.output_dtype}",
            "Keep KEEP": f"Keep::{self.keep}",
            "Stores STORES": f"Stores::{self._stores}",
            "Roles ROLES": f"Roles::{ROLES[self.mechanism]}",
        }


def conditions(problem: GemmProblem, config: Config) -> tuple[Condition, ...]:
    """Return what tensor maps need of rows, and a step of K for each part of a split.

    A config that repacks serves rows of any length: it copies those that need it.
    """
    split_k = int(config["split_k"])
    multiple = 1 if config["repack"] == "rows" else PITCH_BYTES // problem.element_bytes
    rows = dict.fromkeys(problem.row_fields, multiple)
    return tuple(
        Condition(
            field=field,
            multiple_of=rows.get(field, 1),
            at_least=(split_k - 1) * tile_k(problem) + 1 if field == "k" else 1,
        )
        for field in problem.SIZES
    )


def resident_clusters(size: int, target: Target) -> int:
    """Return how many clusters of ``size`` blocks run at a time, one block on a multiprocessor.

    A cluster stays within a group of multiprocessors (GPC), and groups are of uneven sizes that
    no target tells: the driver says that on an H200, of 132, 66 clusters of two run at a time, 30
    of four and 15 of eight. One cluster too many would begin when the others end, and double the
    time; one too few costs little.
    """
    spare = UNEVEN_SMS if size > 2 else 0
    return max(1, (target.sm_count - spare) // size)


def tile_k(problem: GemmProblem) -> int:
    """Return the values of k in one stage: a line of shared memory."""
    return LINE_BYTES // problem.element_bytes


def consumers(mechanism: str, tile_m: int) -> int:
    """Return how many warp groups multiply a tile of ``tile_m`` rows."""
    if mechanism == "ws_basic":
        return 1
    if mechanism == "ws_pingpong":
        return 2
    groups = max(1, tile_m // GROUP_ROWS)
    return groups if groups <= MAX_CONSUMERS else 2
