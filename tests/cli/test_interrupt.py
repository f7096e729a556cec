"""Ctrl-C and SIGTERM at any moment: gone within five seconds, nothing lost, nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from patience import PATIENCE_S, until

TICK_S = 0.01
PROMISED_TICKS = 500  # five seconds, and as much more as this machine makes of its ticks
KEPT = "interrupted: every finished trial is kept"


def _until(condition, process):
    """Wait for the moment to interrupt at."""

    def reached():
        found = condition()
        assert found or process.poll() is None, process.communicate()[1]
        return found

    until(reached)


def _ends(process, number=signal.SIGINT, *, says=KEPT):
    process.send_signal(number)
    for _ in range(PROMISED_TICKS):
        if process.poll() is not None:
            break
        time.sleep(TICK_S)
    assert process.returncode == 130
    err = process.communicate()[1]
    assert "Traceback" not in err
    assert says in err


def _left_behind(mark):
    """Return the command lines of living processes that carry ``mark`` in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes())
        except OSError:  # it ended, or is another user's
            continue
    return [command for command in found if command]  # a zombie has none


def _rows(database):
    if not database.exists():
        return 0
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        try:
            return connection.execute("SELECT count(*) FROM trial").fetchone()[0]
        except sqlite3.OperationalError:  # the schema is not there yet
            return 0


@pytest.fixture
def mark(here):
    return {"AUTOTUNE_TEST_MARK": f"{here}-{os.getpid()}"}


@pytest.fixture
def database(monkeypatch, tmp_path):
    path = tmp_path / "kept.db"
    monkeypatch.setenv("AUTOTUNE_DB", f"sqlite:///{path}")
    return path


def test_a_signal_that_another_thread_takes_wakes_the_one_that_waits():
    script = (
        "import signal, threading\n"
        "from autotune.cli.interrupts import heeded\n"
        "def strike():\n"
        "    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)\n"
        "with heeded():\n"
        "    threading.Timer(0.2, strike).start()\n"
        "    threading.Event().wait()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, timeout=PATIENCE_S, check=False
    )
    assert b"KeyboardInterrupt" in ended.stderr


def test_while_a_compiler_runs(start, faulty, mark, database, tmp_path):
    compiler, began = tmp_path / "cxx", tmp_path / "began"
    compiler.write_text(
        f'#!/bin/sh\ncase "$*" in *faulty*) touch {began}; sleep 600; esac\nexec c++ "$@"\n'
    )
    compiler.chmod(0o755)
    study = faulty('fault = ["none"]\ntwin = [0, 1, 2]')
    own = {"CXX": str(compiler), "AUTOTUNE_CACHE": str(tmp_path / "cache")}  # nothing is built yet
    process = start("tune", study, "--device", "host", **own, **mark)
    _until(began.exists, process)
    _ends(process)
    until(lambda: not _left_behind(mark["AUTOTUNE_TEST_MARK"]))
    assert _rows(database) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_while_a_candidate_hangs(start, shell, faulty, mark, database, tmp_path, number):
    hangs = tmp_path / "hangs"
    study = faulty('fault = ["none", "hang"]\ntwin = [0, 1]', trials=4)
    process = start("tune", study, "--device", "host", FAULTY_HANGS=str(hangs), **mark)
    _until(hangs.exists, process)
    _ends(process, number)
    until(lambda: not _left_behind(mark["AUTOTUNE_TEST_MARK"]))
    kept = _rows(database)
    assert kept >= 1
    words = ("--trials", kept + 1, "--time-budget", "1m", "--format", "json")
    text = study.read_text().replace('"hang"', '"half_of_k"')
    study.write_text(text)
    resumed = shell("tune", study, "--device", "host", *words)
    assert resumed.code == 0
    assert json.loads(resumed.out)["problems"][0]["ran"] == 1
    assert _rows(database) == kept + 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_while_samplers_are_scored(start, mark, jobs):
    words = ("--problem", "m=4096,n=4096,k=4096", "--samplers", "random,gp", "--repeats", 200)
    process = start("score", "h200", *words, "--jobs", jobs, **mark)
    assert "random" in process.stderr.readline()
    time.sleep(1.0)  # the next one takes minutes
    _ends(process, says="interrupted")
    until(lambda: not _left_behind(mark["AUTOTUNE_TEST_MARK"]))


def test_while_the_database_is_busy(start, shell, endless, mark, database):
    process = start("tune", endless, "--device", "host", **mark)
    _until(lambda: _rows(database) >= 2, process)
    busy = sqlite3.connect(database, isolation_level=None, timeout=PATIENCE_S)
    with closing(busy) as other:
        other.execute("BEGIN IMMEDIATE")
        kept = _rows(database)
        time.sleep(1.0)  # the study now waits to write its next row
        assert _rows(database) == kept
        _ends(process)
        other.execute("ROLLBACK")
    until(lambda: not _left_behind(mark["AUTOTUNE_TEST_MARK"]))
    assert _rows(database) in {kept, kept + 1}
    resumed = shell("tune", endless, "--device", "host", "--trials", kept + 3, "--format", "json")
    assert resumed.code == 0
    rows = json.loads(shell("query", "trials", "--format", "json").out)["trials"]
    assert len(rows) == len({row["config_key"] for row in rows}) == kept + 3
    assert sorted(row["number"] for row in rows) == list(range(kept + 3))


def test_killed_at_once_nothing_that_was_finished_is_lost(start, shell, faulty, mark, database):
    study = faulty('fault = ["none"]', trials=12)
    process = start("tune", study, "--device", "host", **mark)
    _until(lambda: _rows(database) >= 4, process)
    process.kill()
    process.wait()
    kept = _rows(database)
    assert kept >= 4
    resumed = shell("tune", study, "--device", "host", "--format", "json")
    problem = json.loads(resumed.out)["problems"][0]
    assert (problem["ran"], problem["trials"]) == (12 - kept, 12)
    until(lambda: not _left_behind(mark["AUTOTUNE_TEST_MARK"]))
