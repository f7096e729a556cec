from __future__ import annotations

import pytest

from autotune.report.units import (
    counted,
    duration_text,
    rate_text,
    share_text,
    size_text,
    spread_text,
    time_text,
)


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [
        (None, "–"),
        (0.4, "0.40 ns"),
        (999.96, "1000 ns"),
        (12_345, "12.3 µs"),
        (1_234_000, "1.23 ms"),
        (2e9, "2.00 s"),
    ],
)
def test_a_time_has_three_digits_and_a_unit(time_ns, text):
    assert time_text(time_ns) == text


@pytest.mark.parametrize(
    ("flop", "moved", "time_ns", "text"),
    [
        (2 * 4096**3, 6 * 4096**2, 196_000.0, "701 TFLOP/s"),
        (2_000_000, 0, 1_000_000.0, "2.00 GFLOP/s"),
        (0, 8_000_000_000, 2e6, "4.00 TB/s"),
        (1_000_000, 4_000_000, 1e6, "4.00 GB/s"),
        (0, 0, 5.0, ""),
        (10, 10, None, ""),
        (None, None, 5.0, ""),
    ],
)
def test_a_rate_is_of_what_bounds_the_time_and_told_only_where_there_is_one(
    flop, moved, time_ns, text
):
    assert rate_text({"flop": flop, "bytes": moved}, time_ns) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "0 s"),
        (59.6, "1 min 00 s"),
        (80, "1 min 20 s"),
        (3599.7, "1 h 00 min"),
        (7500, "2 h 05 min"),
    ],
)
def test_a_duration_never_shows_sixty_of_anything(seconds, text):
    assert duration_text(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1024, "1.00 KiB"), (139 * 2**30, "139 GiB")]
)
def test_a_size_uses_binary_units(size, text):
    assert size_text(size) == text


def test_one_is_singular_and_none_is_not():
    assert [counted(count, "row") for count in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]


@pytest.mark.parametrize(("spread", "text"), [(0.019, "1.9%"), (0.31, "31.0% noisy")])
def test_a_spread_that_is_too_much_is_marked(spread, text):
    assert spread_text(spread) == text


@pytest.mark.parametrize(("part", "text"), [(0, "0.0%"), (1, "<0.1%"), (5_000, "50.0%")])
def test_a_small_share_is_not_nothing(part, text):
    assert share_text(part, 10_000) == text
