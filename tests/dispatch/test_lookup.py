"""The rule: exact, else nearest among those that fit, else default, each with a reason."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.dispatch import Table, broken_condition
from autotune.errors import InvalidProblem, NoValidConfig

ASKED = {"n": 4096, "k": 4096, "dtype": "bf16", "layout": "nt"}


@pytest.fixture
def table(sample, build):
    return Table.parse(build.text(sample))


def test_a_tuned_problem_is_exact(table):
    choice = table.lookup(m=4096, **ASKED)
    assert choice.source == "exact"
    assert choice.config == {"tile": 128, "mechanism": "cp_async"}
    assert choice.entry.evidence.row_id == 2


@pytest.mark.parametrize(("m", "tile"), [(17, 16), (2048, 128), (100_000, 128)])
def test_another_size_takes_the_nearest(table, m, tile):
    choice = table.lookup(m=m, **ASKED)
    assert (choice.source, choice.config["tile"]) == ("nearest", tile)
    assert f"m={choice.entry.problem['m']}" in choice.reason


def test_a_condition_that_does_not_hold_falls_to_a_default_that_fits(table):
    choice = table.lookup(**{**ASKED, "m": 4096, "k": 4100})
    assert (choice.source, choice.config["tile"]) == ("default", 8)
    assert "k must be a multiple of 8" in choice.reason


def test_a_nearer_entry_that_does_not_fit_is_passed_over(build):
    near = build.answer(64, 64, 64, tile=1, multiple_of=8)
    far = build.answer(4096, 4096, 4096, tile=2, row=2)
    table = Table.parse(build.text(build.document([near, far])))
    choice = table.lookup(m=64, n=64, k=63, dtype="bf16", layout="nt")
    assert (choice.source, choice.config["tile"]) == ("nearest", 2)


def test_exact_fields_never_mix(table):
    choice = table.lookup(**{**ASKED, "m": 16, "dtype": "fp32"})
    assert choice.config["tile"] == 64


def test_no_answer_is_an_error_that_says_so(table):
    with pytest.raises(NoValidConfig, match=r"no entry and no default may serve .*dtype=fp64"):
        table.lookup(m=16, **{**ASKED, "dtype": "fp64"})


@pytest.mark.parametrize("order", [1, -1])
def test_a_tie_goes_to_the_smaller_problem_whatever_the_order_of_the_file(build, order):
    entries = [build.answer(6, 64, 64, tile=6), build.answer(24, 64, 64, tile=24, row=2)][::order]
    table = Table.parse(build.text(build.document(entries)))
    assert table.lookup(m=12, n=64, k=64, dtype="bf16", layout="nt").config["tile"] == 6


def test_distance_is_on_a_log_scale(build):
    entries = [build.answer(16, 8, 8, tile=16), build.answer(32, 8, 8, tile=32, row=2)]
    table = Table.parse(build.text(build.document(entries)))
    asked = {"n": 8, "k": 8, "dtype": "bf16", "layout": "nt"}
    tiles = {m: table.lookup(m=m, **asked).config["tile"] for m in (22, 23, 24)}
    assert tiles == {22: 16, 23: 32, 24: 32}


def test_weights_say_how_much_an_octave_of_a_field_counts(build):
    entries = [build.answer(16, 16, 64, tile=16), build.answer(64, 64, 64, tile=64, row=2)]
    document = build.document(entries)
    asked = {"m": 16, "n": 64, "k": 64, "dtype": "bf16", "layout": "nt"}  # 2 octaves from each
    chosen = {}
    for weights in ((1, 1), (2, 1), (1, 2)):
        document["kernels"]["gemm"]["weights"] = dict(zip("mnk", (*weights, 1), strict=True))
        chosen[weights] = Table.parse(build.text(document)).lookup(**asked).config["tile"]
    assert chosen == {(1, 1): 16, (2, 1): 16, (1, 2): 64}


def test_an_empty_problem_is_answered(table):
    assert table.lookup(m=0, n=0, k=0, dtype="bf16", layout="nt").source == "nearest"


def test_an_empty_table_has_no_answer_but_does_not_break(build):
    table = Table.parse(build.text(build.document([])))
    with pytest.raises(NoValidConfig):
        table.lookup(m=1, **ASKED)


def test_whole_numbers_may_come_as_text_or_from_numpy(table):
    assert table.lookup(m="4096", **ASKED).source == "exact"
    assert table.lookup(m=np.int64(4096), **ASKED).source == "exact"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"m": -1}, "m must be at least 0"),
        ({"m": 1.0}, "m must be a whole number"),
        ({"m": True}, "m must be a whole number"),
        ({"m": "128.0"}, "m must be a whole number"),
        ({"m": None}, "m must be a whole number"),
        ({"dtype": 16}, "dtype must be text"),
        ({"q": 1}, "unknown field 'q'; allowed: m, n, k, dtype, layout"),
    ],
)
def test_a_wrong_problem_gets_one_line(table, change, message):
    with pytest.raises(InvalidProblem, match=message) as caught:
        table.lookup(**{"m": 16, **ASKED, **change})
    assert "\n" not in str(caught.value)


def test_a_missing_field_is_named(table):
    with pytest.raises(InvalidProblem, match="missing field m"):
        table.lookup(**ASKED)


def test_an_exact_field_may_be_a_whole_number(build):
    document = build.document([build.answer(16, 16, 16, tile=1)])
    gemm = document["kernels"]["gemm"]
    gemm["exact_fields"] = ["dtype", "layout", "batch"]
    gemm["entries"][0]["problem"]["batch"] = 4
    table = Table.parse(build.text(document))
    asked = {"m": 16, "n": 16, "k": 16, "dtype": "bf16", "layout": "nt"}
    assert table.lookup(**asked, batch="4").source == "exact"
    with pytest.raises(NoValidConfig):
        table.lookup(**asked, batch=5)


def test_a_table_of_two_kernels_wants_a_name(sample, build):
    sample["kernels"]["gemv"] = sample["kernels"]["gemm"]
    table = Table.parse(build.text(sample))
    assert table.lookup("gemv", m=16, **ASKED).kernel == "gemv"
    with pytest.raises(InvalidProblem, match="name a kernel; the table has: gemm, gemv"):
        table.lookup(m=16, **ASKED)
    with pytest.raises(InvalidProblem, match="no kernel named 'conv'"):
        table.lookup("conv", m=16, **ASKED)


def test_choices_go_on_to_the_next_best(table):
    sources = [choice.source for choice in table.choices(m=4096, **ASKED)]
    assert sources == ["exact", "nearest", "default", "default"]


SIZES = st.integers(0, 1 << 17)


@given(m=SIZES, n=SIZES, k=SIZES, dtype=st.sampled_from(["bf16", "fp32", "fp16"]))
def test_no_choice_ever_breaks_its_conditions(shared_table, m, n, k, dtype):
    problem = {"m": m, "n": n, "k": k, "dtype": dtype, "layout": "nt"}
    for choice in shared_table.choices(**problem):
        assert broken_condition(choice.entry.conditions, problem) is None
        assert choice.entry.problem["dtype"] == dtype
        assert choice.reason
