"""On a terminal of any width every number, unit, id and column is whole."""

from __future__ import annotations

import json

import pytest

STUDY = """
name = "gemm-of-a-long-name"
kernel = "gemm"
[search]
sampler = "random"
trials = 150
[problems]
dtype = "bf16"
layout = "nt"
shapes = [[1024, 1024, 1024], [4096, 4096, 4096]]
"""
RECORDED = ("--device", "recording:h200")
PROBLEM = "m=4096,n=4096,k=4096,dtype=bf16,layout=nt"


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A database of a kernel whose problems and configurations take a long line."""
    folder = tmp_path_factory.mktemp("widths")
    (folder / "s.toml").write_text(STUDY)
    return folder


@pytest.fixture(params=[80, 120])
def shown(request, autotune, monkeypatch, database):
    """Run a command on a terminal of some width, and check that its lines keep to it."""
    monkeypatch.setenv("COLUMNS", str(request.param))
    monkeypatch.setenv("AUTOTUNE_DB", f"sqlite:///{database}/results.db")
    autotune("-q", "tune", database / "s.toml", *RECORDED)

    def run(*words):
        ended = autotune(*words)
        assert ended.code == 0, ended.err
        assert max(map(len, ended.out.splitlines())) <= request.param
        assert "…" not in ended.out
        return ended.out

    return run


@pytest.mark.parametrize("what", ["best", "trials", "failures"])
def test_a_query(shown, autotune, what):
    out = shown("query", what)
    titles = {
        "best": ("row", "kernel", "device", "problem", "time", "spread", "rate", "configuration"),
        "trials": ("row", "study", "problem", "trial", "status", "time", "configuration"),
        "failures": ("row", "times", "study", "problem", "status", "message", "configuration"),
    }
    for title in titles[what]:
        assert title in out
    rows = json.loads(autotune("query", what, "--format", "json").out)["trials"]
    for row in rows if what != "failures" else rows[:1]:
        assert f"{row['trial_id']}  " in out
        assert f"m={row['problem']['m']}" in out
        for name in ("mechanism", "raster"):
            assert f"{name}={row['config'][name]}" in out
    if what == "best":
        assert out.count("TFLOP/s") == 2


def test_failures_that_say_the_same_are_one_row_for_people(shown, autotune):
    rows = json.loads(autotune("query", "failures", "--format", "json").out)["trials"]
    said = {(row["problem"]["m"], row["status"], row["message"]) for row in rows}
    assert shown("query", "failures").count("spills ") == len(said)


def test_the_summary_of_a_study(shown, database):
    out = shown("tune", database / "s.toml", *RECORDED)
    for title in ("problem", "trials", "right", "best (replayed)", "rate", "vs default"):
        assert title in out
    assert out.count("TFLOP/s") == out.count("×") == out.count(" µs") == 2
    assert "m=1024,n=1024,k=1024 " in out


def test_doctor(shown, autotune):
    out = shown("doctor")
    for check in json.loads(autotune("doctor", "--format", "json").out)["checks"]:
        line = next(line for line in out.splitlines() if f"  {check['name']}  " in line)
        assert line[0] in "✓–✗"
        assert check["found"].split()[0][:40] in line


def test_studies(shown):
    out = shown("studies")
    assert "gemm-of-a-long-name" in out
    assert "random" in out
    assert " 300 " in out


def test_explain(shown, autotune):
    words = ("kernels", "gemm", "--problem", PROBLEM, "--explain")
    out = shown(*words)
    census = json.loads(autotune(*words, "--format", "json").out)
    for row in census["constraints"]:
        assert row["name"] in out if row["removed"] else f"\n{row['name']} " not in out
        assert not row["removed"] or f" {row['removed']:,} " in out
    assert f"{census['total'] - census['valid']:,}" in out
    assert " 0.0%" not in out
