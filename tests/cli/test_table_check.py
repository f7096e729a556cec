"""``autotune table check``: what differs between a table and today."""

from __future__ import annotations

import json

import pytest
from tabled import answer, document, write


@pytest.fixture
def table(here, tuned):
    """Write the table of a finished study into the working folder, changed as one likes."""

    def put(change=lambda document: None):
        found = json.loads((tuned.folder / "table.json").read_text())
        change(found)
        return write(here / "table.json", found)

    return put


def context_of(document):
    [context] = document["kernels"]["host_matmul"]["contexts"].values()
    return context


def test_a_table_of_today_differs_in_nothing(autotune, table, tuned):
    ended = autotune("table", "check", table(), "--db", tuned.url)
    assert ended.code == 0, ended.err
    assert ended.out.startswith("0 of ")
    assert "cannot be told" not in ended.out


def test_without_a_database_the_policy_cannot_be_told(autotune, table):
    fields = json.loads(autotune("table", "check", table(), "--format", "json").out)["fields"]
    assert {row["field"] for row in fields if row["today"] is None} == {
        row["field"] for row in fields if row["field"].startswith("policy.")
    }
    assert not any(row["differs"] for row in fields)
    assert "cannot be told here (policy: see --db)" in autotune("table", "check", table()).out


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda t: t["device"].update(driver="0.1"), "driver"),
        (lambda t: t["device"].update(name="Abacus"), "device"),
        (lambda t: context_of(t).update(source_digest="0" * 32), "source_digest"),
        (lambda t: context_of(t)["toolchain"].update(version="1.0"), "toolchain.version"),
        (lambda t: context_of(t)["policy"].update(draws=9), "policy.draws"),
    ],
)
def test_each_field_that_differs_is_told_with_both_values(autotune, table, tuned, change, field):
    ended = autotune("table", "check", table(change), "--db", tuned.url, "--format", "json")
    assert ended.code == 1
    [row] = [row for row in json.loads(ended.out)["fields"] if row["differs"]]
    assert (row["field"], row["entries"] > 0) == (field, True)
    assert row["table"] != row["today"]
    assert f"differs from today in {field}\n" in ended.err


def test_a_gpus_table_can_be_checked_without_the_gpu(autotune, here):
    kin = write(here / "table.json", document(answer(4), kind="cuda", name="NVIDIA H200"))
    fields = json.loads(autotune("table", "check", kin, "--format", "json").out)["fields"]
    today = {row["field"]: row["today"] for row in fields}
    assert (today["device"], today["driver"]) == (None, None)
    assert today["source_digest"]


def test_a_table_whose_entries_were_all_removed_can_still_be_checked(autotune, table):
    def emptied(document):
        document["kernels"]["host_matmul"]["entries"] = []

    ended = autotune("table", "check", table(emptied))
    assert ended.code == 0, ended.err


def test_the_best_entries_are_verified_and_timed_again(autotune, table):
    before = table().read_bytes()
    ended = autotune("table", "check", table(), "--retime", "3", "--format", "json")
    [row] = json.loads(ended.out)["retimed"]
    assert row["status"] == "ok"
    assert row["change"] == pytest.approx(row["today_ns"] / row["table_ns"] - 1)
    assert table().read_bytes() == before
    assert "change" in autotune("table", "check", table(), "--retime", "1").out


def test_an_entry_that_is_not_right_any_more_is_a_failure(autotune, here):
    path = write(here / "table.json", document(answer(8), answer(12, "half_of_k")))
    ended = autotune("table", "check", path, "--retime", "2")
    assert ended.code == 1
    assert "incorrect" in ended.out
    assert "1 of the 2 entries of" in ended.err


@pytest.mark.parametrize(
    ("words", "device", "why"),
    [
        (("--retime", "1"), {"sm_count": 100_000}, "multiprocessors"),
        (("--retime", "1", "--device", "recording:h200"), {}, "this device is sm_90a"),
        (("--device", "abacus"), {}, "abacus"),
    ],
)
def test_what_cannot_be_asked_is_one_line(autotune, here, words, device, why):
    path = write(here / "table.json", document(answer(8), **device))
    ended = autotune("table", "check", path, *words)
    assert ended.code != 0
    assert why in ended.err
    assert ended.out == ""
