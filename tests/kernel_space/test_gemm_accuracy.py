from __future__ import annotations

import numpy as np
import pytest

from autotune.verify import decode, encode
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


def drawn_e4m3(shape, seed):
    values = np.random.default_rng(seed).uniform(-1, 1, shape)
    return decode(encode(values, "e4m3", np), "e4m3", "float64")


def summed_by_hopper(a, b):
    """Add 32 products at a time as its tensor cores do: cut off behind 14 bits of the largest."""
    sums = np.zeros((a.shape[0], b.shape[1]))
    for start in range(0, a.shape[1], 32):
        part = slice(start, start + 32)
        terms = a[:, part, None] * b[None, part, :]
        terms = np.concatenate([terms, sums[:, None]], axis=1)
        sums = cut_off(terms, np.abs(terms).max(axis=1, keepdims=True)).sum(axis=1)
        sums = cut_off(sums, np.abs(sums))
    return sums


def cut_off(values, largest):
    _, exponent = np.frexp(largest)
    step = np.ldexp(1.0, exponent - 14)
    return np.trunc(values / step) * step


@pytest.mark.parametrize("k", [16, 32, 128, 1024, 4096])
@pytest.mark.parametrize("result", ["bf16", "fp32"])
def test_sums_of_eight_bit_products_pass_as_coarse_as_hopper_makes_them(k, result):
    a, b = drawn_e4m3((32, k), 1), drawn_e4m3((k, 32), 2)
    problem = GemmProblem(32, 32, k, f"e4m3-{result}")
    wanted, scale = a @ b, 0.75
    right = rounded(summed_by_hopper(a, b) * scale, result)
    assert lies_within(problem, right, wanted * scale).all()
    assert lies_within(problem, rounded(wanted * scale, result), wanted * scale).all()


@pytest.mark.parametrize(("k", "dropped"), [(16, 1), (1024, 1), (4096, 128), (16384, 128)])
def test_a_part_that_is_missing_from_a_sum_of_eight_bit_products_shows(k, dropped):
    a, b = drawn_e4m3((64, k), 1), drawn_e4m3((k, 64), 2)
    problem = GemmProblem(64, 64, k, "e4m3-bf16")
    short = rounded(a[:, dropped:] @ b[dropped:], "bf16")
    assert not lies_within(problem, short, a @ b).all()


def test_whole_numbers_are_exact_as_long_as_their_sums_fit_what_is_kept():
    for k, exact in ((16, True), (496, True), (512, False), (4096, False)):
        assert Gemm().tolerance(GemmProblem(64, 64, k, "e4m3-bf16")).exact_integers is exact
    rng = np.random.default_rng(3)
    a, b = rng.integers(-4, 5, (32, 496)), rng.integers(-4, 5, (496, 32))
    assert np.array_equal(summed_by_hopper(a, b), a @ b)
