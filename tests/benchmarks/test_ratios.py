from __future__ import annotations

import pytest
from ratios import geometric_mean, heading, line, summary

SIDES = ("autotune", "cuBLAS", "Triton")


def row(group, ours, *peers, wrong=0):
    us = dict(zip(SIDES, (ours, *peers), strict=False))
    us = {side: each for side, each in us.items() if each is not None}
    counts = {side: wrong if side == "cuBLAS" else 0 for side in us}
    return {"group": group, "m": 64, "n": 32, "k": 16, "flop": 2e6, "us": us, "wrong": counts}


def test_the_geometric_mean_of_a_ratio_and_its_inverse_is_one():
    assert geometric_mean([4.0, 0.25]) == pytest.approx(1.0)
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)


def test_a_line_has_times_rates_and_ratios_below_their_heads():
    text = line(row("square", 2.0, 4.0, 3.0), SIDES)
    assert " ".join(text.split()) == "square 64 32 16 2.00 1.0 4.00 0.5 3.00 0.7 2.000 1.500"
    head = heading(SIDES)
    assert text.index("2.00") + 4 == head.index("autotune µs") + len("autotune µs")
    assert "cuBLAS/ours" in head


def test_a_side_that_could_not_compute_leaves_a_gap():
    assert line(row("square", 2.0, None, 3.0), SIDES).count("–") == 3
    assert "–" in line(row("square", None, 2.0, 3.0), SIDES)


def test_what_was_not_rounded_once_is_said():
    assert line(row("square", 2.0, 4.0, wrong=7), SIDES[:2]).endswith("cuBLAS: 7 not rounded once")


def test_means_are_by_group_without_the_unaligned_and_of_all():
    rows = [row("square", 1.0, 2.0), row("square", 1.0, 8.0), row("unaligned", 1.0, 0.5)]
    found = {words[0]: text for text in summary(rows) if (words := text.split())}
    assert "2 shapes   cuBLAS 4.000 (worst 2.000)" in found["square"]
    assert "1 shapes   cuBLAS 0.500 (worst 0.500)" in found["unaligned"]
    assert "2 shapes   cuBLAS 4.000" in found["aligned"]
    assert "3 shapes   cuBLAS 2.000 (worst 0.500)" in found["all"]
    assert "Triton" not in found["all"]


def test_a_shape_without_ours_is_in_no_mean():
    [*_, last] = summary([row("square", None, 2.0), row("square", 1.0, 3.0)])
    assert "cuBLAS 3.000" in last
