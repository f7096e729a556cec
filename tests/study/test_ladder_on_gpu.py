"""The ladder of the GEMM kernel on a GPU, in turns with cuBLAS."""

from __future__ import annotations

import pytest

from autotune.device import open_device
from autotune.records import QUICK, Limits, Status, load_kernel
from autotune.study import LadderSpec, run_ladder

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def device():
    device = open_device("cuda:0", limits=Limits())
    yield device
    device.close()


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("gemm", {"m": 1024, "n": 1024, "k": 1024, "dtype": "bf16", "layout": "nt"}),
        ("stream", {"count": 20_000_003}),
    ],
)
def test_every_rung_that_the_device_allows_is_right(device, name, fields):
    kernel = load_kernel(name)
    problem = kernel.problem_type.parse(fields)
    spec = LadderSpec(kernel_ref=name, kernel=kernel, problem=problem, rounds=2, policy=QUICK)
    report = run_ladder(spec, device=device)
    ended = {step.rung.name: (step.status, step.message) for step in report.steps}
    wrong = {
        rung: told for rung, told in ended.items() if told[0] not in (Status.OK, Status.CONSTRAINT)
    }
    assert wrong == {}
    allowed = device.identity.target.arch == "sm_90a"
    assert not allowed or all(status is Status.OK for status, _ in ended.values()), ended
    if name == "gemm":
        assert report.peer is not None, report.no_peer
        assert report.peer.status is Status.OK, report.peer.message
