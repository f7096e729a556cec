"""The page on tables says what each rule loses, and works before that was measured."""

from __future__ import annotations

import json

import losses
import pytest

FIGURES = {"judged": 2, "mean": 0.031, "p95": 0.08, "worst": 0.1, "against_cublas": 1.0449}
ROWS = [
    {"rule": "table", **FIGURES, "families": {"decode": 0.04, "tails": 0.022}},
    {"rule": "nearest M", **FIGURES, "against_cublas": None, "families": {"decode": -0.5}},
    {"rule": "predicted", **dict.fromkeys(FIGURES), "judged": 0, "families": {}},
    {"family": "decode", "m": 16},
]


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(losses, "RESULTS", tmp_path)
    monkeypatch.setattr("marked.RESULTS", tmp_path)
    return tmp_path


def test_a_rule_that_was_judged_has_a_line_with_a_column_for_each_family():
    head, ours, other = losses.lines(ROWS)
    assert head[-2:] == ["decode", "tails"]
    assert ours == ["`table`", "2", "3.1 %", "8.0 %", "10.0 %", "1.045", "4.0 %", "2.2 %"]
    assert other[-3:] == ["", "-50.0 %", ""]


def test_the_page_is_written_with_and_without_figures(results):
    assert f"<!-- unseen -->\n{losses.NOT_YET}\n<!-- end -->" in losses.table_page()
    about = {"device": "GPU", "driver": "1", "date": "2026-01-02", "command": "cmd --json x"}
    text = json.dumps({"provenance": about, "rows": ROWS})
    (results / losses.FILE).write_text(text)
    page = losses.table_page()
    assert "| `table` | 2 |" in page
    assert "GPU, driver 1, 2026-01-02, `cmd` (" in page
