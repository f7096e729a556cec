from __future__ import annotations

import dataclasses

import pytest

from autotune.records import ELEMENT_BYTES, Launch, Operand, Scalar, TensorMap
from autotune.verify import stored_dtype

A = Operand(name="a", dtype="bf16", shape=(8, 9))
C = Operand(name="c", dtype="bf16", shape=(8, 8), output=True)
PACKED = Operand(name="packed", dtype="bf16", shape=(8, 64))


def launch(*arguments, grid=1, **fields):
    return Launch(
        grid=(grid, 1, 1), block=(32, 1, 1), shared_bytes=0, arguments=arguments, **fields
    )


def test_steps_are_in_order_without_those_that_have_no_block():
    first, nothing, second = launch("a"), launch("a", grid=0), launch("c")
    last = launch("packed", before=(first, nothing, second), scratch=(PACKED,))
    assert last.steps == (first, second, last)
    assert not last.empty


def test_a_launch_alone_is_its_only_step():
    assert launch("a").steps == (launch("a"),)
    assert launch("a", grid=0, before=(launch("a"),)).steps == ()


@pytest.mark.parametrize("own", [{"before": (launch("a"),)}, {"scratch": (PACKED,)}])
def test_a_launch_before_another_owns_nothing(own):
    with pytest.raises(ValueError, match="no launches before it and no scratch of its own"):
        launch("a", before=(launch("a", **own),))


def test_two_scratch_arrays_need_two_names():
    with pytest.raises(ValueError, match="two scratch arrays share a name: packed, packed"):
        launch(scratch=(PACKED, PACKED))


def test_arguments_may_name_operands_and_scratch_at_every_step():
    first = launch("a", "packed", Scalar(dtype="int32", value=9))
    both = launch(TensorMap(operand=PACKED, box=(8, 64)), "c", before=(first,), scratch=(PACKED,))
    assert both.misnamed((A, C)) is None


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (launch("b"), "argument 'b' is neither operand nor scratch; there are a, c"),
        (launch("a", before=(launch("packed"),)), "argument 'packed' is neither operand nor"),
        (launch("a", scratch=(A,)), "scratch 'a' has the name of an operand"),
        (
            launch(TensorMap(operand=PACKED, box=(8, 64)), scratch=(A,)),
            "scratch 'a' has the name of an operand",
        ),
        (
            launch(
                TensorMap(operand=PACKED, box=(8, 64)),
                scratch=(Operand(name="packed", dtype="bf16", shape=(8, 16)),),
            ),
            "a tensor map says that 'packed' is",
        ),
    ],
)
def test_a_name_of_no_array_or_of_two_is_told(wrong, reason):
    assert reason in wrong.misnamed((A, C))


@pytest.mark.parametrize("dtype", ELEMENT_BYTES)
def test_an_array_takes_as_many_bytes_as_what_it_is_held_in(dtype):
    held = stored_dtype(dtype).itemsize
    assert Operand(name="a", dtype=dtype, shape=(3, 5)).size_bytes == 15 * held
    assert Operand(name="a", dtype=dtype, shape=(3, 0)).size_bytes == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"grid": (1,)}, r"the grid of a launch is three counts, not \(1,\)"),
        ({"grid": (-1, 1, 1)}, "the grid of a launch is three counts"),
        ({"block": "abc"}, "the block of a launch is three counts"),
        ({"shared_bytes": -5}, "count of bytes"),
        ({"entry": 5}, "entry=5"),
    ],
)
def test_what_cannot_be_started_is_no_launch(change, words):
    with pytest.raises(ValueError, match=words):
        dataclasses.replace(launch("a"), **change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"shape": (-5,)}, r"operand 'a': shape \(-5,\) is not made of counts"),
        ({"shape": (2.5,)}, "is not made of counts"),
        ({"dtype": "fp7"}, "dtype 'fp7' is not one of bf16, "),
        ({"name": 5}, "the name of an operand is text, not 5"),
    ],
)
def test_what_no_memory_holds_is_no_operand(change, words):
    with pytest.raises((TypeError, ValueError), match=words):
        dataclasses.replace(A, **change)


def test_an_argument_of_no_known_kind_is_named():
    assert "argument None is neither a name nor a scalar" in launch(None).misnamed((A,))
