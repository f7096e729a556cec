"""What the product should be, and how far a right result may lie from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.records import Tolerance
from kernel_space.gemm.problem import GemmProblem

ROUNDING = {"bf16": 2.0**-8, "fp16": 2.0**-11, "fp32": 2.0**-24}
SUM_ERROR_PER_TERM = 2.0**-21


def reference(problem: GemmProblem, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return C in the dtype of ``inputs``, which are stored as the problem's layout says."""
    a, b = inputs["a"], inputs["b"]
    return {"c": (a.T if problem.a_transposed else a) @ (b.T if problem.b_transposed else b)}


def tolerance(problem: GemmProblem) -> Tolerance:
    """Return the bound for each element: one rounding of the output, and k of the fp32 sum.

    Inputs are taken as rounded, so their products are exact. With inputs uniform in [-1, 1] a
    partial sum of i terms is about sqrt(i)/3, and k additions that each round it by up to 2^-24
    of its size leave an error of about k * 2^-24 / 7 (one standard deviation). Tensor cores
    truncate where they should round, in an order of their own. The bound of k * 2^-21 leaves
    room for both, fifty standard deviations of the former.

    A term of the sum that is dropped or counted twice is 1/4 on average. At k = 16384 the bound
    is 1/128 beside the output's rounding, so elements of an everyday size show it.
    """
    return Tolerance(
        relative=ROUNDING[problem.output_dtype],
        absolute=max(problem.k, 16) * SUM_ERROR_PER_TERM,
        reference_dtype="fp64",
    )
