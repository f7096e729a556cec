"""The page on scores tells what was measured, and says of the rest that it was not."""

from __future__ import annotations

import json

import marked
import pytest
import scores


@pytest.fixture
def results(tmp_path, monkeypatch):
    for module in (marked, scores):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    return tmp_path / scores.FILE


def sampler(name, score):
    each = [{"score": score}, {"score": 0.5}]
    mean = {"score": score, "interval": [score - 0.1, score + 0.1], "tail": -0.25}
    return {"sampler": name, "repeats": 20, **mean, "each": each}


def test_what_was_not_measured_is_said(results):
    page = scores.score_page()
    assert page.count(scores.NOT_YET) == page.count("<!-- scores ") == 3


def test_samplers_are_told_the_best_first_space_by_space(results):
    group = {
        "group": "hub",
        "spaces": [
            {"recording": "bowl.json.gz", "problem": {"x": 1}},
            {"recording": "h200", "problem": {"m": 8, "n": 8, "k": 8, "dtype": "bf16"}},
        ],
        "samplers": {name: sampler(name, score) for name, score in (("a", 0.1), ("b", 0.9))},
    }
    about = {"date": "2030-01-02", "kernel_tuner": "1.5.0"}
    results.write_text(json.dumps({"provenance": about, "rows": [group]}))
    page = scores.score_page()
    assert "| sampler | repeats | score | 95 % | tail | `bowl` | 8³ |" in page
    lines = [line for line in page.splitlines() if line.startswith(("| `a`", "| `b`"))]
    assert lines == [
        "| `b` | 20 | 0.90 | 0.80 … 1.00 | -0.25 | 0.90 | 0.50 |",
        "| `a` | 20 | 0.10 | 0.00 … 0.20 | -0.25 | 0.10 | 0.50 |",
    ]
    assert "Kernel Tuner 1.5.0, 2030-01-02 ([JSON]" in page
