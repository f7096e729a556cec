"""Running, resuming and reading back real studies on the host's own compiler."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil

import pytest


@pytest.fixture
def copied(tuned, here):
    """The study that has run, with a database and a folder of its own."""
    for name in ("study.toml", "results.db"):
        shutil.copy(tuned.folder / name, here / name)
    return "sqlite:///results.db"


def test_a_study_ends_with_a_table_and_says_what_is_best(tuned):
    assert "wrote table.json: 1 problem" in tuned.ended.err
    assert "m=48,n=32,k=16" in tuned.ended.out
    assert "FLOP/s" in tuned.ended.out
    assert "tile_m=" in tuned.ended.out
    table = json.loads((tuned.folder / "table.json").read_text())
    assert len(table["kernels"]["host_matmul"]["entries"]) == 1


def test_progress_in_a_pipe_is_plain_lines(tuned):
    assert "study small: kernel host_matmul, 1 problem" in tuned.ended.err
    assert "6 of 1,425 configurations to try" in tuned.ended.err
    assert "best" in tuned.ended.err
    assert "\x1b" not in tuned.ended.err
    assert "\r" not in tuned.ended.err


def test_a_finished_study_does_nothing_and_says_so(autotune, copied):
    ended = autotune("tune", "study.toml", "--device", "host", "--db", copied, "--format", "json")
    assert ended.code == 0
    assert "already finished" in ended.err
    problem = json.loads(ended.out)["problems"][0]
    assert (problem["ran"], problem["trials"]) == (0, 6)


def test_trials_are_a_total_on_resume(autotune, copied):
    words = ("tune", "study.toml", "--device", "host", "--db", copied, "--trials", "9")
    first = json.loads(autotune(*words, "--format", "json").out)["problems"][0]
    assert (first["ran"], first["trials"]) == (3, 9)
    rows = json.loads(autotune("query", "trials", "--db", copied, "--format", "json").out)["trials"]
    assert len(rows) == len({row["config_key"] for row in rows}) == 9


def test_options_overrule_the_file(autotune, copied):
    ended = autotune(
        *("tune", "study.toml", "--device", "host", "--db", copied, "--trials", "7"),
        *("--sampler", "random", "--seed", "5", "--time-budget", "10m", "--export", "other.json"),
    )
    assert ended.code == 0
    assert "sampler random, seed 5" in ended.err
    assert "wrote other.json" in ended.err


def test_quiet_leaves_results_only(autotune, copied):
    ended = autotune("-q", "tune", "study.toml", "--device", "host", "--db", copied)
    assert "study small" not in ended.err
    assert "m=48,n=32,k=16" in ended.out


def test_a_space_that_is_used_up_ends_cleanly(shell, faulty):
    study = faulty('fault = ["none"]\ntwin = [0, 1, 2]')
    ended = shell("tune", study, "--device", "host")
    assert ended.code == 0
    assert "space exhausted: 3 trials in this run, 3 in all" in ended.err
    again = shell("tune", study, "--device", "host")
    assert "already finished" in again.err


def test_failures_are_counted_kept_and_shown(shell, faulty):
    study = faulty('fault = ["none", "compile_error", "half_of_k"]\ntwin = [0, 1]')
    ended = shell("tune", study, "--device", "host", "--format", "json")
    assert ended.code == 0
    assert json.loads(ended.out)["problems"][0]["statuses"] == {
        "ok": 2,
        "compile_error": 2,
        "incorrect": 2,
    }
    rows = json.loads(shell("query", "failures", "--format", "json").out)["trials"]
    assert len(rows) == 4
    shown = shell("query", "failures")
    said = re.findall(r"faulty_matmul\.cpp:\d+:\d+: error: .*must not compile", shown.out)
    assert len(said) == 1
    assert re.search(r"\b2  compile_error", shown.out)
    assert "fault=compile_error twin=0" in shown.out


def test_nothing_right_exits_with_3_and_writes_no_table(shell, faulty, here):
    ended = shell("tune", faulty('fault = ["half_of_k"]\ntwin = [0, 1]'), "--device", "host")
    assert ended.code == 3
    assert "no configuration gave a right result for m=48,n=32,k=16" in ended.err
    assert not (here / "table.json").exists()


def test_a_broken_toolchain_stops_before_the_first_trial(shell, faulty, here):
    study = faulty('fault = ["none"]')
    ended = shell("tune", study, "--device", "host", CXX="/no/such/compiler")
    assert ended.code == 1
    assert "error: the C++ compiler '/no/such/compiler' cannot be started" in ended.err
    assert "hint: install g++" in ended.err
    assert not (here / "table.json").exists()


def test_a_missing_header_is_named_before_the_first_trial(shell, faulty, tmp_path):
    compiler = tmp_path / "cxx"
    compiler.write_text('#!/bin/sh\nexec c++ -nostdinc -nostdinc++ "$@"\n')
    compiler.chmod(0o755)
    ended = shell("tune", faulty('fault = ["none"]'), "--device", "host", CXX=str(compiler))
    assert ended.code == 1
    assert "cannot find the header <cstddef>" in ended.err
    assert shell("query", "trials").err == "no trial matches\n"


def test_candidates_that_all_fail_alike_stop_the_study(shell, faulty, here):
    ended = shell("tune", faulty('fault = ["compile_error"]'), "--device", "host")
    assert ended.code == 1
    assert "all ended as compile_error" in ended.err
    assert "must not compile" in ended.err
    assert not (here / "table.json").exists()


@pytest.mark.parametrize("what", ["best", "trials", "failures"])
def test_a_query_is_json_or_csv_alone_on_stdout(autotune, tuned, what):
    words = ("query", what, "--db", tuned.url, "--problem", "m=48", "--study", "small")
    as_json = autotune(*words, "--format", "json")
    rows = json.loads(as_json.out)["trials"]
    assert json.loads(as_json.out)["schema_version"] == 1
    assert len(rows) == {"best": 1, "trials": 6, "failures": 0}[what]
    as_csv = autotune(*words, "--format", "csv")
    assert len(list(csv.DictReader(io.StringIO(as_csv.out)))) == len(rows)
    assert as_json.err == as_csv.err == ""


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--kernel", "gemm"), "no kernel 'gemm'; the database has host_matmul"),
        (("--device", "H200"), "no device 'H200'; the database has "),
        (("--problem", "m=1"), "no problem has m=1; m is 48"),
        (("--problem", "q=1"), "no problem field 'q'; the database has m, n, k"),
        (("--study", "no"), "no study 'no'; the database has small"),
    ],
)
def test_a_query_that_matches_nothing_says_why(autotune, tuned, words, why):
    ended = autotune("query", "trials", "--db", tuned.url, *words)
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.startswith(f"no trial matches: {why}")


def test_studies_lists_what_ran(autotune, tuned):
    ended = autotune("studies", "--db", tuned.url)
    assert "small" in ended.out
    assert "exhaustive" in ended.out
    as_json = json.loads(autotune("studies", "--db", tuned.url, "--format", "json").out)
    assert as_json["studies"][0]["trials"] == 6


def test_an_export_can_be_looked_up(autotune, tuned, here):
    ended = autotune("export", "--out", "out.json", "--study", "small", "--db", tuned.url)
    assert ended.err.startswith("wrote out.json: 1 problem\n  m=48,n=32,k=16: row ")
    words = ("lookup", "out.json", "m=48", "n=32", "k=16")
    exact = json.loads(autotune(*words, "--format", "json").out)
    assert exact["source"] == "exact"
    assert exact["evidence"]["study"] == "small"
    assert set(exact["config"]) == {"tile_m", "tile_n", "tile_k", "unroll", "order"}
    nearest = autotune("lookup", "out.json", "m=50,n=32,k=16")
    assert "nearest" in nearest.out
    assert "that of m=48,n=32,k=16" in nearest.out
    assert nearest.err == ""
    far = autotune("lookup", "out.json", "m=480,n=32,k=16")
    assert far.err == "warning: 3.3 octaves are far; tune this problem to be sure\n"


def test_a_lookup_fills_in_what_a_table_leaves_no_choice_about(autotune, here):
    (here / "s.toml").write_text(
        'name = "s"\nkernel = "gemm"\n[problems]\nshapes = [[1024, 1024, 1024]]\n'
        '[export]\ntable = "table.json"\n'
    )
    autotune("tune", "s.toml", "--device", "recording:h200", "--trials", "2")
    words = ("lookup", "table.json", "m=1024", "n=1024", "k=1024")
    assert "exact" in autotune(*words).out
    ended = autotune(*words, "dtype=fp8")
    assert ended.code == 3
    assert "the table has dtype bf16" in ended.err


def test_an_export_of_an_unknown_study_writes_nothing(autotune, tuned, here):
    ended = autotune("export", "--out", "out.json", "--study", "other", "--db", tuned.url)
    assert ended.code == 2
    assert "other" in ended.err
    assert not list(here.iterdir())


def test_what_was_never_checked_is_shown_as_such_and_exported_only_if_asked(autotune, copied, here):
    words = ("tune", "study.toml", "--device", "host", "--db", copied, "--no-verify")
    ended = autotune(*words, "--export", "unchecked.json")
    assert ended.code == 0
    assert "unchecked.json is not written: no output was checked" in ended.err
    assert "best (unverified)" in ended.out
    assert not (here / "unchecked.json").exists()

    rows = json.loads(autotune("query", "trials", "--db", copied, "--format", "json").out)["trials"]
    assert {row["verified"] for row in rows[-6:]} == {False}
