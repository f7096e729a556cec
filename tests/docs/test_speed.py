"""The speeds in the README are those of the committed files, and those files name no machine."""

from __future__ import annotations

import json
import math
import re

import marked
import measured
import pages
import pytest
import speed


def row(m, ours, **peers):
    return {"m": m, "n": m, "k": m, "us": {"autotune": ours, **peers}}


def test_a_mean_is_geometric_and_the_worst_names_its_shape():
    rows = [row(64, 10.0, cuBLAS=20.0), row(96, 10.0, cuBLAS=9.0)]
    assert speed.compared(rows, "cuBLAS") == (f"{math.sqrt(2 * 0.9):.3f}", "0.900 (96³)")


def test_a_peer_that_took_no_part_leaves_its_cells_empty():
    assert speed.compared([row(64, 10.0, cuBLAS=20.0)], "Triton") == ("", "")


def test_a_mark_that_nobody_tells_is_no_silent_gap(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- unheard of -->\nold\n<!-- end -->\n")
    with pytest.raises(KeyError, match="unheard of"):
        marked.filled(page, {})


def test_text_around_a_part_stays_and_what_was_in_it_goes(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- part -->\nold\n<!-- end -->\nafter\n")
    now = marked.filled(page, {"part": lambda: "new"})
    assert now == "before\n<!-- part -->\nnew\n<!-- end -->\nafter\n"


def test_every_rung_was_measured_beside_cublas_at_both_sizes():
    ladders = measured.ladders_of(measured.RESULTS)
    assert [ladder.title for ladder in ladders] == ["4096³", "8192³"]
    names = re.findall(r"^### `(\w+)`$", measured.PAGE.read_text(), re.MULTILINE)
    for ladder in ladders:
        assert list(ladder.times_us) == names
        assert ladder.peer_us


def test_a_ladder_says_rate_and_share_of_what_was_timed():
    told = json.loads((measured.RESULTS / "ladder_4096_h200.json").read_text())
    times = {each["rung"]: each["median_ns"] for each in told["rungs"]}
    square = measured.ladders_of(measured.RESULTS)[0]
    assert square.tflops("sync1") == f"{2 * 4096**3 / times['sync1'] / 1e3:.0f}"
    assert square.share("sync1") == f"{times['cublas'] / times['sync1']:.2f}"


@pytest.mark.parametrize("file", sorted(marked.RESULTS.iterdir()), ids=lambda file: file.name)
def test_a_committed_file_is_linked_and_names_no_place_of_its_machine(file):
    assert any(f"results/{file.name})" in page.read_text() for page in pages.EVERY)
    assert re.findall(r'"(?:command|file)": ".*(?:[ =]|sqlite:///)/\w.*"', file.read_text()) == []
