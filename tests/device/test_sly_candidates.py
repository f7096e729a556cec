"""Candidates that are right while they are checked, and what else they are up to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from driving import KERNELS, candidate, outcome
from patience import PATIENT, limited, until

from autotune.device import open_device
from autotune.records import Status

SLY = f"{KERNELS / 'sly_matmul.py'}:SlyMatmul"


@pytest.fixture(scope="module")
def device():
    opened = limited(open_device("host", limits=PATIENT))
    yield opened
    opened.close()


def run(device, trick, mark=0):
    return outcome(device, candidate(device, ref=SLY, trick=trick, mark=mark))


@pytest.mark.parametrize(
    ("trick", "words"),
    [
        ("tire", "as it was timed: 323 of 323 elements of c are wrong; at [0, 0]: got nan"),
        ("remember", "elements of c are wrong"),
        ("spoil_later", "elements of c are wrong"),
    ],
)
def test_what_is_right_only_until_it_is_timed_is_incorrect(device, trick, words):
    result = run(device, trick)
    assert result.status is Status.INCORRECT
    assert words in result.message
    assert result.message.startswith("as it was timed: ")
    assert run(device, "none").status is Status.OK


def test_it_is_incorrect_too_where_timing_takes_the_fewest_launches(device):
    """As of what is slow, or has lost the processor for a moment when it was first timed."""
    problem = {"m": 128, "n": 128, "k": 128}
    result = outcome(device, candidate(device, ref=SLY, problem=problem, trick="tire", mark=1))
    assert result.status is Status.INCORRECT
    assert result.message.startswith("as it was timed: ")


@pytest.mark.parametrize(
    ("trick", "status"),
    [
        ("fork", Status.OK),
        ("child", Status.OK),
        ("chatter", Status.OK),
        ("chdir", Status.OK),
        ("close", Status.CRASHED),
        ("garble", Status.CRASHED),
        ("stop", Status.TIMEOUT),
    ],
)
def test_a_trick_costs_one_row_at_most_and_the_next_answer_is_the_next_candidates(
    device, trick, status
):
    assert run(device, trick).status is status
    assert run(device, "tire").status is Status.INCORRECT
    assert run(device, "none").status is Status.OK


def test_what_a_candidate_started_ends_with_the_device():
    device = open_device("host", limits=PATIENT)
    mark = os.getpid() % 500 + 50
    try:
        assert run(device, "child", mark=mark).status is Status.OK
        until(lambda: sleeping(mark))
        assert run(device, "fork", mark=mark).status is Status.OK
    finally:
        device.close()
    until(lambda: not sleeping(mark))


def sleeping(mark):
    """Return the processes that ``child`` started and that still live."""
    return [
        command
        for command in map(_command, Path("/proc").glob("[0-9]*"))
        if command == b"sleep\x00600.%d\x00" % mark
    ]


def _command(process):
    try:
        return (process / "cmdline").read_bytes()
    except OSError:  # it ended
        return b""
