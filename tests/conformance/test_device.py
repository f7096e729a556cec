"""One suite for the device protocol, run over every kind of device."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

from autotune.device import Device, open_device
from autotune.errors import InvalidInput
from autotune.records import Binary, Limits, Status, Trial, device_language, load_kernel
from autotune.store import Context, Store

ROOM = Path(__file__).parent.parent / "device"
sys.path.insert(0, str(ROOM))
from driving import BRISK, COPIED, FAULTY, SCALE, candidate, outcome  # noqa: E402 - found by the line above

SAMPLED = BRISK.replace(min_samples=5)
STOPPING = SAMPLED.replace(stop_factor=1.5)


class Subject:
    """A device with candidates whose fate is known."""

    def __init__(self, name, device, ref, *, problem, right, other, wrong, faulty):
        self.name, self.device, self.ref = name, device, ref
        self.kernel = load_kernel(ref)
        self.problem = problem
        self.right, self.other = self.candidate(right), self.candidate(other)
        self.wrong, self.faulty = self.candidate(wrong), self.candidate(faulty)

    def candidate(self, values):
        return candidate(self.device, ref=self.ref, problem=self.problem, **values)


def host_subject(name, device):
    return Subject(
        name,
        device,
        FAULTY,
        problem={"m": 17, "n": 19, "k": 23},
        right={"fault": "none", "twin": 0},
        other={"fault": "none", "twin": 1},
        wrong={"fault": "half_of_k", "twin": 0},
        faulty={"fault": "exit", "twin": 0},
    )


def cuda_subject(name, device):
    rest = {"threads": 128, "shared_bytes": 0}
    return Subject(
        name,
        device,
        SCALE,
        problem={"count": 10_007},
        right={"fault": "none", **rest},
        other={"fault": "none", **rest, "threads": 256},
        wrong={"fault": "half", **rest},
        faulty={"fault": "out_of_bounds", **rest},
    )


def library_subject(name, device):
    """A kernel that is a call of a library: nothing of it is compiled."""
    return Subject(
        name,
        device,
        COPIED,
        problem={"count": 10_007},
        right={"call": "whole"},
        other={"call": "halves"},
        wrong={"call": "half"},
        faulty={"call": "absent"},
    )


def recorded(path):
    """Measure the host's candidates, record them, and return the name of the recording."""
    device = open_device("host", limits=Limits(run_s=20))
    subject = host_subject("host", device)
    context = Context(
        kernel=subject.kernel.name,
        kernel_ref=FAULTY,
        source_digest=device.source_digest(subject.right),
        problem=subject.right.problem,
        device=device.identity,
        toolchain=device.toolchain_of(subject.kernel),
        policy=SAMPLED,
    )
    made = (subject.right, subject.other, subject.wrong, subject.faulty)
    with Store.open(str(path)) as store:
        study = store.begin_study("s", spec={}, sampler="random", seed=0)
        for number, each in enumerate(made):
            store.record(study, context, trial(device, number, each))
    device.close()
    return f"recording:{path}"


def trial(device, number, each):
    built, result = device.build(each).result(60), outcome(device, each, SAMPLED)
    return Trial(
        number=number,
        problem_key=each.problem.key,
        config=each.config,
        status=result.status,
        message=result.message,
        measurement=result.measurement,
        resources=built.resources,
        binary_key=built.key,
        verified=result.status is Status.OK,
    )


SUBJECTS = {
    "host": host_subject,
    "library": library_subject,
    "recording": host_subject,
    "cuda:0": cuda_subject,
}


@pytest.fixture(
    scope="module",
    params=[pytest.param(n, marks=[pytest.mark.gpu] * (n == "cuda:0")) for n in SUBJECTS],
)
def subject(request, tmp_path_factory):
    names = {"library": "host"}
    if request.param == "recording":
        path = tmp_path_factory.mktemp("recording") / "host.sqlite"
        names["recording"] = recorded(path)
    name = names.get(request.param, request.param)
    device = open_device(name, limits=Limits(run_s=20))
    yield SUBJECTS[request.param](name, device)
    device.close()


def test_it_answers_to_its_name_and_says_what_it_is(subject):
    device: Device = subject.device
    assert device.name == subject.name
    assert device.identity.kind in {"cuda", "host"}
    assert device.identity.name
    assert device.identity.target.arch
    assert device.toolchain_of(subject.kernel).compiler
    assert device.toolchain_of(subject.kernel).version
    assert device.lookahead >= 1
    assert device.replays == device.name.startswith("recording:")


def test_its_policy_is_its_own_answer(subject):
    policy = subject.device.policy(BRISK)
    assert subject.device.policy(policy) == policy
    assert subject.device.replays or policy == BRISK


def test_preflight_accepts_its_language_and_refuses_others_by_name(subject):
    subject.device.preflight(subject.kernel)
    on_host = device_language(subject.kernel) == "c++"
    stranger = load_kernel("gemm" if on_host else "host_matmul")
    with pytest.raises(InvalidInput, match=stranger.name):
        subject.device.preflight(stranger)


def test_the_source_digest_does_not_depend_on_the_config(subject):
    digest = subject.device.source_digest(subject.right)
    assert len(digest) == 32
    assert subject.device.source_digest(subject.wrong) == digest


def test_it_offers_what_it_can_answer(subject):
    offers = subject.device.offers(subject.kernel, subject.right.problem)
    if offers is None:
        assert not subject.device.replays
    else:
        assert {subject.right.config, subject.faulty.config} <= set(offers)


def test_a_build_may_be_asked_ahead_of_need(subject):
    futures = [subject.device.build(each) for each in (subject.right, subject.other, subject.right)]
    built = [future.result(60) for future in futures]
    assert all(isinstance(each, Binary) for each in built)
    assert built[0].key == built[2].key
    assert built[0].entry


def test_a_right_candidate_is_ok_with_samples(subject):
    result = outcome(subject.device, subject.right)
    assert result.status is Status.OK
    assert result.measurement.median_ns > 0


def test_a_candidates_fault_is_a_value_and_harms_no_other(subject):
    for bad, allowed in (
        (subject.wrong, {Status.INCORRECT}),
        (subject.faulty, {Status.CRASHED, Status.RUNTIME_ERROR}),
    ):
        result = outcome(subject.device, bad)
        assert result.status in allowed
        assert result.message
        assert result.measurement is None
        assert outcome(subject.device, subject.other).status is Status.OK


def test_what_is_clearly_slower_than_the_best_is_given_up_after_a_few_samples(subject):
    result = outcome(subject.device, subject.right, STOPPING, best_ns=0.001)
    assert result.status is Status.STOPPED_EARLY
    assert "µs or more" in result.message
    assert 2 <= len(result.measurement.samples_ns) <= 3
    assert result.measurement.interval_ns[0] > 0.0015


@pytest.mark.parametrize("best_ns", [None, math.inf, 1e15])
def test_what_may_be_the_best_is_measured_in_full(subject, best_ns):
    result = outcome(subject.device, subject.right, STOPPING, best_ns=best_ns)
    assert result.status is Status.OK
    assert len(result.measurement.samples_ns) >= 5


def test_a_policy_that_gives_nothing_up_measures_what_is_slow(subject):
    assert outcome(subject.device, subject.right, SAMPLED, best_ns=0.001).status is Status.OK


def test_what_is_wrong_is_wrong_however_slow(subject):
    assert (
        outcome(subject.device, subject.wrong, STOPPING, best_ns=0.001).status is Status.INCORRECT
    )


def test_closing_twice_is_closing_once(subject):
    again = open_device(subject.name, limits=Limits())
    again.close()
    again.close()
