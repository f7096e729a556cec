from __future__ import annotations

import csv
import io
import json

import pytest

from autotune.report.sheet import Column, Sheet, show

ROWS = [
    {"name": "a", "problem": {"m": 1}, "values": [1, "x"], "time_ns": 12.5},
    {"name": "[bold]b[/bold] :smile:", "problem": {"m": 2, "n": 3}, "values": [], "time_ns": None},
]
SHEET = Sheet(
    kind="things",
    rows=ROWS,
    columns=(Column("[name]", lambda row: row["name"]), Column("m", lambda r: str(r["problem"]))),
    extra={"study": "s"},
)


def test_json_carries_a_schema_version_and_every_field(capsys):
    show(SHEET, "json")
    assert json.loads(capsys.readouterr().out) == {
        "schema_version": 1,
        "study": "s",
        "things": ROWS,
    }


def test_csv_has_one_column_for_each_nested_field(capsys):
    show(SHEET, "csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert rows[0] == {
        "name": "a",
        "problem.m": "1",
        "problem.n": "",
        "values": '[1, "x"]',
        "time_ns": "12.5",
    }
    assert [row["problem.n"] for row in rows] == ["", "3"]


def test_a_table_shows_text_as_it_is_and_cuts_nothing_in_a_pipe(capsys):
    long = "configuration " * 20
    rows = [*ROWS, {"name": long.strip(), "problem": {}}]
    show(Sheet(kind="things", rows=rows, columns=SHEET.columns), "table")
    out = capsys.readouterr().out
    assert "[bold]b[/bold] :smile:" in out
    assert "[name]" in out
    assert long.strip() in out


@pytest.mark.parametrize("layout", ["json", "csv"])
def test_no_rows_still_parse(capsys, layout):
    show(Sheet(kind="things", rows=[], columns=()), layout)
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out.strip() in ("", '{\n  "schema_version": 1,\n  "things": []\n}')


def test_an_empty_table_says_so_on_stderr(capsys):
    show(Sheet(kind="things", rows=[], columns=(), empty="nothing yet"), "table")
    assert capsys.readouterr() == ("", "nothing yet\n")
