"""Ladders over the host's own compiler: real rungs, real failures, a real library beside them."""

from __future__ import annotations

import dataclasses
import os
import signal
from pathlib import Path

import pytest

from autotune.device import open_device
from autotune.errors import InvalidInput
from autotune.records import QUICK, Limits, Status, load_kernel
from autotune.store import Store
from autotune.study import LadderSpec, StudySpec, run_ladder, run_study

LADDERED = Path(__file__).parents[1] / "kernels" / "laddered.py"
FAST = QUICK.replace(budget_ms=1.0, warmup_ms=0.5)


class Heard:
    """A device that notes what is measured, and stops after so many as a Ctrl-C would."""

    def __init__(self, device, stop_after=None):
        self._device = device
        self._stop_after = stop_after
        self.measured = []

    def __getattr__(self, name):
        return getattr(self._device, name)

    def measure(self, candidate, binary, policy, **asked):
        if len(self.measured) == self._stop_after:
            raise KeyboardInterrupt
        outcome = self._device.measure(candidate, binary, policy, **asked)
        self.measured.append((candidate.config, outcome))
        return outcome

    @property
    def order(self):
        return [config.get("fault", "peer") for config, _ in self.measured]


@pytest.fixture
def device(host):
    return Heard(host)


def spec(class_name="Laddered", **changes):
    reference = f"{LADDERED}:{class_name}"
    kernel = load_kernel(reference)
    problem = kernel.problem_type.parse({"m": 8, "n": 8, "k": 8})
    base = LadderSpec(kernel_ref=reference, kernel=kernel, problem=problem, policy=FAST)
    return dataclasses.replace(base, **changes)


def steps(report):
    return {step.rung.name: step for step in report.steps}


def test_rungs_and_peer_take_turns_and_what_failed_is_out(device):
    report = run_ladder(spec(rounds=3), device=device)
    assert device.order == ["none", "half_of_k", "none", "peer"] + ["none", "none", "peer"] * 2
    assert report.peer is not None
    assert report.peer.status is Status.OK


def test_a_rung_is_told_by_the_samples_of_every_round(device):
    report = run_ladder(spec(rounds=2), device=device)
    rounds = [out.measurement for config, out in device.measured if config.get("twin") == 7]
    assert len(rounds) == 2
    together = rounds[0].samples_ns + rounds[1].samples_ns
    assert steps(report)["unheard"].trial.measurement.samples_ns == together


def test_each_failure_is_a_value_in_the_words_of_who_refused_it(device):
    found = steps(run_ladder(spec(), device=device))
    assert [step.status for step in found.values()] == [
        Status.OK,
        Status.INCORRECT,
        Status.COMPILE_ERROR,
        Status.CONSTRAINT,
        Status.OK,
    ]
    assert "fault='no_such_fault' is not one of none, compile_error" in found["unknown"].message
    assert found["unknown"].trial is None
    assert found["wrong"].median_ns is None


def test_the_first_preferred_config_that_is_valid_stands_for_a_rung(device):
    trial = steps(run_ladder(spec(), device=device))["unheard"].trial
    assert dict(trial.config) == {"fault": "none", "twin": 7}


def test_every_attempt_is_kept_in_a_study_of_its_own(device, store):
    assert run_ladder(spec(), device=device, store=store).study == "ladder-laddered-1"
    assert run_ladder(spec(), device=device, store=store).study == "ladder-laddered-2"
    assert [study.sampler for study in store.studies()] == ["ladder", "ladder"]
    rows = [row for row in store.rows() if row.study == "ladder-laddered-1"]
    assert {(row.context.kernel, str(row.trial.status)) for row in rows} == {
        ("laddered", "ok"),
        ("laddered", "incorrect"),
        ("laddered", "compile_error"),
        ("by_numpy", "ok"),
    }
    [peer] = [row for row in rows if row.context.kernel == "by_numpy"]
    assert peer.context.toolchain.compiler == "numpy"


def test_of_several_configs_the_fastest_takes_part_and_all_are_kept(device, store):
    report = run_ladder(spec(trials=3, rounds=2), device=device, store=store)
    right = steps(report)["right"]
    assert right.choice == "fastest of 3"
    heat = [(config, out) for config, out in device.measured[:3]]
    assert {config["fault"] for config, _ in heat} == {"none"}
    fastest = min(heat, key=lambda pair: pair[1].measurement.median_ns)[0]
    assert right.trial.config == fastest
    samples = [
        len(out.measurement.samples_ns) for config, out in device.measured[3:] if config == fastest
    ]
    assert len(right.trial.measurement.samples_ns) == sum(samples[-2:])
    kept = [row.trial.config for row in store.rows() if row.context.kernel == "laddered"]
    assert {config for config, _ in heat} <= set(kept)


def test_a_config_that_stands_for_two_rungs_is_kept_once(host, store):
    report = run_ladder(spec("Twofold", trials=4, rounds=1), device=host, store=store)
    assert {name: step.status for name, step in steps(report).items()} == {
        "right": Status.OK,
        "as right": Status.OK,
    }
    kept = [row.trial.config for row in store.rows()]
    assert len(kept) == len(set(kept)) >= 4


def test_the_seed_says_which_configs_are_tried(host):
    tried = []
    for seed in (1, 1, 2):
        device = Heard(host)
        run_ladder(spec("Alone", trials=3, rounds=1, seed=seed), device=device)
        tried.append({config for config, _ in device.measured})
    assert tried[0] == tried[1] != tried[2]


def test_an_interrupt_keeps_what_was_measured(host, store):
    with pytest.raises(KeyboardInterrupt):
        run_ladder(spec(), device=Heard(host, stop_after=2), store=store)
    kept = sorted(str(row.trial.status) for row in store.rows())
    assert kept == ["compile_error", "incorrect", "ok"]


def test_a_second_interrupt_does_not_lose_what_the_first_one_left(host, store, monkeypatch):
    record = store.record

    def record_for_an_impatient_person(*told):
        os.kill(os.getpid(), signal.SIGINT)
        return record(*told)

    monkeypatch.setattr(store, "record", record_for_an_impatient_person)
    with pytest.raises(KeyboardInterrupt):
        run_ladder(spec(), device=Heard(host, stop_after=2), store=store)
    assert len(store.rows()) == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_peer_that_is_not_there_is_told_and_the_rungs_are_measured(device):
    report = run_ladder(spec("Alone"), device=device)
    assert report.peer is None
    assert "no kernel named 'no_such_kernel'" in report.no_peer
    assert steps(report)["right"].median_ns


def test_what_is_no_ladder_is_refused(device):
    with pytest.raises(InvalidInput, match="'untidy': ladder\\(\\) returns something other"):
        run_ladder(spec("Untidy"), device=device)
    with pytest.raises(InvalidInput, match="'by_numpy' declares no ladder"):
        run_ladder(spec("ByNumpy"), device=device)
    with pytest.raises(InvalidInput, match="ladder\\(\\) names 2 rungs 'right'"):
        run_ladder(spec("Doubled"), device=device)
    assert device.measured == []


@pytest.fixture
def recording(host, tmp_path):
    """A recording of some configs of each rung that can be built."""
    path = tmp_path / "recorded.db"
    laddered = spec()
    study = StudySpec(
        name="recorded",
        kernel_ref=laddered.kernel_ref,
        kernel=laddered.kernel,
        problems=(laddered.problem,),
        sampler="exhaustive",
        policy=FAST,
        space={"fault": ["none", "half_of_k"], "twin": [1, 2, 3]},
    )
    with Store.open(str(path)) as store:
        run_study(study, device=host, store=store)
        rows = store.rows()
    device = open_device(f"recording:{path}", limits=Limits())
    yield device, rows
    device.close()


def test_a_recording_answers_with_the_best_that_it_holds(recording):
    device, rows = recording
    report = run_ladder(spec(rounds=3), device=device)
    found = steps(report)
    times = [row.trial.median_ns for row in rows if row.trial.median_ns]
    assert found["right"].choice == "fastest of 3 recorded"
    assert found["right"].median_ns == min(times)
    recorded = {row.trial.config: row.trial for row in rows}
    right = found["right"].trial
    assert right.measurement == recorded[right.config].measurement
    assert found["wrong"].status is Status.INCORRECT
    assert (found["unbuilt"].status, found["unbuilt"].message) == (
        None,
        f"{device.name} has no result of it",
    )
    assert "no results of kernel 'by_numpy'" in report.no_peer


def test_a_recording_is_not_recorded_again(recording, store):
    run_ladder(spec(), device=recording[0], store=store)
    assert store.studies() == []


def test_a_recording_of_a_ladder_has_its_peer_too(host, tmp_path):
    path = tmp_path / "climbed.db"
    with Store.open(str(path)) as store:
        live = run_ladder(spec(), device=host, store=store)
    device = open_device(f"recording:{path}", limits=Limits())
    again = run_ladder(spec(), device=device)
    device.close()
    assert again.peer is not None, again.no_peer
    assert again.peer.median_ns == live.peer.median_ns
    best = min(step.median_ns for step in live.steps if step.status is Status.OK)
    assert {step.median_ns for step in again.steps if step.status is Status.OK} == {best}
