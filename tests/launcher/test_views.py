"""Which memory an array stands for, and which problem two matrices pose."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.errors import InvalidInput
from autotune.launcher.matmul import product
from autotune.launcher.view import View, view


def matrix(name, shape, strides, dtype="fp16"):
    return View(name=name, pointer=1 << 20, shape=shape, strides=strides, dtype=dtype)


def complex_matrix(foreign):
    array = foreign((2, 2), typestr="<c8")
    array.dtype = np.dtype("complex64")
    return array


def test_the_array_interface_is_read(foreign):
    found = view("a", foreign((2, 3), "fp32", strides=(8, 1), stream=7))
    assert (found.shape, found.strides, found.dtype) == ((2, 3), (8, 1), "fp32")
    assert (found.producer, found.read_only, found.dense) == (7, False, False)


def test_the_array_interface_without_strides_is_row_major(foreign):
    found = view("a", foreign((2, 3, 4)))
    assert (found.strides, found.dense) == ((12, 4, 1), True)


@pytest.mark.parametrize("dtype", ["bf16", "e4m3"])
def test_the_array_says_what_has_no_typestr(foreign, dtype):
    found = view("a", foreign((2, 2), dtype, strides=(2, 1)))
    assert (found.dtype, found.strides, found.dense) == (dtype, (2, 1), True)
    array = foreign((2, 2), typestr="<V2")
    assert view("a", array).dtype == "fp16"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (complex_matrix, "a has elements of complex64; allowed: bfloat16, float16"),
        (lambda f: f((2, 2), mask=object()), "a is a masked array"),
        (lambda _: np.zeros((2, 2), np.float32), "a is a ndarray that is not on a GPU"),
        (lambda _: [[1.0]], "a is a list, not an array on a GPU"),
        (lambda _: None, "a is a NoneType, not an array on a GPU"),
    ],
)
def test_what_no_kernel_takes_is_refused(foreign, make, message):
    with pytest.raises(InvalidInput, match=message):
        view("a", make(foreign))


def test_strides_between_elements_are_refused(foreign):
    array = foreign((2, 2))
    array.__cuda_array_interface__["strides"] = (5, 2)
    with pytest.raises(InvalidInput, match=r"a has strides of \(5, 2\) bytes between fp16"):
        view("a", array)


@given(
    shape=st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple),
    steps=st.lists(st.integers(1, 2), min_size=3, max_size=3),
    order=st.permutations(range(3)),
)
def test_dense_means_what_numpy_calls_c_contiguous(shape, steps, order):
    whole = np.zeros([8] * len(shape), np.float16)
    part = whole[tuple(slice(0, n * s, s) for n, s in zip(shape, steps, strict=False))]
    axes = [axis for axis in order if axis < len(shape)]
    for array in (part.transpose(axes), np.ascontiguousarray(part).transpose(axes)):
        strides = tuple(stride // array.itemsize for stride in array.strides)
        assert matrix("a", array.shape, strides).dense == array.flags.c_contiguous


@pytest.mark.parametrize(("a_as", "b_as"), list(itertools.product("nt", "nt")))
def test_transposed_views_name_the_layout(a_as, b_as):
    a = matrix("a", (30, 20), (20, 1) if a_as == "n" else (1, 30))
    b = matrix("b", (20, 40), (40, 1) if b_as == "n" else (1, 20))
    found = product(a, b, None)
    expected = {"m": 30, "n": 40, "k": 20, "dtype": "fp16", "layout": a_as + b_as}
    assert found.problem == expected
    assert found.a.dense
    assert found.b.dense


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_a_given_layout_says_what_memory_holds(layout):
    shape_a = (30, 20) if layout[0] == "n" else (20, 30)
    shape_b = (20, 40) if layout[1] == "n" else (40, 20)
    a, b = matrix("a", shape_a, (shape_a[1], 1)), matrix("b", shape_b, (shape_b[1], 1))
    problem = product(a, b, layout).problem
    assert (problem["m"], problem["n"], problem["k"]) == (30, 40, 20)


def test_a_vector_takes_the_layout_with_long_rows():
    row, column = matrix("a", (1, 64), (64, 1)), matrix("b", (64, 1), (1, 1))
    assert product(row, column, None).problem["layout"] == "nt"


@pytest.mark.parametrize(
    ("a", "b", "layout", "message"),
    [
        (((2, 3), (3, 1)), ((4, 5), (5, 1)), None, "a has 3 elements along k and b has 4"),
        (((2, 3), (6, 2)), ((3, 5), (5, 1)), None, "a has strides .* neither it nor its transpose"),
        (((2, 3), (4, 1)), ((3, 5), (5, 1)), None, "a has strides .* neither it nor its transpose"),
        (((2, 3), (-3, 1)), ((3, 5), (5, 1)), None, "a has strides"),
        (((2, 3), (0, 0)), ((3, 5), (5, 1)), None, "a has strides"),
        (((6,), (1,)), ((3, 5), (5, 1)), None, "a has 1 axes; a matrix has 2"),
        (((2, 3), (3, 1)), ((3, 5), (5, 1)), "nx", "layout must be nn, nt, tn or tt, not 'nx'"),
        (((2, 3), (3, 1)), ((3, 5), (5, 1)), "nt", "a has 3 elements along k and b has 5"),
    ],
)
def test_matrices_that_pose_no_problem_are_refused(a, b, layout, message):
    with pytest.raises(InvalidInput, match=message):
        product(matrix("a", *a), matrix("b", *b), layout)


def test_two_dtypes_are_refused():
    with pytest.raises(InvalidInput, match="a is fp16 and b is fp32"):
        product(matrix("a", (2, 2), (2, 1)), matrix("b", (2, 2), (2, 1), "fp32"), None)


def test_eight_bit_matrices_need_a_scale_that_matmul_does_not_take():
    a, b = (matrix(name, (2, 2), (2, 1), "e4m3") for name in "ab")
    with pytest.raises(InvalidInput, match="a is e4m3, whose product is scaled") as caught:
        product(a, b, None)
    assert "Dispatcher.run" in caught.value.hint
