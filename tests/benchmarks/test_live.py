"""What is made of studies that ran again and again; the studies themselves want a GPU."""

from __future__ import annotations

import json

import live
import pytest

A, B = {"tile": 1}, {"tile": 2}


def run(*trials, exported=A, tied=(A,), seconds=9.0, gpu_s=2.0):
    return {
        "trials": trials,
        "exported": exported,
        "tied": list(tied),
        "seconds": seconds,
        "gpu_s": gpu_s,
        "busy": 0.5,
    }


def test_times_tell_the_first_run_from_those_with_a_full_store():
    cold = run((300.0, 4.0), (101.0, 6.0), seconds=20.0)
    warm = run((101.0, 2.0), (100.0, 3.0))
    told = live._times([cold, warm, warm, run((500.0, 1.0), gpu_s=8.0)])
    assert (told["cold_s"], told["cold_to_2_s"]) == (20.0, 6.0)
    assert (told["warm_s"], told["warm_to_2_s"], told["warm_to_2_trials"]) == (9.0, 2.0, 1)
    assert told["saved"] == pytest.approx(0.75)


def test_what_was_never_reached_is_null_and_a_dash():
    far, near = run((200.0, 1.0)), run((100.0, 1.0))
    told = live._times([far, far, near])
    assert (told["cold_to_2_s"], told["warm_to_2_s"]) == (None, None)
    row = {"m": 1, "n": 2, "k": 3, **told, **live._agreement([far, far], [0.0, 0.0])}
    assert live._line(row).count("–") == 2
    json.dumps(row, allow_nan=False)


def test_runs_agree_if_they_tie_what_most_export():
    same, tie, other = run(), run(exported=B, tied=(B, A)), run(exported=B, tied=(B,))
    told = live._agreement([same, same, same, tie, other], [0.0, 0.0, 0.0, 0.01, 0.02])
    assert (told["winners"], told["same"], told["same_or_tie"]) == (2, 0.6, 0.8)
    assert (told["loss"], told["loss_worst"]) == (pytest.approx(0.006), 0.02)
