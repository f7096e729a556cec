"""A product whose "device" is numpy, so that every fault of an output can be staged."""

from __future__ import annotations

import dataclasses

import numpy as np

from autotune.records import Cost, Kernel, Operand, Problem, Tolerance
from autotune.verify import decode, encode


@dataclasses.dataclass(frozen=True)
class ProductProblem(Problem):
    m: int = 5
    n: int = 7
    k: int = 64
    dtype: str = "bf16"


class Product(Kernel):
    name = "product"
    problem_type = ProductProblem

    def operands(self, problem):
        return (
            Operand(name="a", dtype=problem.dtype, shape=(problem.m, problem.k)),
            Operand(name="b", dtype=problem.dtype, shape=(problem.k, problem.n)),
            Operand(name="c", dtype=problem.dtype, shape=(problem.m, problem.n), output=True),
        )

    def reference(self, problem, inputs, xp):
        return {"c": inputs["a"] @ inputs["b"]}

    def tolerance(self, problem):
        relative = {"bf16": 2**-8, "fp16": 2**-11}.get(problem.dtype, 1e-6)
        return Tolerance(relative=relative, absolute=1e-5, reference_dtype="fp64")

    def cost(self, problem):
        return Cost(flop=2 * problem.m * problem.n * problem.k, bytes=0)

    def space(self, problem, target):
        raise NotImplementedError

    default = unit = launch = space


def right(arrays, dtype="bf16"):
    """Compute the product as a right candidate would: wide sums, one rounding."""
    a, b = (decode(arrays[name], dtype, "float64") for name in "ab")
    arrays["c"][...] = encode(
        (a @ b).astype(np.float32 if dtype == "bf16" else "float64"), dtype, np
    )
