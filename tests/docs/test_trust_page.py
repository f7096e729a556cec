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
    assert trust.trust_page().count(trust.NOT_YET) == 7


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


def test_live_studies_and_their_peers_are_told_with_dashes_for_what_is_not_known(results):
    shape = {"m": 64, "n": 64, "k": 64}
    times = {"cold_s": 12.0, "cold_to_2_s": 9.0, "warm_s": 8.0, "warm_to_2_s": None}
    shares = dict.fromkeys(("warm_busy", "saved", "same", "same_or_tie", "loss", "loss_worst"), 0.5)
    live = {**shape, **times, **shares, "to_2_trials": 7.0, "warm_utilization": None}
    results("live_h200.json", [live])
    ours = {"cold_s": 12.0, "warm_s": 8.0}
    us = {"autotune": 10.0, "Kernel Tuner": 20.0}
    tuner = {"seconds": 5.0, "evaluations": 7}
    peers = {**shape, "autotune": ours, "Triton": {}, "Kernel Tuner": tuner, "us": us}
    results("live_peers_h200.json", [peers])
    page = trust.trust_page()
    assert "| 64³ | 12.0 | 9.0 | 8.0 | – | 7 | 50 % | – | 50 % | 50 % | 50 % |" in page
    assert "| 64³ | 12.0 | 8.0 | 10.0 | – | – | – | 5.0 | 7 | 20.0 |" in page


def test_compilers_are_told_with_what_they_warn_of(results):
    row = {"processes": 16, "seconds": 5.0, "binaries": 120, "failed": 0, "mean_s": 0.4}
    row |= {"worst_s": 1.25, "cpu_s": 0.5, "spilling": 2, "serialized": 1}
    results("compiling.json", [row], processors=16, load_at_start=0.1)
    assert "| 120 | 16 | 5.00 | 0.40 | 1.25 | 0.50 | 0 | 2 | 1 |" in trust.trust_page()
