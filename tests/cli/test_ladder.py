"""``autotune ladder``: on a recording, on the host, and where it is not what was meant."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

LADDERED = Path(__file__).parents[1] / "kernels" / "laddered.py"
SQUARE = ("--problem", "m=4096,n=4096,k=4096", "--device", "recording:h200")
SMALL = ("--problem", "m=8,n=8,k=8", "--device", "host", "--rounds", "2")


def test_the_recording_of_an_h200_tells_the_story_and_is_only_read(autotune, here, tmp_path):
    ended = autotune("ladder", "gemm", *SQUARE)
    assert ended.code == 0, ended.err
    rates = {line.split()[0]: line for line in ended.out.splitlines() if " TFLOP/s" in line[:60]}
    assert {"sync1", "sync2", "cp_async", "tma", "ws_cooperative"} <= set(rates)
    assert "from recording:h200" in ended.out
    assert "of cublas" in ended.out
    assert "why: " in ended.out
    assert not (tmp_path / "autotune.db").exists()


def test_scripts_get_every_field(autotune, here):
    told = json.loads(autotune("ladder", "gemm", *SQUARE, "--format", "json").out)
    assert told["schema_version"] == 1
    assert told["problem"]["m"] == 4096
    rungs = {row["rung"]: row for row in told["rungs"]}
    assert rungs["tma"]["median_ns"] < rungs["sync1"]["median_ns"]
    assert rungs["tma"]["config"]["mechanism"] == "tma"
    flat = list(
        csv.DictReader(io.StringIO(autotune("ladder", "gemm", *SQUARE, "--format", "csv").out))
    )
    assert [row["rung"] for row in flat] == list(rungs)


def test_what_a_kernel_prints_is_no_result(autotune, here):
    ended = autotune("ladder", f"{LADDERED}:Talkative", *SMALL, "--format", "json")
    assert json.loads(ended.out)["kernel"] == "talkative"
    assert {"a word on rungs", "a word on sources"} <= set(ended.err.splitlines())


@pytest.mark.parametrize("width", [80, 120])
def test_on_a_terminal_of_any_width_nothing_is_cut(autotune, here, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    ended = autotune("ladder", "gemm", *SQUARE)
    assert max(map(len, ended.out.splitlines())) <= width
    assert "…" not in ended.out


def test_a_run_on_the_host_is_kept_and_said_to_be(autotune, here):
    ended = autotune("ladder", f"{LADDERED}:Laddered", *SMALL, "--plot", "ladder.svg")
    assert ended.code == 0, ended.err
    assert "round 2 of 2" in ended.err
    assert "recorded as study ladder-laddered-1" in ended.err
    assert "drawn as ladder.svg" in ended.err
    assert (here / "ladder.svg").read_text().startswith("<?xml")
    assert ">by_numpy: " in (here / "ladder.svg").read_text()
    [study] = json.loads(autotune("studies", "--format", "json").out)["studies"]
    assert (study["name"], study["sampler"]) == ("ladder-laddered-1", "ladder")
    quiet = autotune("-q", "ladder", f"{LADDERED}:Laddered", *SMALL)
    assert quiet.err == ""


def test_a_peer_that_is_not_there_takes_one_line(autotune, here):
    ended = autotune("-q", "ladder", f"{LADDERED}:Alone", *SMALL)
    assert ended.code == 0
    assert ended.err.startswith("note: no no_such_kernel to compare with: no kernel named ")


def test_a_ladder_without_a_right_rung_is_shown_and_exits_with_3(autotune, here):
    ended = autotune("ladder", f"{LADDERED}:Hopeless", *SMALL)
    assert ended.code == 3
    assert "note: incorrect: " in ended.out
    assert "error: no rung gave a right result for m=8,n=8,k=8" in ended.err


def test_a_relative_path_to_a_kernel_is_found_by_every_process(autotune, here, monkeypatch):
    monkeypatch.chdir(LADDERED.parent)
    assert autotune("ladder", "laddered.py:Laddered", *SMALL).code == 0


@pytest.mark.parametrize(
    ("words", "parts", "code"),
    [
        ((), ("NAME is missing",), 2),
        (("gemm",), ("--problem is missing",), 2),
        (("no_such", *SQUARE), ("no_such", "gemm", "host_matmul"), 2),
        (("cublas", *SMALL), ("cublas", "device host"), 2),
        (("gemm", "--problem", "m=8,n=8"), ("missing field k",), 2),
        (("gemm", "--problem", "m=-1,n=8,k=8"), ("m must be", "not -1"), 2),
        (("gemm", "--problem", "m=7,n=7,k=7", "--device", "recording:h200"), ("no results",), 3),
        (("gemm", *SQUARE[:2], "--device", "host"), ("'gemm'", "hint: add --device"), 2),
        (("gemm", *SQUARE[:2], "--device", "gpu"), ("'gpu'", "did you mean"), 1),
        (("host_matmul", "--problem", "m=0,n=8,k=8", "--device", "host"), ("is empty",), 2),
        (("gemm", *SQUARE, "--rounds", "0"), ("--rounds", "from 1 to 100"), 2),
        (("gemm", *SQUARE, "--trials", "many"), ("--trials", "many"), 2),
        (("gemm", *SQUARE, "--seed", "-1"), ("--seed", "from 0"), 2),
        (("gemm", *SQUARE, "--format", "xml"), ("--format", "json"), 2),
        (("gemm", *SQUARE, "--plot", "x.pdf"), ("x.pdf", ".svg or .png"), 2),
        (("gemm", *SQUARE, "--plot", "no/x.svg"), ("no/x.svg", "there is no folder"), 2),
        (("gemm", *SQUARE, "--plot", "/"), ("'/'", ".svg or .png"), 2),
        (("x\0.py:K", *SQUARE), ("x\\x00.py",), 2),
    ],
)
def test_what_cannot_be_used_gets_one_line(autotune, here, words, parts, code):
    ended = autotune("ladder", *words)
    assert (ended.code, ended.out) == (code, "")
    lines = ended.err.splitlines()
    assert lines[0].startswith("error: ")
    assert [line for line in lines[1:] if not line.startswith("hint: ")] == []
    for part in parts:
        assert part in ended.err
    assert list(here.iterdir()) == []


def test_a_kernel_without_a_ladder_says_how_to_declare_one(autotune, here):
    ended = autotune("ladder", f"{LADDERED}:ByNumpy", *SMALL)
    assert ended.code == 2
    assert "'by_numpy' declares no ladder" in ended.err
    assert "hint: its method ladder() declares one" in ended.err


@pytest.mark.parametrize("layout", ["table", "json"])
def test_a_full_disk_for_the_answer_is_said_in_one_line(here, layout):
    command = [sys.executable, "-m", "autotune", "ladder", "gemm", *SQUARE, "--format", layout]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=here
        )
    assert (ended.returncode, ended.stderr) == (
        1,
        "error: the output cannot be written: No space left on device\n",
    )


def test_a_plot_that_cannot_be_is_refused_before_anything_is_measured(autotune, here, monkeypatch):
    refused = autotune("ladder", "gemm", *SQUARE, "--plot", f"{'y' * 300}.svg")
    assert (refused.code, refused.out) == (2, "")
    assert "cannot be a file: File name too long" in refused.err
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    refused = autotune("ladder", "gemm", *SQUARE, "--plot", "ladder.svg")
    assert (refused.code, refused.out) == (1, "")
    assert "a plot needs matplotlib, which cannot be loaded: " in refused.err
