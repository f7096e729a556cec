"""Damaged tables and bundles: a clear error each time, or what was there before."""

from __future__ import annotations

import threading

import made_tables  # noqa: F401 - benchmarks can be imported then
import pytest
from damage import EQUAL, ERROR, OTHER, Watch, damage
from damage_mutations import FOLDERS, TEXTS

COUNT = 3000
MAY_DIFFER = {
    "table: bits flipped",
    "table: bytes moved",
    "table: another type",
    "table: huge number",
    "table: key gone",
    "bundle: manifest forged",
}


def test_damage_is_told_in_one_line_and_touches_nothing_else():
    outcomes, failures = damage(COUNT, seed=1)
    assert failures == []
    assert sum(outcomes.values()) == COUNT
    kinds = {f"table: {name}" for name in TEXTS} | {f"bundle: {name}" for name in FOLDERS}
    assert {kind for kind, _ in outcomes} == kinds
    assert {outcome for _, outcome in outcomes} <= {ERROR, EQUAL, OTHER}
    assert {kind for kind, outcome in outcomes if outcome == OTHER} <= MAY_DIFFER


def test_what_is_touched_is_told_unless_another_thread_touches_it(tmp_path):
    watch, other = Watch(), threading.Thread(target=(tmp_path / "other").touch)
    with watch.allowing():
        other.start()
        other.join()
    with pytest.raises(AssertionError, match="touched: open"), watch.allowing():
        (tmp_path / "own").touch()
