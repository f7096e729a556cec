from __future__ import annotations

import numpy as np
import pytest

from kernel_space.gemm import Gemm, GemmProblem

ROWS, COLS = 48, 64


def rounded(values, dtype):
    """Round float32 ``values`` to ``dtype`` (to nearest, ties to even), as float32."""
    values = values.astype(np.float32)
    if dtype == "bf16":
        bits = values.view(np.uint32)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)
    return values.astype({"fp16": np.float16, "fp32": np.float32}[dtype]).astype(np.float32)


def summed(a, b, terms):
    """Add the chosen terms one after the other in float32, as a kernel does."""
    sums = np.zeros((ROWS, COLS), np.float32)
    for term in terms:
        sums += np.outer(a[:, term], b[term])
    return sums


def lies_within(problem, got, wanted):
    bound = Gemm().tolerance(problem)
    return np.abs(got - wanted) <= bound.absolute + bound.relative * np.abs(wanted)


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32"])
@pytest.mark.parametrize("k", [1, 17, 1000, 16384])
def test_a_right_sum_passes_and_one_dropped_or_doubled_term_does_not(dtype, k):
    rng = np.random.default_rng(k)
    a = rounded(rng.uniform(-1, 1, (ROWS, k)), dtype)
    b = rounded(rng.uniform(-1, 1, (k, COLS)), dtype)
    problem = GemmProblem(ROWS, COLS, k, dtype, "nn")
    wanted = a.astype(np.float64) @ b.astype(np.float64)

    right = rounded(summed(a, b, range(k)), dtype)
    dropped = rounded(summed(a, b, range(k - 1)), dtype)
    doubled = rounded(summed(a, b, [*range(k), k // 2]), dtype)

    assert lies_within(problem, right, wanted).all()
    assert not lies_within(problem, dropped, wanted).all()
    assert not lies_within(problem, doubled, wanted).all()


def test_nothing_passes_as_not_a_number():
    problem = GemmProblem(ROWS, COLS, 64)
    nans = np.full((ROWS, COLS), np.nan)
    assert not lies_within(problem, nans, np.zeros_like(nans)).any()
