"""What the product should be, and how far a right result may lie from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.records import Tolerance
from kernel_space.gemm.problem import GemmProblem

ROUNDING = {"bf16": 2.0**-8, "fp16": 2.0**-11, "fp32": 2.0**-24}
SUM_ERROR_PER_TERM = 2.0**-21
EIGHT_BIT_SUM_ERROR_PER_TERM = 2.0**-12
EIGHT_BIT_EXACT_BELOW = 2**13  # whole numbers that such a sum holds, with a bit to spare
INTEGER_PRODUCT = 16  # at most, of the whole numbers that are drawn to check with


def reference(problem: GemmProblem, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return C in the dtype of ``inputs``, which are stored as the problem's layout says."""
    a, b = inputs["a"], inputs["b"]
    c = (a.T if problem.a_transposed else a) @ (b.T if problem.b_transposed else b)
    return {"c": c * inputs["scale"] if problem.scaled else c}


def tolerance(problem: GemmProblem) -> Tolerance:
    """Return the bound for each element: one rounding of the output, and k of the sum.

    Inputs are taken as rounded, so their products are exact. With inputs uniform in [-1, 1] a
    partial sum of i terms is about sqrt(i)/3, and k additions that each round it by up to 2^-24
    of its size leave an error of about k * 2^-24 / 7 (one standard deviation). Tensor cores
    truncate where they should round, in an order of their own. The bound of k * 2^-21 leaves
    room for both, fifty standard deviations of the former.

    A term of the sum that is dropped or counted twice is 1/4 on average. At k = 16384 the bound
    is 1/128 beside the output's rounding, so elements of an everyday size show it.

    Sums of e4m3 are coarser. Hopper's tensor cores align 32 products and the sum so far to the
    largest of them and cut each off behind about 14 bits (DeepSeek-V3 Technical Report, 2024,
    3.5.2), towards zero (Fasi et al., Numerical behavior of NVIDIA tensor cores, 2021). Each of
    the k products then loses up to 2^-13 of a sum of sqrt(i)/3, which by simulation leaves an
    error of at most k * 2^-17 (one standard deviation). But sums that wander far and come back
    lose much more: at k = 16384 six of 268 million lay beyond k * 2^-13 on an H200. The bound of
    k * 2^-12 shows a dropped term up to k = 1024 or so, and at k = 16384 a dropped stage of 128
    terms, which is 4 on average. Whole numbers are summed exactly only while they fit the bits
    that are kept.
    """
    each = EIGHT_BIT_SUM_ERROR_PER_TERM if problem.scaled else SUM_ERROR_PER_TERM
    return Tolerance(
        relative=ROUNDING[problem.output_dtype],
        absolute=max(problem.k, 16) * each,
        reference_dtype="fp64",
        exact_integers=(not problem.scaled or problem.k * INTEGER_PRODUCT < EIGHT_BIT_EXACT_BELOW),
    )
