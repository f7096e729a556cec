"""A tree answers before nearness does, where what it leads to may serve."""

from __future__ import annotations

import random

import numpy as np
import pytest

from autotune.dispatch import Table

NT = {"n": 4096, "k": 4096, "dtype": "bf16", "layout": "nt"}


@pytest.fixture
def table(guided, build):
    return Table.parse(build.text(guided))


@pytest.mark.parametrize(("m", "k", "tile"), [(384, 4096, 16), (385, 4096, 128), (4000, 4104, 16)])
def test_a_problem_goes_where_the_questions_lead(table, m, k, tile):
    choice = table.lookup(**NT | {"m": m, "k": k})
    assert (choice.source, choice.config["tile"]) == ("tree", tile)
    assert "m=" in choice.reason


def test_a_tuned_problem_asks_no_tree(table):
    assert table.lookup(m=4096, **NT).source == "exact"


def test_other_exact_fields_have_no_tree(table):
    assert table.lookup(m=16, **NT | {"dtype": "fp32"}).source == "nearest"


def test_what_may_not_serve_leaves_the_answer_to_nearness(guided, build):
    entry = guided["kernels"]["gemm"]["entries"][1]
    entry["conditions"] = [{"field": "m", "multiple_of": 2, "at_least": None, "at_most": None}]
    table = Table.parse(build.text(guided))
    assert table.lookup(m=4000, **NT).config["tile"] == 128
    choice = table.lookup(m=4001, **NT)
    assert (choice.source, choice.config["tile"]) == ("nearest", 16)


def test_what_was_considered_names_the_tree_and_no_entry_twice(table):
    seen = list(table.considered(m=384, **NT))
    assert [each.source for each in seen] == ["tree", "nearest", "default", "default"]
    assert len({id(each.entry) for each in seen}) == 4
    here = [each.source for each in table.considered(m=16, **NT)]
    assert here == ["exact", "nearest", "default", "default"]


def test_a_default_says_that_the_tree_was_no_help(table):
    choice = table.lookup(m=384, **NT | {"k": 4100})
    assert choice.source == "default"
    assert "the tree entry, m=16" in choice.reason


def test_fast_and_thorough_answers_agree_at_any_size(table):
    draw = random.Random(0)
    find = table.finder("gemm")
    for _ in range(3000):
        m, n, k = (draw.choice((0, 8, draw.randrange(1 << draw.randrange(1, 50)))) for _ in "mnk")
        problem = (m, n, k, "bf16", "nt")
        thorough = next(find.choices(problem))
        assert find[problem].entry is thorough.entry
        assert find[problem].source == thorough.source


def test_numbers_of_other_kinds_are_understood(table):
    assert table.finder("gemm")[np.int64(384), 4096, 4096, "bf16", "nt"].source == "tree"
