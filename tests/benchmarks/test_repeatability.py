"""Which kernels are timed in fresh processes, and how far apart their times are said to lie."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import repeatability

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "repeatability.py"


def test_candidates_are_of_many_mechanisms_and_of_every_recorded_problem():
    chosen = repeatability.choose("h200", 30)
    assert len(chosen) == 30
    assert len({json.dumps(each, sort_keys=True) for each in chosen}) == 30
    assert len({each["config"]["mechanism"] for each in chosen}) >= 6
    assert len({json.dumps(each["problem"]) for each in chosen}) >= 9


def test_the_spread_is_of_the_slowest_over_the_fastest():
    found = repeatability.spreads([99.0, 100.0, 100.0, 102.0])
    assert found["median_us"] == 100.0
    assert found["spread"] == pytest.approx(0.03)
    assert 0.01 < found["spread_95"] <= 0.02


def test_brief_kernels_are_judged_apart():
    rows = [{"tools": {repeatability.OURS: {"median_us": us}}} for us in (5.0, 19.9, 20.0)]
    groups = repeatability.by_length(rows)
    assert {name: len(some) for name, some in groups.items()} == {"below 20 µs": 2, "over 20 µs": 1}


def test_processes_answer_and_absent_peers_are_left_out_with_a_line(tmp_path):
    path = tmp_path / "results.json"
    asked = ("--device", "recording:h200", "--candidates", "2", "--processes", "2", "--json", path)
    done = subprocess.run(
        [sys.executable, SCRIPT, *asked], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(path.read_text())
    assert [row["tools"]["autotune"]["spread"] for row in found["rows"]] == [0.0, 0.0]
    assert found["provenance"]["tools"] == ["autotune"]
    assert len(done.stderr.splitlines()) == len(repeatability.PEERS)
