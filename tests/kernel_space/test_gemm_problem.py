from __future__ import annotations

import numpy as np
import pytest

from autotune.errors import InvalidProblem
from kernel_space.gemm import Gemm, GemmProblem


def test_fields_are_parsed_as_people_write_them():
    problem = GemmProblem.parse({"m": "16", "n": 32, "k": "0", "dtype": "fp16", "layout": "tn"})
    assert problem == GemmProblem(16, 32, 0, "fp16", "tn")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"m": -1, "n": 1, "k": 1}, "m must be from 0 to 1073741824, not -1"),
        ({"m": 1, "n": 2**31, "k": 1}, "n must be from 0"),
        ({"m": 1, "n": 1}, "missing field k"),
        (
            {"m": 1, "n": 1, "k": 1, "dtype": "fp8"},
            "fp16-fp32, e4m3-bf16, e4m3-fp16, e4m3-fp32, not 'fp8'",
        ),
        ({"m": 1, "n": 1, "k": 1, "layout": "xy"}, "one of nn, nt, tn, tt, not 'xy'"),
    ],
)
def test_what_cannot_be_computed_is_refused_in_one_line(fields, said):
    with pytest.raises(InvalidProblem, match=said):
        GemmProblem.parse(fields)


@pytest.mark.parametrize(
    ("k", "layout"), [(24, "nt"), (0, "nt"), (64, "nn"), (64, "tn"), (64, "tt"), (8, "nn")]
)
def test_eight_bit_elements_have_one_layout_and_whole_lines(k, layout):
    said = f"e4m3-bf16 takes layout nt and k a positive multiple of 16, not {layout} and {k}"
    with pytest.raises(InvalidProblem, match=said):
        GemmProblem(64, 64, k, "e4m3-bf16", layout)


def test_products_of_eight_bit_elements_are_scaled():
    problem = GemmProblem(2, 3, 16, "e4m3-fp16")
    a, b, scale, c = Gemm().operands(problem)
    assert [each.name for each in (a, b, scale, c)] == ["a", "b", "scale", "c"]
    assert [each.dtype for each in (a, b, scale, c)] == ["e4m3", "e4m3", "fp32", "fp16"]
    assert (scale.shape, scale.output, scale.drawn_from) == ((1,), False, (0.5, 1.0))
    inputs = {"a": np.ones((2, 16)), "b": np.ones((3, 16)), "scale": np.array([0.75])}
    np.testing.assert_array_equal(Gemm().reference(problem, inputs, np)["c"], np.full((2, 3), 12))


@pytest.mark.parametrize(
    ("layout", "stored_a", "stored_b", "rows"),
    [
        ("nn", (2, 5), (5, 3), ("k", "n")),
        ("nt", (2, 5), (3, 5), ("k", "k")),
        ("tn", (5, 2), (5, 3), ("m", "n")),
        ("tt", (5, 2), (3, 5), ("m", "k")),
    ],
)
def test_layout_says_how_operands_are_stored(layout, stored_a, stored_b, rows):
    problem = GemmProblem(2, 3, 5, "fp32", layout)
    a, b, c = Gemm().operands(problem)
    assert (a.shape, b.shape, c.shape) == (stored_a, stored_b, (2, 3))
    assert [c.output, a.output, b.output] == [True, False, False]
    assert problem.row_fields == rows


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_reference_is_the_product_of_the_logical_matrices(layout):
    problem = GemmProblem(4, 6, 5, "bf16", layout)
    rng = np.random.default_rng(1)
    a, b = rng.random((4, 5)), rng.random((5, 6))
    stored = {
        "a": a.T if problem.a_transposed else a,
        "b": b.T if problem.b_transposed else b,
    }
    np.testing.assert_array_equal(Gemm().reference(problem, stored, np)["c"], a @ b)


@pytest.mark.parametrize(
    ("dtype", "bytes_in", "bytes_of_c"), [("bf16", 2, 2), ("bf16-fp32", 2, 4), ("e4m3-bf16", 1, 2)]
)
def test_cost_counts_each_matrix_once(dtype, bytes_in, bytes_of_c):
    cost = Gemm().cost(GemmProblem(2, 3, 16, dtype))
    assert (cost.flop, cost.bytes) == (192, bytes_in * (32 + 48) + bytes_of_c * 6)


def test_sums_may_be_kept_as_they_are():
    a, b, c = Gemm().operands(GemmProblem(2, 3, 5, "fp16-fp32"))
    assert (a.dtype, b.dtype, c.dtype) == ("fp16", "fp16", "fp32")


def test_zero_k_costs_and_gives_nothing_but_zeros():
    problem = GemmProblem(2, 3, 0, "fp32", "nn")
    inputs = {"a": np.empty(problem.shape_a), "b": np.empty(problem.shape_b)}
    assert Gemm().cost(problem).flop == 0
    np.testing.assert_array_equal(Gemm().reference(problem, inputs, np)["c"], np.zeros((2, 3)))
