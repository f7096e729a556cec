"""Every kind of GEMM config on a real GPU, on shapes with tails of every sort."""

from __future__ import annotations

import random

import pytest

from autotune.device import open_device
from autotune.records import Binary, Candidate, Limits, Policy, Status
from kernel_space.gemm import Gemm, GemmProblem, ampere

pytestmark = pytest.mark.gpu

VERIFY = Policy(warmup_ms=0.0, min_samples=1, max_samples=1, budget_ms=0.1, sample_us=10.0)
COPYING = {"mechanism": ampere.MECHANISMS, "raster_group": [1, 4]}
SHAPES = (
    (1, 1, 1),
    (3, 9, 2),
    (65, 63, 33),
    (128, 96, 0),
    (130, 264, 168),
    (129, 262, 168),
    (511, 777, 1),
    (300, 1000, 1112),
    (16, 512, 1024),
    (1022, 513, 130),
)


@pytest.fixture(scope="module")
def device():
    opened = open_device("cuda:0", limits=Limits())
    yield opened
    opened.close()


def one_of_each_kind(dtype, layout, target):
    """Return a config of each mechanism, copy width and cache mode, the same ones every time."""
    kinds = {}
    for extent in (4096, 4095):  # rows that allow every copy, and the narrowest only
        problem = GemmProblem(extent, extent, extent, dtype, layout)
        for config in Gemm().space(problem, target).restricted(COPYING):
            kind = tuple(config[name] for name in ("mechanism", "barriers", "copy_bytes", "cache"))
            kinds.setdefault(kind, []).append(config)
    generator = random.Random(f"{dtype} {layout}")
    return [generator.choice(configs) for _, configs in sorted(kinds.items())]


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32"])
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_every_kind_of_config_multiplies_every_shape(device, dtype, layout):
    kernel, target = Gemm(), device.identity.target
    configs = one_of_each_kind(dtype, layout, target)
    tried = set()
    for shape in SHAPES:
        problem = GemmProblem(*shape, dtype, layout)
        space = kernel.space(problem, target)
        fitting = [c for c in configs if (space.broken(c) or ("raster",))[0] == "raster"]
        candidates = [Candidate("gemm", problem, c, target, kernel) for c in fitting]
        for candidate, built in [(c, device.build(c)) for c in candidates]:
            binary = built.result()
            assert isinstance(binary, Binary), (candidate, binary)
            outcome = device.measure(candidate, binary, VERIFY)
            if outcome.status is not Status.RESOURCES:  # a few spill, and are refused
                assert (outcome.status, outcome.message) == (Status.OK, ""), candidate
            tried.add(candidate.config)
    assert tried == set(configs)
