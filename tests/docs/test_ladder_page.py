"""The page on the ladder walks the rungs that there are, with the figures that were measured."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import measured
import pages

from autotune.records import load_kernel
from autotune.records.targets import TARGETS

PAGE = pages.ROOT / "docs" / "ladder.md"


def test_every_rung_has_its_section_and_its_figures_in_order():
    kernel = load_kernel("gemm")
    rungs = kernel.ladder(kernel.problem_type(4096, 4096, 4096), TARGETS["sm_90a"])
    names = [rung.name for rung in rungs]
    page = PAGE.read_text()
    assert re.findall(r"^### `(\w+)`$", page, re.MULTILINE) == names
    assert re.findall(r"^<!-- measured (\w+) -->$", page, re.MULTILINE) == names


def test_every_rung_shows_the_lines_where_it_happens():
    sections = re.split(r"^### ", PAGE.read_text(), flags=re.MULTILINE)[1:]
    assert [section for section in sections if "```cuda" not in section] == []


def test_what_the_command_writes_can_take_the_place_of_the_figures(tmp_path):
    for m in (4096, 2048):
        words = f"ladder gemm --problem m={m},n={m},k={m} --device recording:h200 --format json"
        command = [sys.executable, "-m", "autotune", *words.split()]
        written = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        (tmp_path / f"ladder_{m}.json").write_text(written)
    small, large = measured.ladders_of(tmp_path)
    assert (small.title, large.title) == ("2048³", "4096³")
    names = list(large.times_us)
    assert {"sync1", "tma", "ws_pingpong"} <= set(names)
    assert 0.5 < float(large.share("tma")) < 1.0  # of cuBLAS
    rows = json.loads((tmp_path / "ladder_4096.json").read_text())["rungs"]
    gains = {row["rung"]: row["gain"] for row in rows if row["gain"]}
    assert large.gain("tma", names).startswith(f"{gains['tma']:.2f}× ")
