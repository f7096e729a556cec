"""The page on trust tells what was measured, and says of the rest that it was not."""

from __future__ import annotations

import json

import marked
import pytest
import trust


@pytest.fixture
def results(tmp_path, monkeypatch):
    def written(name, rows, **about):
        provenance = {"date": "2030-01-02", "command": "python it.py --json x.json", **about}
        (tmp_path / name).write_text(json.dumps({"provenance": provenance, "rows": rows}))

    for module in (marked, trust):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    return written


def test_what_was_not_measured_is_said(results):
    assert trust.trust_page().count(trust.NOT_YET) == 5


def test_spreads_are_told_by_length(results):
    def kernel(us, ours, theirs):
        tools = {"autotune": ours, "do_bench": theirs}
        return {"tools": {name: {"median_us": us, "spread": s} for name, s in tools.items()}}

    rows = [kernel(5.0, 0.01, 0.2), kernel(6.0, 0.03, 0.4), kernel(20.0, 0.001, 0.02)]
    results("repeatability_h200.json", rows)
    page = trust.trust_page()
    assert "| below 20 µs | 2 | 3.00 %, 2.00 % | 40.00 %, 30.00 % |" in page
    assert "| from 20 µs on | 1 | 0.10 %, 0.10 % | 2.00 %, 2.00 % |" in page
    assert "2030-01-02, `python it.py` ([JSON](" in page


def test_the_framework_s_own_time_names_the_load(results):
    spread = {"median_ms": 1.0, "p95_ms": 2.5}
    spans = {"own": spread, "ask": spread, "device": spread}
    row = {"on": "host", "wall": spans, "cpu": spans}
    results("overhead.json", [row], processors=2, load_at_start=3.21)
    page = trust.trust_page()
    assert "| `host` | cpu | 1.00 (2.50) | 1.00 (2.50) |\n" in page
    assert "2 processors under a load of 3.2" in page
