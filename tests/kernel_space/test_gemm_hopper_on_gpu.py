"""Every kind of Hopper config on a real GPU, on shapes with tails of every sort."""

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
# Rows of A, B and C in whole units of 16 bytes, except for C in the last two.
SHAPES = (
    (8, 8, 8),
    (64, 64, 64),
    (72, 136, 56),
    (128, 96, 72),
    (136, 264, 520),
    (264, 1000, 1112),
    (16, 512, 1024),
    (1032, 2056, 1096),
)
ODD_N = ((200, 333, 520), (72, 130, 136))
KINDS = ("mechanism", "cluster_m", "cluster_n", "operands", "split_k")


@pytest.fixture(scope="module")
def device():
    opened = open_device("cuda:0", limits=Limits())
    if opened.identity.target.arch != "sm_90a":
        opened.close()
        pytest.skip("these mechanisms are Hopper's")
    yield opened
    opened.close()


def one_of_each_kind(problem, target, seed):
    """Return a config of each mechanism, cluster, operand order and split that the problem has."""
    kinds = {}
    for config in Gemm().space(problem, target).restricted({"mechanism": list(MECHANISMS)}):
        kinds.setdefault(tuple(config[name] for name in KINDS), []).append(config)
    draw = random.Random(seed)
    return [draw.choice(configs) for _, configs in sorted(kinds.items(), key=str)]


def assert_right(device, problem, configs):
    target = device.identity.target
    candidates = [Candidate("gemm", problem, config, target, Gemm()) for config in configs]
    for candidate, built in [(each, device.build(each)) for each in candidates]:
        binary = built.result()
        assert isinstance(binary, Binary), (candidate.config, binary)
        outcome = device.measure(candidate, binary, VERIFY)
        if outcome.status is not Status.RESOURCES:  # a few clusters spill, and are refused
            assert (outcome.status, outcome.message) == (Status.OK, ""), candidate.config


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_kind_of_config_multiplies(device, shape):
    problem = GemmProblem(*shape, "bf16", "nt")
    configs = one_of_each_kind(problem, device.identity.target, shape[0])
    assert configs
    assert_right(device, problem, configs)


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp16-fp32"])
def test_every_layout_and_dtype(device, dtype, layout):
    problem = GemmProblem(136, 264, 520, dtype, layout)
    assert_right(device, problem, one_of_each_kind(problem, device.identity.target, 1)[::3])


@pytest.mark.parametrize("dtype", ["bf16", "bf16-fp32"])
@pytest.mark.parametrize("shape", ODD_N, ids=str)
def test_rows_of_c_that_no_tensor_copy_can_store(device, shape, dtype):
    problem = GemmProblem(*shape, dtype, "nt")
    assert_right(device, problem, one_of_each_kind(problem, device.identity.target, 2))
