"""The table that lookups are timed on is one that a program could load."""

from __future__ import annotations

import lookup

from autotune.dispatch import Table


def test_each_kind_of_lookup_has_a_time(monkeypatch):
    monkeypatch.setattr(lookup, "WARM", 500)
    rows = lookup.measured(rounds=1)
    assert len(rows) == 6
    assert all(0 < row["low_ns"] <= row["median_ns"] for row in rows)


def test_the_table_holds_as_many_problems_as_it_says():
    entries = Table.parse(lookup.defaults_text()).kernels["gemm"].entries
    assert len({tuple(entry.problem.values()) for entry in entries}) == lookup.ENTRIES
