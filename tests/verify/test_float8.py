"""Codes of eight bits, held against the type itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autotune.verify import decode, encode

ml_dtypes = pytest.importorskip("ml_dtypes")
CODES = np.arange(256, dtype=np.uint8)


def rounded_by_the_type(values):
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(ml_dtypes.float8_e4m3fn).view(np.uint8)


@pytest.mark.parametrize("to", ["float32", "float64"])
def test_every_code_means_what_the_type_says(to):
    values = decode(CODES, "e4m3", to)
    assert values.dtype == to
    assert np.array_equal(values, CODES.view(ml_dtypes.float8_e4m3fn).astype(to), equal_nan=True)
    assert np.array_equal(np.signbit(values), CODES >= 128)


def test_every_code_survives_a_round_trip():
    assert np.array_equal(encode(decode(CODES, "e4m3", "float64"), "e4m3", np), CODES)


def test_ties_go_to_even_and_their_neighbours_to_the_nearest():
    numbers = decode(CODES[:0x7F], "e4m3", "float32")  # 0 to 448, in order
    middles = (numbers[1:] + numbers[:-1]) / 2
    beyond = np.array([464, 479, 480, 1e5, np.inf, np.nan], np.float32)
    at = np.concatenate([middles, beyond])
    for values in (at, np.nextafter(at, np.float32(0)), np.nextafter(at, np.float32(np.inf))):
        for signed in (values, -values):
            assert np.array_equal(encode(signed, "e4m3", np), rounded_by_the_type(signed))


@given(hnp.arrays(np.float32, st.integers(1, 20), elements=st.floats(width=32)))
def test_any_value_rounds_as_the_type_does(values):
    assert np.array_equal(encode(values, "e4m3", np), rounded_by_the_type(values))


def test_whole_numbers_are_encoded_and_the_array_keeps_its_shape():
    values = np.arange(-8, 8, dtype=np.int32).reshape(2, 8)
    codes = encode(values, "e4m3", np)
    assert (codes.dtype, codes.shape) == (np.uint8, (2, 8))
    assert np.array_equal(decode(codes, "e4m3", "float64"), values)
