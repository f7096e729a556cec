from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest
from driving import BRISK, FAULTY, candidate, outcome
from patience import PATIENT, limited

from autotune.device import open_device
from autotune.errors import InvalidInput
from autotune.records import Limits, Status

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def device():
    opened = open_device("host", limits=Limits(run_s=20))
    yield opened
    opened.close()


def run(device, fault, twin=0):
    return outcome(device, candidate(device, fault=fault, twin=twin))


def test_a_right_candidate_is_timed(device):
    result = run(device, "none")
    assert (result.status, result.message) == (Status.OK, "")
    assert 3 <= len(result.measurement.samples_ns) <= 5
    assert min(result.measurement.samples_ns) > 0
    assert result.measurement.sm_clock_mhz is None


@pytest.mark.parametrize(
    ("fault", "status", "message"),
    [
        ("compile_error", Status.COMPILE_ERROR, "this configuration must not compile"),
        ("half_of_k", Status.INCORRECT, "elements of c are wrong"),
        ("nan", Status.INCORRECT, "1 of 323 elements of c are wrong; at [8, 9]: got nan"),
        ("nothing", Status.INCORRECT, "323 of 323 elements of c are wrong; at [0, 0]: got nan"),
        ("overrun", Status.INCORRECT, "wrote 4 bytes past the end of output c"),
        ("underrun", Status.INCORRECT, "wrote 4 bytes before output c"),
        ("spoil_input", Status.INCORRECT, "wrote to its inputs"),
        ("waver", Status.NONDETERMINISTIC, "differs from run 1 on the same inputs in 1 of 323"),
        ("segfault", Status.CRASHED, "killed by SIGSEGV"),
        ("exit", Status.CRASHED, "exit code 3"),
    ],
)
def test_each_fault_is_one_row_and_the_next_candidate_is_ok(device, fault, status, message):
    assert run(device, "none").status is Status.OK
    result = run(device, fault)
    assert result.status is status
    assert message in result.message
    assert result.measurement is None
    assert run(device, "none", twin=1).status is Status.OK


def test_a_hang_is_one_row_and_leaves_no_process():
    device = limited(open_device("host", limits=PATIENT))
    try:
        assert run(device, "none").status is Status.OK
        hung = device._lane.pid
        result = run(device, "hang")
        assert (result.status, result.message) == (
            Status.TIMEOUT,
            "still running after 1 s; its process was killed",
        )
        assert not Path(f"/proc/{hung}").exists()
        assert run(device, "none", twin=1).status is Status.OK
    finally:
        device.close()


def test_a_crash_in_a_used_lane_is_tried_once_more_in_a_fresh_one(device, monkeypatch):
    assert run(device, "none").status is Status.OK
    starts = []
    attempt = device._lane._attempt

    def counted(*arguments):
        starts.append(1)
        return attempt(*arguments)

    monkeypatch.setattr(device._lane, "_attempt", counted)
    assert run(device, "segfault").status is Status.CRASHED
    assert len(starts) == 2
    assert run(device, "segfault", twin=1).status is Status.CRASHED
    assert len(starts) == 3  # that lane was fresh, so nothing else can be to blame


def test_what_a_lane_dies_of_by_itself_is_no_fault_of_the_candidate(device):
    assert run(device, "none").status is Status.OK
    os.kill(device._lane.pid, 9)
    assert run(device, "none", twin=1).status is Status.OK


def test_a_problem_is_prepared_once_for_all_its_candidates(device):
    run(device, "none")
    pid = device._lane.pid
    for twin in (1, 2):
        assert run(device, "none", twin=twin).status is Status.OK
    assert device._lane.pid == pid


@pytest.mark.parametrize(
    ("name", "message"),
    [("Divergent", "is NaN or infinite in 1 of 323 elements"), ("Raising", "KeyError: 'weights'")],
)
def test_a_bad_reference_stops_the_study_before_anything_is_timed(device, name, message):
    made = candidate(device, ref=FAULTY.replace("FaultyMatmul", name), fault="none", twin=0)
    with pytest.raises(InvalidInput, match=message.replace("(", r"\(")):
        outcome(device, made)


def test_unverified_results_are_only_made_on_request(device):
    wrong = candidate(device, fault="half_of_k", twin=0)
    assert outcome(device, wrong, dataclasses.replace(BRISK, verify=False)).status is Status.OK


def test_an_empty_output_launches_nothing(device):
    empty = candidate(device, problem={"m": 0, "n": 4, "k": 4}, fault="segfault", twin=0)
    result = outcome(device, empty)
    assert (result.status, result.message) == (
        Status.BAD_MEASUREMENT,
        "an empty grid: nothing to time",
    )


def test_a_library_that_cannot_be_loaded_is_a_runtime_error(device, tmp_path):
    made = candidate(device, fault="none", twin=0)
    binary = device.build(made).result(60)
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"not a library")
    for changed in ({"path": str(broken)}, {"entry": "absent"}):
        result = device.measure(made, dataclasses.replace(binary, **changed), BRISK)
        assert result.status is Status.RUNTIME_ERROR
        assert result.message


def test_a_cold_measurement_works_too(device):
    made = candidate(device, problem={"m": 64, "n": 64, "k": 64}, fault="none", twin=0)
    assert outcome(device, made, dataclasses.replace(BRISK, cache="cold")).status is Status.OK
