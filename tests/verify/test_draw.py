from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autotune.records import Operand
from autotune.verify import decode, encode
from autotune.verify.draw import draw


def drawn(dtype="fp32", *, seed="0", integers=False, name="a", shape=(300, 400), **interval):
    operand = Operand(name=name, dtype=dtype, shape=shape, **interval)
    return decode(draw(operand, seed=seed, integers=integers, xp=np), dtype, "float64")


def test_random_inputs_are_uniform():
    values = drawn()
    assert -1 <= values.min() < -0.999
    assert 0.999 < values.max() < 1
    assert abs(values.mean()) < 0.01
    assert values.var() == pytest.approx(1 / 3, rel=0.02)


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32", "fp64", "int32", "e4m3"])
def test_integer_inputs_are_every_whole_number_from_minus_four_to_four(dtype):
    values, counts = np.unique(drawn(dtype, integers=True), return_counts=True)
    assert values.tolist() == list(range(-4, 5))
    assert counts.min() > 0.9 * counts.mean()


def test_inputs_lie_in_the_interval_of_their_operand():
    values = drawn(drawn_from=(0.5, 1.0))
    assert 0.5 <= values.min() < 0.501
    assert 0.999 < values.max() < 1
    whole, counts = np.unique(drawn(integers=True, drawn_from=(0.5, 1.0)), return_counts=True)
    assert whole.tolist() == [2, 3, 4]
    assert counts.min() > 0.9 * counts.mean()


def test_inputs_are_the_same_bits_in_every_release():
    """Otherwise results that were recorded would be of other inputs than new ones."""
    floats, whole = (drawn(integers=integers, shape=(6,)) for integers in (False, True))
    assert floats[:3].tolist() == [-0.7814673185348511, -0.888412594795227, 0.03529214859008789]
    assert whole.tolist() == [-4, -4, 0, 4, -3, -2]


def test_inputs_depend_on_the_seed_and_the_operand_and_on_nothing_else():
    assert np.array_equal(drawn(), drawn())
    for other in (drawn(seed="1"), drawn(name="b")):
        assert abs(np.corrcoef(drawn().ravel(), other.ravel())[0, 1]) < 0.02


FLOATS = hnp.arrays(np.float32, st.integers(0, 20), elements=st.floats(width=32))


@given(FLOATS)
def test_bf16_rounds_as_the_type_itself_does(values):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    with np.errstate(over="ignore", invalid="ignore"):
        expected = values.astype(ml_dtypes.bfloat16).astype(np.float32)
    assert np.array_equal(
        decode(encode(values, "bf16", np), "bf16", "float32"), expected, equal_nan=True
    )


@given(hnp.arrays(np.uint16, st.integers(0, 20)))
def test_every_bf16_survives_a_round_trip(bits):
    back = encode(decode(bits, "bf16", "float32"), "bf16", np)
    is_nan = np.isnan(decode(bits, "bf16", "float32"))
    assert np.array_equal(back[~is_nan], bits[~is_nan])
