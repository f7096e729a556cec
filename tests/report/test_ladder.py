"""What a ladder says, on a made-up report: the numbers are chosen so that ratios are plain."""

from __future__ import annotations

import dataclasses
import json
import sys

import pytest

from autotune.errors import AutotuneError, InvalidInput
from autotune.records import (
    Config,
    DeviceIdentity,
    Measurement,
    Resources,
    Rung,
    Status,
    Target,
    Toolchain,
    Trial,
    load_kernel,
)
from autotune.report.ladder import ladder_sheet
from autotune.report.ladder_plot import write_plot
from autotune.report.sheet import show
from autotune.study import LadderReport, LadderSpec, Step

H200 = DeviceIdentity(
    kind="cuda",
    name="NVIDIA H200",
    target=Target(
        arch="sm_90a", sm_count=132, shared_bytes_per_block=1, shared_bytes_per_sm=1, l2_bytes=1
    ),
    memory_bytes=1,
    driver="580.1",
)
CONFIG = load_kernel("gemm").ladder(load_kernel("gemm").problem_type(64, 64, 64), H200.target)[0]


def step(name, median_ns=None, **more):
    rung = Rung(
        name=name, where={}, preferred=CONFIG.preferred, change=f"{name} adds", why=f"{name} helps"
    )
    if median_ns is None:
        return Step(rung=rung, **more)
    trial = Trial(
        number=0,
        problem_key="p",
        config=CONFIG.preferred[0],
        status=Status.OK,
        measurement=Measurement(samples_ns=(median_ns,)),
        resources=Resources(registers=168),
        row_id=7,
    )
    more = {"choice": "representative", "shared_bytes": 98304, **more}
    return Step(rung=rung, status=Status.OK, trial=trial, **more)


def report(kernel="gemm", fields=None, **changes):
    loaded = load_kernel(kernel)
    problem = loaded.problem_type.parse(fields or {"m": 1000, "n": 1000, "k": 1000})
    base = LadderReport(
        spec=LadderSpec(kernel_ref=kernel, kernel=loaded, problem=problem),
        device="cuda:0",
        identity=H200,
        toolchain=Toolchain(compiler="nvrtc", version="13.0.88 CL-1"),
        replays=False,
        study="ladder-gemm-1",
        steps=(
            step("sync1", 8000.0),
            step("ring", status=Status.CONSTRAINT, message="alignment: rows of 3 bytes"),
            step("tma", 2000.0, choice="fastest of 5"),
            step("lost", message="recording:x has no result of it"),
        ),
        peer=step("cublas", 1000.0),
    )
    return dataclasses.replace(base, **changes)


def rows(of):
    return {row["rung"]: row for row in ladder_sheet(of).rows}


def text(of, capsys):
    show(ladder_sheet(of), "table")
    return capsys.readouterr().out


def test_a_rung_is_held_against_the_peer_and_the_last_rung_that_was_right():
    found = rows(report())
    assert (found["sync1"]["of_peer"], found["tma"]["of_peer"]) == (0.125, 0.5)
    assert (found["sync1"]["gain"], found["tma"]["gain"]) == (None, 4.0)
    assert found["ring"]["gain"] is found["ring"]["of_peer"] is None
    assert (found["cublas"]["of_peer"], found["cublas"]["peer"]) == (1.0, True)


def test_the_table_tells_the_story(capsys):
    out = text(report(), capsys)
    assert "gemm m=1000,n=1000,k=1000,dtype=bf16,layout=nt on NVIDIA H200, driver 580.1" in out
    assert "nvrtc 13.0.88\n" in out
    lines = out.splitlines()
    head = next(line for line in lines if line.startswith("rung"))
    assert head.split("  ")[0] == "rung"
    for title in ("time", "rate", "of cublas", "gain", "registers", "shared"):
        assert title in head
    tma = next(line for line in lines if line.startswith("tma"))
    assert " ".join(tma.split()).startswith("tma 2.00 µs 1000 TFLOP/s 0.50 4.00× 168 96.0 KiB")
    for words in (
        "tma adds",
        "tma helps",
        "fastest of 5",
        "constraint: alignment: rows of 3 bytes",
        "recording:x has no result of it",
    ):
        assert words in out


def test_without_a_peer_that_ran_the_column_has_dashes(capsys):
    out = text(report(peer=None), capsys)
    sync1 = next(line for line in out.splitlines() if line.startswith("sync1"))
    assert sync1.split()[5] == "–"
    failed = step("cublas", status=Status.RUNTIME_ERROR, message="refused")
    assert "runtime_error: refused" in text(report(peer=failed), capsys)


def test_a_peer_from_a_file_heads_its_column_by_its_name(capsys, monkeypatch):
    shown = report(peer=step("by_numpy", 1000.0))
    monkeypatch.setattr(type(shown.spec.kernel), "peer", "folder/peers.py:ByNumpy")
    assert "of by_numpy " in text(shown, capsys).splitlines()[1]
    assert ladder_sheet(shown).extra["peer"] == "folder/peers.py:ByNumpy"


def test_a_kernel_that_names_no_peer_has_no_column_for_it(capsys):
    out = text(report("host_matmul", {"m": 8, "n": 8, "k": 8}, peer=None), capsys)
    assert "of " not in out.splitlines()[1]


def test_what_memory_bounds_is_told_in_bytes(capsys):
    streamed = report("stream", {"count": 10**6, "operation": "triad"}, peer=None)
    assert "6.00 TB/s" in text(streamed, capsys)
    assert "FLOP/s" not in text(streamed, capsys)


def test_json_says_all_that_it_takes_to_believe_and_repeat_it(capsys):
    shown = report()
    shown = dataclasses.replace(shown, spec=dataclasses.replace(shown.spec, trials=4))
    show(ladder_sheet(shown), "json")
    told = json.loads(capsys.readouterr().out)
    assert told["driver"] == "580.1"
    assert told["study"] == "ladder-gemm-1"
    assert told["rounds"] == 3
    assert told["date"] is not None
    assert told["command"] == (
        "autotune ladder gemm --problem m=1000,n=1000,k=1000,dtype=bf16,layout=nt "
        "--device cuda:0 --trials 4"
    )
    sync1 = told["rungs"][0]
    assert (sync1["samples_ns"], sync1["row_id"]) == ([8000.0], 7)
    assert Config(sync1["config"]) == CONFIG.preferred[0]


def test_what_is_replayed_has_neither_date_nor_rounds():
    extra = ladder_sheet(report(replays=True, device="recording:h200")).extra
    assert (extra["date"], extra["rounds"]) == (None, None)
    assert extra["replayed_from"] == "recording:h200"


def test_a_plot_names_every_rung_the_peer_the_unit_and_the_device(tmp_path):
    write_plot(tmp_path / "ladder.svg", report())
    drawn = (tmp_path / "ladder.svg").read_text()
    for word in ("sync1", "ring", "constraint", "tma", "1000 TFLOP/s", "lost", "not measured"):
        assert f">{word}<" in drawn
    assert ">cublas: 2000 TFLOP/s<" in drawn
    assert ">TFLOP/s<" in drawn
    assert "NVIDIA H200, driver 580.1, nvrtc 13.0.88" in drawn
    assert "dc:date" not in drawn


@pytest.mark.parametrize("suffix", ["svg", "PNG"])
def test_equal_reports_give_equal_files(tmp_path, suffix):
    paths = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for path in paths:
        write_plot(path, report())
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert first.startswith(b"<?xml" if suffix == "svg" else b"\x89PNG")


def test_a_ladder_without_a_right_rung_can_be_drawn(tmp_path):
    failed = step("sync1", status=Status.INCORRECT, message="wrong")
    write_plot(tmp_path / "none.svg", report(steps=(failed,), peer=None))
    assert ">incorrect<" in (tmp_path / "none.svg").read_text()


def test_where_a_plot_cannot_go(tmp_path):
    (tmp_path / "folder.svg").mkdir()
    for name, words in (
        ("x.pdf", r"must end in \.svg or \.png"),
        ("x", r"must end in \.svg or \.png"),
        ("no/x.svg", "there is no folder"),
        ("folder.svg", "is there and is not a file"),
    ):
        with pytest.raises(InvalidInput, match=words):
            write_plot(tmp_path / name, report())
    assert [path.name for path in tmp_path.iterdir()] == ["folder.svg"]


def test_a_missing_library_is_named_with_what_to_type(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(AutotuneError, match="needs matplotlib") as raised:
        write_plot(tmp_path / "x.svg", report())
    assert raised.value.hint.endswith("[plot]'")
    assert list(tmp_path.iterdir()) == []


def test_a_host_has_no_columns_of_a_gpu_and_nothing_to_note(capsys):
    bare = [
        dataclasses.replace(each, trial=dataclasses.replace(each.trial, resources=None))
        for each in (step("ijk", 8000.0, shared_bytes=None), step("ikj", 2000.0, shared_bytes=None))
    ]
    shown = report("host_matmul", {"m": 8, "n": 8, "k": 8}, steps=tuple(bare), peer=None)
    head = text(shown, capsys).splitlines()[1]
    assert head.split()[:4] == ["rung", "time", "rate", "gain"]
    for title in ("registers", "shared", "note"):
        assert title not in head


def test_a_time_that_scatters_says_so(capsys):
    scattered = step("sync1", 8000.0, choice="fastest of 5")
    samples = Measurement(samples_ns=(6000.0, 8000.0, 12000.0))
    scattered = dataclasses.replace(
        scattered, trial=dataclasses.replace(scattered.trial, measurement=samples)
    )
    out = text(report(steps=(scattered,)), capsys)
    assert "fastest of 5; spread 75.0% noisy" in out
    assert "noisy" not in text(report(), capsys)


@pytest.mark.parametrize("name", ["$a_{b", "$\\frac{x$", "_", "x" * 200, "中", "cublas"])
def test_any_name_can_be_drawn(tmp_path, name):
    write_plot(tmp_path / "odd.png", report(steps=(step(name, 8000.0),)))
    assert (tmp_path / "odd.png").stat().st_size


def test_a_rung_with_the_name_of_the_peer_keeps_its_own_time(tmp_path):
    write_plot(tmp_path / "twins.svg", report(steps=(step("cublas", 8000.0),)))
    drawn = (tmp_path / "twins.svg").read_text()
    assert ">250 TFLOP/s<" in drawn
    assert ">cublas: 2000 TFLOP/s<" in drawn
