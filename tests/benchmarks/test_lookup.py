"""The table that lookups are timed on is one that a program could load."""

from __future__ import annotations

import random
from collections import Counter

import lookup

from autotune.dispatch import Table


def test_each_kind_of_lookup_has_a_time(monkeypatch):
    monkeypatch.setattr(lookup, "WARM", 500)
    rows = lookup.measured(rounds=1)
    assert len(rows) == 8
    assert all(0 < row["low_ns"] <= row["median_ns"] for row in rows)


def test_the_table_holds_as_many_problems_as_it_says():
    entries = Table.parse(lookup.defaults_text()).kernels["gemm"].entries
    assert len({tuple(entry.problem.values()) for entry in entries}) == lookup.ENTRIES


def test_its_tree_is_as_large_as_those_of_exports_and_answers_nearly_all():
    table = Table.parse(lookup.defaults_text(tree=True))
    forest = table.kernels["gemm"].forest
    [tree] = forest.trees
    ends = [step for step in tree.steps if not step.next]
    asked = {step.measure for step in tree.steps if step.next}
    assert len(ends) == 64
    assert len({end.entry for end in ends}) > lookup.ENTRIES / 2
    assert len(asked) > len(forest.measures) / 2
    find = table.finder("gemm")
    sources = Counter(find[each].source for each in lookup.strangers(random.Random(2), 1000))
    assert sources["tree"] > 900
