"""Verification: what is held against what, and for which shapes."""

from __future__ import annotations

import json

import pytest
from doublings import run, statuses

from autotune.dispatch import Table
from autotune.records import Status
from autotune.table import build_table

TILE = 128  # elements of a block
TAILS = (1, TILE - 1, TILE, TILE + 1, 211)


def an_accumulating_candidate_is_incorrect(device, store, language):
    run(device, store, "right", "accumulate", language=language)
    assert statuses(store) == {"right": "ok", "accumulate": "incorrect"}


def test_an_accumulating_candidate_is_judged_by_one_launch(host, store):
    an_accumulating_candidate_is_incorrect(host, store, "c++")


@pytest.mark.gpu
def test_an_accumulating_candidate_is_judged_by_one_launch_on_a_gpu(gpu, store):
    an_accumulating_candidate_is_incorrect(gpu, store, "cuda")


def test_a_wrong_default_is_no_yardstick(host, store):
    [report] = run(host, store, "half", "right", "right:1")
    assert report.default.status is Status.INCORRECT
    assert report.best.config["candidate"].startswith("right")
    assert statuses(store) == {"half": "incorrect", "right": "ok", "right:1": "ok"}


def each_shape_has_a_status_of_its_own(device, store, language):
    """The config that is wrong on odd sizes is first, and would be the default everywhere."""
    reports = run(device, store, "odd_is_wrong", "right", counts=TAILS, language=language)
    found = {report.problem.count: report.default.status for report in reports}
    assert found == {count: Status.INCORRECT if count % 2 else Status.OK for count in TAILS}
    table = Table.parse(json.dumps(build_table(store).document))
    for count in TAILS:
        choice = table.lookup(count=count)
        assert (choice.source, choice.entry.evidence.verified) == ("exact", True)
        assert count % 2 == 0 or choice.config["candidate"] == "right"


def test_a_tail_is_judged_by_itself(host, store):
    each_shape_has_a_status_of_its_own(host, store, "c++")


@pytest.mark.gpu
def test_a_tail_is_judged_by_itself_on_a_gpu(gpu, store):
    each_shape_has_a_status_of_its_own(gpu, store, "cuda")
