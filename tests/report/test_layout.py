from __future__ import annotations

import pytest

from autotune.report.layout import Column, lay_out

COLUMNS = (
    Column("row", lambda row: str(row["id"]), right=True),
    Column("study", lambda row: row["study"], moves=True, shared="\n"),
    Column("problem", lambda row: row["problem"], moves=True, shared=","),
    Column("time", lambda row: row["time"], right=True),
    Column("configuration", lambda row: row["config"], moves=True),
)
CONFIG = "mechanism=ws_pingpong raster=along_m raster_group=8 stages=4 tile_m=128 tile_n=192"


def _row(number, **changes):
    row = {"id": number, "study": "s", "problem": f"m={number},dtype=bf16", "time": "12.3 µs"}
    return {**row, "config": CONFIG, **changes}


def test_what_fits_stands_beside_each_other_and_nothing_is_padded_at_the_end():
    lines = lay_out(COLUMNS, [_row(7)], 200)
    assert lines.head == "row  study  problem            time  configuration"
    assert lines.rows == [f"  7  s      m=7,dtype=bf16  12.3 µs  {CONFIG}"]


def test_what_all_rows_share_is_said_once():
    lines = lay_out(COLUMNS, [_row(7), _row(8)], 200)
    assert lines.caption == "study s; problem dtype=bf16"
    assert lines.head == "row  problem     time  configuration"
    assert lines.rows[1] == f"  8  m=8      12.3 µs  {CONFIG}"


def test_a_shape_stays_whole_though_a_size_is_the_same_in_every_row():
    rows = [_row(i, problem=f"m={i},n=64,dtype=bf16") for i in (7, 8)]
    assert lay_out(COLUMNS, rows, 200).rows[0] == f"  7  m=7,n=64  12.3 µs  {CONFIG}"
    same = [_row(i, problem="m=7,n=64") for i in (7, 8)]
    assert lay_out(COLUMNS, same, 200).caption == "study s; problem m=7,n=64"


@pytest.mark.parametrize("edge", [1, 20, 40, 60, 80, 100, 120, None])
def test_at_no_width_is_a_word_or_a_title_lost(edge):
    rows = [_row(1), _row(123456, study="a long name of a study", time="1000 ns")]
    lines = lay_out(COLUMNS, rows, edge)
    text = "\n".join((lines.caption, lines.head, *lines.rows))
    for column in COLUMNS:
        assert column.title in text
    for word in (*CONFIG.split(), "m=123456", "12.3 µs", "1000 ns", "123456"):
        assert word in text
    if edge and edge >= 40:
        assert max(map(len, text.splitlines())) <= edge


def test_a_pipe_gets_compact_rows_and_whole_lines_below():
    lines = lay_out(COLUMNS, [_row(7)], None)
    assert lines.rows == ["  7  s      m=7,dtype=bf16  12.3 µs", f"    configuration: {CONFIG}"]


def test_a_column_that_folds_keeps_its_place():
    columns = (Column("", lambda r: r["mark"]), Column("found", lambda r: r["found"], folds=True))
    rows = [{"mark": "✓", "found": "/a/long/path/" + "x" * 40 + "\n→ install it"}]
    lines = lay_out(columns, rows, 33)
    assert lines.rows[0] == "✓  /a/long/path/" + "x" * 17
    assert lines.rows[-1] == "   → install it"
    assert all(len(line) <= 33 for line in lines.rows)


def test_where_no_row_has_a_text_there_is_no_column():
    lines = lay_out(COLUMNS, [_row(7, study=""), _row(8, study="")], 200)
    assert lines.head == "row  problem     time  configuration"
    assert lines.caption == "problem dtype=bf16"
