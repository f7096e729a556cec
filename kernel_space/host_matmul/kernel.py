"""The kernel, its problem and its space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from autotune.errors import InvalidProblem
from autotune.records import (
    Config,
    Cost,
    Kernel,
    Launch,
    Operand,
    Problem,
    Rung,
    Scalar,
    SourceUnit,
    Target,
    Tolerance,
)
from autotune.space import Constraint, Parameter, Space

SOURCE = Path(__file__).with_name("matmul.cpp")
FP32_BYTES = 4
FP32_EPSILON = 2.0**-23
LARGEST = 2**31 - 1

PARAMETERS = (
    Parameter("tile_m", (4, 8, 16, 32, 64), about="rows of C in a tile"),
    Parameter("tile_n", (16, 32, 64, 128, 256), about="columns of C in a tile"),
    Parameter("tile_k", (8, 16, 32, 64, 128), about="products summed in a tile"),
    Parameter("unroll", (1, 2, 4, 8), about="products summed before C is touched"),
    Parameter("order", ("ijk", "ikj", "kij"), ordered=False, about="loops inside a tile"),
)

RUNGS = {
    "ijk": (
        "each element of C is a dot product",
        "the start: B is read down its columns, a cache line for each value",
    ),
    "kij": (
        "values of k are outermost, and rows of B are added to rows of C",
        "every row is read as it lies, which vector instructions take whole",
    ),
    "ikj": (
        "a row of C stays while all of k passes by",
        "the row that is added to is in the nearest cache",
    ),
}


@dataclass(frozen=True)
class MatmulProblem(Problem):
    """C (m x n) = A (m x k) * B (k x n), all fp32 and row-major."""

    m: int
    n: int
    k: int

    def validate(self) -> None:
        """Refuse negative extents, and ones that the kernel's ``int`` cannot hold."""
        for name, value in self.as_dict().items():
            if not 0 <= int(value) <= LARGEST:
                raise InvalidProblem(f"problem: {name}={value} must be from 0 to {LARGEST}")


class HostMatmul(Kernel):
    """The tiled product on one core of the host."""

    name: ClassVar[str] = "host_matmul"
    problem_type: ClassVar[type[Problem]] = MatmulProblem
    language: ClassVar[str] = "c++"
    scaled_fields: ClassVar[tuple[str, ...]] = ("m", "n", "k")

    def space(self, problem: MatmulProblem, target: Target) -> Space:
        """Return tiles that fit the core's cache, and unrolls that fit the tiles."""
        del problem
        return Space(PARAMETERS, (_cache_fits(target.l2_bytes), _WORTH_UNROLLING))

    def default(self, problem: MatmulProblem, target: Target) -> Config:
        """Return middling tiles: right on any machine, best on none."""
        del problem, target
        return Config(tile_m=16, tile_n=64, tile_k=32, unroll=4, order="ikj")

    def ladder(self, problem: MatmulProblem, target: Target) -> tuple[Rung, ...]:
        """Return each order of the loops, with the same tiles."""
        return tuple(
            Rung(
                name=order,
                where={"order": order},
                preferred=(self.default(problem, target).replace(order=order),),
                change=change,
                why=why,
            )
            for order, (change, why) in RUNGS.items()
        )

    def unit(self, problem: MatmulProblem, config: Config, target: Target) -> SourceUnit:
        """Return the source and the config as a header."""
        del problem, target
        return SourceUnit(
            language=self.language,
            main=SOURCE,
            header=_header(config),
            entry="matmul",
            options=("-O3",),
        )

    def launch(self, problem: MatmulProblem, config: Config, target: Target) -> Launch:
        """Return one call; an empty C needs none."""
        del config, target
        extents = tuple(Scalar(dtype="int32", value=x) for x in (problem.m, problem.n, problem.k))
        calls = min(1, problem.m * problem.n)
        return Launch(
            grid=(calls, 1, 1), block=(1, 1, 1), shared_bytes=0, arguments=("a", "b", "c", *extents)
        )

    def operands(self, problem: MatmulProblem) -> tuple[Operand, ...]:
        """Return A, B and C."""
        return (
            Operand(name="a", dtype="fp32", shape=(problem.m, problem.k)),
            Operand(name="b", dtype="fp32", shape=(problem.k, problem.n)),
            Operand(name="c", dtype="fp32", shape=(problem.m, problem.n), output=True),
        )

    def reference(
        self, problem: MatmulProblem, inputs: Mapping[str, Any], xp: Any
    ) -> dict[str, Any]:
        """Return the product in the reference dtype."""
        del problem
        return {"c": xp.matmul(inputs["a"], inputs["b"])}

    def tolerance(self, problem: MatmulProblem) -> Tolerance:
        """Return a bound some ten times what rounding k products in any order gives."""
        return Tolerance(relative=1e-5, absolute=4 * FP32_EPSILON * max(1, problem.k))

    def cost(self, problem: MatmulProblem) -> Cost:
        """Return two FLOP a product, and every element moved once."""
        m, n, k = problem.m, problem.n, problem.k
        return Cost(flop=2 * m * n * k, bytes=FP32_BYTES * (m * k + k * n + m * n))


def _cache_fits(l2_bytes: int) -> Constraint:
    def broken(tile_m: int, tile_n: int, tile_k: int) -> str | None:
        size = FP32_BYTES * (tile_m * tile_k + tile_k * tile_n + tile_m * tile_n)
        if 2 * size <= l2_bytes:
            return None
        return f"tiles of {size} bytes take more than half of a {l2_bytes} byte cache"

    return Constraint("cache", broken)


def _unroll_broken(tile_k: int, unroll: int) -> str | None:
    if unroll < tile_k:
        return None
    return f"unroll {unroll} leaves no loop over tile_k {tile_k}"


_WORTH_UNROLLING = Constraint("unroll", _unroll_broken)


def _header(config: Config) -> str:
    lines = [f"constexpr int {p.name.upper()} = {config[p.name]};" for p in PARAMETERS[:-1]]
    return "\n".join([*lines, f"constexpr Order ORDER = Order::{config['order']};", ""])
