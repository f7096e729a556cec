"""``autotune lookup --explain``: every candidate, and why it was taken or not."""

from __future__ import annotations

import json

import pytest
from tabled import answer, document, write

from autotune.table.certified import certified


@pytest.fixture
def table(here):
    entries = [answer(8, multiple_of=8), answer(12), answer(64)]
    defaults = [answer(1, evidence=False)]
    return write(here / "table.json", document(*entries, defaults=defaults))


def test_each_candidate_says_why_it_was_taken_or_not(autotune, table):
    ended = autotune("lookup", table, "m=9", "n=6", "k=8", "--explain", "--format", "json")
    told = json.loads(ended.out)
    assert [(row["entry_problem"]["m"], row["verdict"]) for row in told["considered"]] == [
        (8, "m must be a multiple of 8"),
        (12, "taken"),
        (64, "fits, and comes later"),
        (1, "fits, and comes later"),
    ]
    assert told["weights"] == {"m": 1, "n": 1, "k": 1}
    shown = autotune("lookup", table, "m=9", "n=6", "k=8", "--explain").out
    assert "m=8,n=6,k=8" in shown
    assert "m=9,n=6,k=8: 4 candidates\n" in shown
    assert "m must be a multiple of 8" in shown


def test_where_nothing_fits_all_obstacles_are_shown(autotune, here):
    path = write(here / "table.json", document(answer(8, multiple_of=8)))
    ended = autotune("lookup", path, "m=9", "n=6", "k=8", "--explain")
    assert ended.code == 3
    assert "m must be a multiple of 8" in ended.out
    assert "no entry and no default may serve" in ended.err


def test_a_certificate_is_shown(autotune, table):
    found = json.loads(table.read_text())
    certificate = {
        "certified_at": "2026-02-03T04:05:06Z",
        "framework": "autotune 0.1.0",
        "problems": ["m=8,n=6,k=8"],
        "draws": 5,
        "repeats": 12,
        "sanitizer": "absent",
        "source_digest": "e" * 32,
        "toolchain": {"compiler": "c++", "version": "1"},
        "driver": "1",
    }
    parts = found["kernels"]["faulty_matmul"]
    places = {
        ("faulty_matmul", role, at): certificate
        for role in ("entries", "defaults")
        for at in range(len(parts[role]))
    }
    summary = {name: certificate[name] for name in ("certified_at", "framework", "sanitizer")}
    write(table, certified(found, places, summary))
    words = ("lookup", table, "m=12", "n=6", "k=8")
    assert "certified  2026-02-03T04:05:06Z on 1 problem" in autotune(*words).out
    assert "2026-02-03" in autotune(*words, "--explain").out
    explained = json.loads(autotune(*words, "--explain", "--format", "json").out)
    assert explained["considered"][0]["certificate"]["draws"] == 5
