"""Launches in two steps with scratch between them, on the host and on a GPU."""

from __future__ import annotations

import dataclasses

import pytest
from driving import BRISK, KERNELS, candidate, outcome

from autotune.device import open_device
from autotune.device.fit import misfit
from autotune.records import Launch, Limits, Resources, Status
from autotune.records.targets import TARGETS

STAGED = f"{KERNELS / 'staged.py'}:Staged"


@pytest.fixture(scope="module", params=["host", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def device(request):
    opened = open_device(request.param, limits=Limits(run_s=20))
    yield opened
    opened.close()


def run(device, fault, policy=BRISK):
    ref = STAGED if device.name == "host" else f"{STAGED}OnGpu"
    return outcome(
        device, candidate(device, ref=ref, problem={"count": 10_007}, fault=fault), policy
    )


@pytest.mark.parametrize("cache", ["hot", "cold"])
def test_a_step_before_fills_the_scratch_that_the_last_one_reads(device, cache):
    result = run(device, "none", dataclasses.replace(BRISK, cache=cache))
    assert (result.status, result.message) == (Status.OK, "")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("short_copy", "1 of 10007 elements of y are wrong; at [10006]: got nan"),
        ("overrun", "it wrote 4 bytes past the end of scratch copy, 1 from it"),
        ("stale", "of y are wrong"),
    ],
)
def test_what_a_step_leaves_undone_or_does_beside_its_scratch_is_found(device, fault, message):
    result = run(device, fault)
    assert result.status is Status.INCORRECT
    assert message in result.message
    assert run(device, "none").status is Status.OK


def test_scratch_that_no_memory_holds_is_one_row(device):
    assert run(device, "huge").status is Status.OOM
    assert run(device, "none").status is Status.OK


def test_an_entry_that_the_binary_lacks_is_one_row(device):
    result = run(device, "absent")
    assert result.status is Status.RUNTIME_ERROR
    assert result.message
    assert run(device, "none").status is Status.OK


def test_a_step_that_does_not_fit_is_named():
    step = Launch(grid=(1, 1, 1), block=(2048, 1, 1), shared_bytes=0, arguments=(), entry="stage")
    last = Launch(grid=(1, 1, 1), block=(64, 1, 1), shared_bytes=0, arguments=(), before=(step,))
    reason = misfit(Resources(registers=255), last, TARGETS["sm_90a"])
    assert reason == "stage: 2048 threads in a block; the device allows 1024"
