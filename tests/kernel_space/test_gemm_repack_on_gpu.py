"""Products whose rows no tensor map can describe, on a real GPU."""

from __future__ import annotations

import random

import pytest

from autotune.device import open_device
from autotune.records import Binary, Candidate, Limits, Policy, Status
from kernel_space.gemm import Gemm, GemmProblem
from kernel_space.gemm.hopper import MECHANISMS

pytestmark = pytest.mark.gpu

VERIFY = Policy(
    warmup_ms=0.0, min_samples=1, max_samples=1, budget_ms=0.1, sample_us=10.0, repeats=4
)
EXTENTS = (1, 7, 63, 65, 127, 129, 1001)
KINDS = ("mechanism", "cluster_m", "cluster_n", "operands", "split_k")


@pytest.fixture(scope="module")
def device():
    opened = open_device("cuda:0", limits=Limits())
    if opened.identity.target.arch != "sm_90a":
        opened.close()
        pytest.skip("these mechanisms are Hopper's")
    yield opened
    opened.close()


def assert_right(device, problem, configs):
    target = device.identity.target
    candidates = [Candidate("gemm", problem, config, target, Gemm()) for config in configs]
    for candidate, built in [(each, device.build(each)) for each in candidates]:
        binary = built.result()
        assert isinstance(binary, Binary), (candidate.config, binary)
        outcome = device.measure(candidate, binary, VERIFY)
        if outcome.status is not Status.RESOURCES:  # a few clusters spill, and are refused
            assert (outcome.status, outcome.message) == (Status.OK, ""), candidate


def test_each_extent_in_each_place(device):
    """Every pair of extents stands somewhere, with one binary for each way that C is stored."""
    kernel, target = Gemm(), device.identity.target
    for i, one in enumerate(EXTENTS):
        for j, other in enumerate(EXTENTS):
            problem = GemmProblem(one, other, EXTENTS[(i + 2 * j) % len(EXTENTS)])
            assert_right(device, problem, [kernel.default(problem, target)])


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_every_layout_with_one_or_both_operands_repacked(device, dtype, layout):
    kernel, target = Gemm(), device.identity.target
    draw = random.Random(f"{dtype} {layout}")
    drawn = [tuple(draw.choice(EXTENTS) for _ in range(3)) for _ in range(6)]
    for shape in [*drawn, (129, 64, 1001), (64, 129, 1001), (129, 1001, 64), (1, 1, 1)]:
        problem = GemmProblem(*shape, dtype, layout)
        assert_right(device, problem, [kernel.default(problem, target)])


@pytest.mark.parametrize("shape", [(129, 65, 1001), (1001, 127, 2003), (16, 513, 4095)], ids=str)
def test_every_kind_of_config_repacks(device, shape):
    problem, target, kinds = GemmProblem(*shape), device.identity.target, {}
    space = Gemm().space(problem, target).restricted({"mechanism": list(MECHANISMS)})
    for config in space:
        kinds.setdefault(tuple(config[name] for name in KINDS), []).append(config)
    draw = random.Random(shape[0])
    configs = [draw.choice(some) for _, some in sorted(kinds.items(), key=str)]
    assert configs
    assert all(config["repack"] == "rows" for config in configs)
    assert_right(device, problem, configs)
