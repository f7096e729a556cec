"""Asking by position: the same answers as by name, only faster."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.dispatch import Condition, Entry, KernelTable, Table, broken_condition, finder
from autotune.dispatch.nearest import group_of
from autotune.errors import InvalidProblem, NoValidConfig


@pytest.fixture
def find(sample, build):
    return Table.parse(build.text(sample)).finder("gemm")


def test_a_problem_is_given_by_the_values_of_its_fields(find):
    assert find.fields == ("m", "n", "k", "dtype", "layout")
    assert find[4096, 4096, 4096, "bf16", "nt"].source == "exact"
    assert find(4000, 4096, 4096, "bf16", "nt").source == "nearest"


def test_a_problem_that_was_asked_for_is_remembered(find):
    first = find[17, 4096, 4096, "bf16", "nt"]
    assert find[17, 4096, 4096, "bf16", "nt"] is first
    assert find[np.int64(17), 4096, 4096, "bf16", "nt"] is first


def test_what_is_remembered_is_bounded(find, monkeypatch):
    monkeypatch.setattr(finder, "_MOST_REMEMBERED", 10)
    for m in range(1, 100):
        assert find[m, 64, 64, "bf16", "nt"].source == "nearest"
    assert len(find) <= 10


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((16, 4096), r"2 values; a problem has m, n, k, dtype, layout"),
        ((16, 16, 16, "bf16", "nt", 1), "6 values"),
        ((-1, 16, 16, "bf16", "nt"), "m must be at least 0, not -1"),
        ((16.0, 16, 16, "bf16", "nt"), "m must be a whole number, not 16.0"),
        ((None, 16, 16, "bf16", "nt"), "m must be a whole number"),
        ((16, 16, 16, 16, "nt"), "dtype must be text, not 16"),
    ],
)
def test_a_wrong_problem_is_one_line_and_not_remembered(find, values, message):
    for ask in (lambda: find[values], lambda: find(*values)):
        with pytest.raises(InvalidProblem, match=message):
            ask()
    assert not find


def test_no_answer_is_not_remembered(find):
    for _ in range(2):
        with pytest.raises(NoValidConfig, match="no entry and no default may serve"):
            find[16, 16, 16, "fp64", "nt"]
    assert not find


SIZE = st.one_of(st.integers(0, 70), st.integers(0, 1 << 17), st.sampled_from([1 << 53, 10**17]))
ENTRIES = st.lists(
    st.tuples(SIZE, SIZE, SIZE, st.sampled_from([1, 2, 8]), st.integers(0, 100)),
    min_size=1,
    max_size=24,
    unique_by=lambda entry: entry[:3],
)


@given(
    entries=ENTRIES,
    weights=st.tuples(*[st.sampled_from([1, 2, 3, 1000])] * 3),
    asked=st.lists(st.tuples(SIZE, SIZE, SIZE), min_size=1, max_size=20),
)
def test_the_quick_way_gives_what_looking_at_every_entry_gives(build, entries, weights, asked):
    answers = []
    for at, (m, n, k, multiple, least) in enumerate(entries):
        answer = build.answer(m, n, k * multiple, tile=at, multiple_of=multiple, row=at + 1)
        bound = {"field": "m", "multiple_of": 1, "at_least": min(least, m), "at_most": None}
        answers.append(answer | {"conditions": [*answer["conditions"], bound]})
    unique = {str(answer["problem"]): answer for answer in answers}
    document = build.document(unique.values(), [build.answer(0, 0, 0, tile=99, row=None)])
    document["kernels"]["gemm"]["weights"] = dict(zip("mnk", weights, strict=True))
    table = Table.parse(build.text(document))
    for sizes in asked:
        values = (*sizes, "bf16", "nt")
        named = dict(zip(table.finder().fields, values, strict=True))
        assert table.finder()[values] == next(table.choices(**named))


@st.composite
def groups(draw):
    """Draw a table with some scaled fields, and sizes to ask for."""
    count = draw(st.integers(1, 4))
    fields = tuple("mnkq"[:count])
    sizes = st.tuples(*[SIZE] * count)
    rule = st.builds(
        Condition,
        field=st.sampled_from(fields),
        multiple_of=st.sampled_from([1, 2, 3, 8]),
        at_least=st.sampled_from([None, 0, 1, 3, 16]),
        at_most=st.sampled_from([None, 15, 63, 100]),
    )
    drawn = draw(st.dictionaries(sizes, st.lists(rule, max_size=2), min_size=1))
    entries = [
        Entry(dict(zip(fields, at, strict=True)), {}, tuple(rules), None)
        for at, rules in drawn.items()
    ]
    weights = tuple(draw(st.sampled_from([1, 2, 1000])) for _ in fields)
    table = KernelTable("any", "any", fields, (), {}, (), (), weights)
    return entries, table, draw(st.lists(sizes, min_size=1, max_size=20))


@given(drawn=groups())
def test_a_group_of_any_number_of_fields_finds_the_first_of_the_nearest(drawn):
    entries, table, asked = drawn
    group = group_of(entries, table)
    for sizes in [each for each in asked for _ in range(2) if min(each) > 0]:
        problem = dict(zip(table.scaled_fields, sizes, strict=True))
        fitting = (
            entry
            for entry in group.by_distance(sizes)
            if broken_condition(entry.conditions, problem) is None
        )
        assert group.nearest(sizes) is next(fitting, None)


def test_what_was_considered_says_why_it_was_not_taken(sample, build):
    table = Table.parse(build.text(sample))
    seen = list(table.considered(m=4096, n=4096, k=4100, dtype="bf16", layout="nt"))
    assert [each.source for each in seen] == ["nearest", "nearest", "default", "default"]
    assert [each.obstacle for each in seen] == [
        *["k must be a multiple of 8"] * 3,
        None,
    ]
    assert seen[1].octaves == pytest.approx(8.0, abs=0.01)
