"""What is made of studies that ran again and again; on a GPU they are the same, but live."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import live
import pytest

A, B = {"tile": 1}, {"tile": 2}


def run(*trials, exported=A, tied=(A,), gpu_s=2.0):
    return {
        "trials": trials,
        "exported": exported,
        "tied": list(tied),
        "gpu_s": gpu_s,
        "again_s": gpu_s / 2,
        "samples_s": gpu_s / 4,
        "busy": 0.5,
        "before_first_s": 2.0,
        "first_s": 1.0,
        "utilization": None,
    }


def test_figures_tell_the_first_run_from_those_with_a_full_store():
    cold = run((300.0, 4.0), (101.0, 6.0))
    warm = run((101.0, 2.0), (100.0, 3.0))
    told = live._figures([cold, warm, warm, run((500.0, 1.0), gpu_s=8.0)], [None, 104.0])
    assert (told["cold_to_2_s"], told["warm_to_2_s"], told["to_2_trials"]) == (6.0, 2.0, 1)
    assert told["saved"] == pytest.approx(0.75)
    assert (told["gpu_s"], told["again_s"], told["samples_s"]) == (2.0, 1.0, 0.5)
    assert told["samples_s_all_samples"] == 2.0


@pytest.mark.parametrize(("patient", "known_ns"), [((100.0, 1.0), []), ((200.0, 1.0), [100.0])])
def test_what_was_never_reached_is_null_and_a_dash(patient, known_ns):
    far = run((200.0, 1.0))
    told = live._figures([far, far, far, run(patient)], known_ns)
    assert [told[name] for name in ("cold_to_2_s", "warm_to_2_s", "to_2_trials")] == [None] * 3
    shape = {"m": 1, "n": 2, "k": 3, "cold_s": 9.0, "warm_s": 5.0}
    row = {**shape, **told, **live._agreement([far, far], [0.0, 0.0])}
    assert live._line(row).count("–") == 3
    json.dumps(row, allow_nan=False)


def test_runs_agree_if_they_tie_what_most_export():
    same, tie, other = run(), run(exported=B, tied=(B, A)), run(exported=B, tied=(B,))
    told = live._agreement([same, same, same, tie, other], [0.0, 0.0, 0.0, 0.01, 0.02])
    assert (told["winners"], told["same"], told["same_or_tie"]) == (2, 0.6, 0.8)
    assert (told["loss"], told["loss_worst"]) == (pytest.approx(0.006), 0.02)


def test_a_process_runs_its_studies_and_times_what_is_known():
    asked = {
        "device": "recording:h200",
        "kernel": "gemm",
        "problem": {"m": 512, "n": 512, "k": 512},
        "trials": 5,
        "sampler": "auto",
        "patient": [False, True],
        "known": [],
        "began": time.time(),
    }
    first = answered(asked)["studies"]
    assert [len(study["trials"]) for study in first] == [5, 5]
    assert first[0]["exported"] in first[0]["tied"]
    assert 0 < first[0]["busy"] <= 1
    assert 0 <= first[0]["again_s"] <= first[0]["gpu_s"] <= first[0]["seconds"]
    assert first[0]["samples_s"] > 0
    assert 0 < first[0]["before_first_s"] + first[0]["first_s"] < first[0]["seconds"]
    again = answered({**asked, "patient": [], "known": [first[0]["exported"]]})
    assert again == {"studies": [], "known_ns": [min(ns for ns, _ in first[0]["trials"])]}


def test_rows_of_other_shapes_are_kept_with_where_they_come_from(tmp_path):
    file = tmp_path / "live.json"
    assert live.kept(None) == live.kept(file) == {}
    rows = [{"m": 1, "n": 2, "k": 3}, {"m": 4, "n": 5, "k": 6, "provenance": {"commit": "old"}}]
    file.write_text(json.dumps({"provenance": {"commit": "new"}, "rows": rows}))
    found = live.kept(file)
    assert {shape: row["provenance"]["commit"] for shape, row in found.items()} == {
        (1, 2, 3): "new",
        (4, 5, 6): "old",
    }


def answered(asked):
    command = [sys.executable, str(live.STUDY), json.dumps(asked)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)
