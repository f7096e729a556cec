"""Studies of several goals from the command line: the front, and a table by preference."""

from __future__ import annotations

import json

import pytest

STUDY = """
name = "two"
kernel = "gemm"
goals = ["time", "shared_memory"]
[search]
sampler = "random"
trials = 12
[problems]
shapes = [[1024, 1024, 1024]]
"""


@pytest.fixture
def replayed(autotune, here):
    """The words that name a database with a study of two goals; how tuning ended is beside."""
    (here / "two.toml").write_text(STUDY)
    database = ("--db", f"sqlite:///{here}/two.db")
    return database, autotune("tune", "two.toml", "--device", "recording:h200", *database)


def test_a_front_is_queried_by_the_goals_of_its_study(autotune, replayed):
    database, ended = replayed
    rows = json.loads(autotune("query", "front", *database, "--format", "json").out)["trials"]
    shared = [row["goals"]["shared_memory"] for row in rows]

    assert ended.code == 0
    assert "vs default  front\n" in ended.out
    assert f" {len(rows)}\n" in ended.out
    assert [row["goals"]["time"] for row in rows] == sorted(row["median_ns"] for row in rows)
    assert shared == sorted(shared, reverse=True)
    assert "shared_memory" in autotune("query", "front", *database).out
    assert "goals.shared_memory" in autotune("query", "front", *database, "--format", "csv").out


def test_other_goals_have_another_front(autotune, replayed):
    words = ("query", "front", *replayed[0], "--goals", "registers, time", "--format", "json")
    rows = json.loads(autotune(*words).out)["trials"]

    assert all(set(row["goals"]) == {"time", "registers"} for row in rows)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--goals", "time,speed"), "error: no goal named 'speed'; allowed: time, shared_memory"),
        (("--goals", "time,energy"), "error: no row tells energy\n"),
        (("--goals", "time"), "error: a front is of two goals or more: --goals time,shared"),
        (("--study", "three"), "error: no trial matches: no study 'three'; the database has two"),
    ],
)
def test_a_front_that_cannot_be_is_refused_in_one_line(autotune, replayed, words, why):
    ended = autotune("query", "front", *replayed[0], *words)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(why)


def test_a_table_records_the_preference_that_it_was_made_by(autotune, replayed, here):
    words = ("export", *replayed[0], "--out", "small.json", "--prefer")
    ended = autotune(*words, "shared_memory<=100000")
    table = json.loads((here / "small.json").read_text())

    assert ended.code == 0
    assert table["preference"] == "shared_memory<=100000"
    assert autotune("table", "check", "small.json").code in (0, 1)  # it is read like any other


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("--prefer", "shared_memory<=1"), 3, "no row has shared_memory<=1"),
        (("--prefer", "energy"), 3, "no row tells energy"),
        (("--prefer", "fast"), 2, "no goal named 'fast'"),
        (("--prefer", "time", "--kernels", "2"), 2, "--kernels chooses by time alone"),
        (("--prefer", "time", "--format", "t4"), 2, "--prefer goes with a table only"),
    ],
)
def test_a_preference_that_cannot_be_is_refused_in_one_line(
    autotune, replayed, here, words, code, why
):
    ended = autotune("export", *replayed[0], "--out", "out.json", *words)

    assert ended.code == code
    assert why in ended.err.splitlines()[-1] + ended.err.splitlines()[0]
    assert not (here / "out.json").exists()
