from __future__ import annotations

import dataclasses
import logging

import pytest
from driving import BRISK, candidate, outcome
from recorded import CONTEXT, H200, KERNEL, PROBLEM, TRIALS, record

from autotune.device import open_device
from autotune.errors import InvalidInput, NoValidConfig
from autotune.records import (
    Binary,
    Failure,
    Limits,
    Measurement,
    Status,
    Toolchain,
    load_kernel,
)


@pytest.fixture
def device(tmp_path):
    opened = record(tmp_path / "r.sqlite", (CONTEXT, TRIALS))
    yield opened
    opened.close()


def test_it_is_the_device_that_measured(device):
    assert device.identity == H200
    assert device.toolchain_of(KERNEL) == CONTEXT.toolchain
    assert device.replays
    assert device.source_digest(candidate(device, fault="none", twin=0)) == "d" * 32


def test_it_offers_what_was_tried_failures_too(device):
    assert set(device.offers(KERNEL, PROBLEM)) == {each.config for each in TRIALS}


@pytest.mark.parametrize("each", TRIALS, ids=lambda each: each.status)
def test_it_answers_what_was_recorded(device, each):
    made = candidate(device, **each.config)
    built = device.build(made).result(0)
    if each.resources is None:
        assert built == Failure(status=each.status, message=each.message)
        return
    assert isinstance(built, Binary)
    assert (built.resources, built.key) == (each.resources, each.binary_key)
    answer = device.measure(made, built, BRISK)
    assert (answer.status, answer.message) == (each.status, each.message)
    assert answer.measurement == each.measurement


def test_its_policy_is_the_recorded_one_and_a_mismatch_is_logged(device, caplog):
    with caplog.at_level(logging.INFO):
        assert device.policy(BRISK) == BRISK
        assert not caplog.text
        assert device.policy(dataclasses.replace(BRISK, seed=9)) == BRISK
    assert "recorded policy" in caplog.text


def test_what_was_not_recorded_is_refused_by_name(device):
    with pytest.raises(NoValidConfig, match="no results of faulty_matmul for m=1,n=1,k=1"):
        device.source_digest(
            candidate(device, problem={"m": 1, "n": 1, "k": 1}, fault="none", twin=0)
        )
    with pytest.raises(InvalidInput, match="fault=exit twin=0"):
        device.build(candidate(device, fault="exit", twin=0))
    for kernel, hint in (("host_matmul", "--device host"), ("cublas", "takes a GPU")):
        with pytest.raises(InvalidInput, match="it has faulty_matmul") as refused:
            device.preflight(load_kernel(kernel))
        assert hint in refused.value.hint


def test_an_empty_database_is_no_recording(tmp_path):
    with pytest.raises(InvalidInput, match="no measured results"):
        record(tmp_path / "r.sqlite")


def test_replayed_rows_are_not_replayed_again(tmp_path):
    replayed = dataclasses.replace(CONTEXT, replayed_from="recording:h200")
    with pytest.raises(InvalidInput, match="no measured results"):
        record(tmp_path / "r.sqlite", (replayed, TRIALS))


def test_of_several_settings_the_one_with_most_problems_speaks(tmp_path, caplog):
    other = dataclasses.replace(CONTEXT, policy=dataclasses.replace(BRISK, seed=9))
    more = dataclasses.replace(other, problem=KERNEL.problem_type(5, 5, 5))
    with caplog.at_level(logging.INFO):
        device = record(
            tmp_path / "r.sqlite", (other, TRIALS[:1]), (more, TRIALS[1:2]), (CONTEXT, TRIALS)
        )
    assert device.policy(BRISK) == other.policy
    assert device.offers(KERNEL, PROBLEM) == (TRIALS[0].config,)
    assert "answers with 2 of 3 recorded contexts" in caplog.text
    device.close()


def test_of_two_sources_the_newer_one_speaks(tmp_path):
    newer = dataclasses.replace(CONTEXT, source_digest="e" * 32)
    device = record(tmp_path / "r.sqlite", (CONTEXT, TRIALS), (newer, TRIALS[:1]))
    assert device.source_digest(candidate(device, fault="none", twin=0)) == "e" * 32
    assert device.offers(KERNEL, PROBLEM) == (TRIALS[0].config,)
    device.close()


def test_each_kernel_has_a_toolchain_of_its_own(tmp_path):
    """A library's kernel stands beside compiled ones; of two compilers one kernel has one."""
    blas = Toolchain(compiler="cublasLt", version="13.1")
    peer = dataclasses.replace(CONTEXT, kernel="cublas", kernel_ref="cublas", toolchain=blas)
    older = Toolchain(compiler="nvrtc", version="12.9")
    old = dataclasses.replace(CONTEXT, toolchain=older)
    device = record(
        tmp_path / "r.sqlite", (old, TRIALS[1:2]), (peer, TRIALS[:1]), (CONTEXT, TRIALS)
    )
    assert device.toolchain_of(load_kernel("cublas")) == blas
    assert device.toolchain_of(KERNEL) == CONTEXT.toolchain
    assert len(device.offers(KERNEL, PROBLEM)) == len(TRIALS)
    device.close()


def test_replaying_writes_nothing(tmp_path):
    path = tmp_path / "r.sqlite"
    record(path, (CONTEXT, TRIALS)).close()
    before = path.read_bytes()
    device = open_device(f"recording:{path}", limits=Limits())
    made = candidate(device, fault="none", twin=0)
    device.measure(made, device.build(made).result(0), BRISK)
    device.close()
    assert path.read_bytes() == before


MANY = (21.0, 20.5, 22.0, 21.0, 20.0, 21.0, 23.0)
STOPPING = BRISK.replace(stop_factor=2.0)


@pytest.fixture
def sampled(tmp_path):
    measured = dataclasses.replace(TRIALS[0].measurement, samples_ns=MANY)
    slow = dataclasses.replace(TRIALS[0], measurement=measured)
    opened = record(tmp_path / "r.sqlite", (CONTEXT, (slow, *TRIALS[1:])))
    yield opened
    opened.close()


def test_it_stops_at_the_sample_that_would_have_been_enough(sampled):
    made = candidate(sampled, fault="none", twin=0)
    result = outcome(sampled, made, STOPPING, best_ns=10.0)
    assert result.status is Status.STOPPED_EARLY
    assert result.measurement == Measurement(
        samples_ns=MANY[:3], launches_per_sample=7, sm_clock_mhz=1980
    )


@pytest.mark.parametrize(("factor", "best_ns"), [(2.0, None), (2.0, 10.25), (0.0, 1.0)])
def test_it_answers_in_full_where_nothing_is_to_be_given_up(sampled, factor, best_ns):
    made = candidate(sampled, fault="none", twin=0)
    result = outcome(sampled, made, BRISK.replace(stop_factor=factor), best_ns=best_ns)
    assert (result.status, result.measurement.samples_ns) == (Status.OK, MANY)


def test_a_recorded_failure_stays_what_it_was_however_fast_the_best(sampled):
    made = candidate(sampled, fault="nan", twin=0)
    assert outcome(sampled, made, STOPPING, best_ns=1e-3).status is Status.INCORRECT


def test_what_was_stopped_early_when_it_was_recorded_stays_so(tmp_path):
    """Its few samples are all there is: no later search can learn more from them."""
    seen = dataclasses.replace(TRIALS[0].measurement, samples_ns=MANY[:3])
    given_up = dataclasses.replace(
        TRIALS[0], status=Status.STOPPED_EARLY, measurement=seen, message="takes 0.02 µs or more"
    )
    device = record(tmp_path / "r.sqlite", (CONTEXT, (given_up,)))
    result = outcome(device, candidate(device, fault="none", twin=0), STOPPING, best_ns=1e9)
    assert (result.status, result.measurement) == (Status.STOPPED_EARLY, seen)
    assert result.message == given_up.message
    device.close()
