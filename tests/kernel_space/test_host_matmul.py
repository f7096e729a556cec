from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from autotune.device import Device, open_device
from autotune.errors import InvalidProblem
from autotune.records import Binary, Candidate, Limits, Policy, Status, Target
from kernel_space.host_matmul import HostMatmul, MatmulProblem

KERNEL = HostMatmul()
TARGET = Target(
    arch="x86_64", sm_count=2, shared_bytes_per_block=0, shared_bytes_per_sm=0, l2_bytes=1 << 20
)
BRISK = Policy(
    warmup_ms=0.1, min_samples=3, max_samples=3, budget_ms=0.1, sample_us=50.0, cache="hot"
)
SHAPES = [(1, 1, 1), (5, 3, 0), (17, 130, 67), (64, 64, 64), (65, 257, 129), (200, 1, 9)]


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    opened = open_device("host", limits=Limits())
    yield opened
    opened.close()


def test_the_space_is_large_and_its_default_is_in_it():
    space = KERNEL.space(MatmulProblem(64, 64, 64), TARGET)
    assert space.census().valid >= 200
    assert space.broken(KERNEL.default(MatmulProblem(64, 64, 64), TARGET)) is None


def test_a_small_cache_leaves_only_small_tiles():
    small = dataclasses.replace(TARGET, l2_bytes=16 << 10)
    space = KERNEL.space(MatmulProblem(64, 64, 64), small)
    census = space.census()
    assert 0 < census.valid < 1000
    assert "of a 16384 byte cache" in census.example["cache"]


@pytest.mark.parametrize("fields", [{"m": -1}, {"n": 2**31}])
def test_an_extent_that_cannot_be_is_refused(fields):
    with pytest.raises(InvalidProblem, match=next(iter(fields))):
        MatmulProblem(**{"m": 1, "n": 1, "k": 1, **fields})


def test_every_loop_order_and_unroll_is_right_on_tails(device):
    space = KERNEL.space(MatmulProblem(1, 1, 1), device.identity.target)
    configs = [
        config
        for config in space
        if (config["tile_m"], config["tile_n"], config["tile_k"]) == (8, 64, 16)
        and config["unroll"] in {1, 8}
    ]
    assert len(configs) == 6
    builds = {config: device.build(made(device, (1, 1, 1), config)) for config in configs}
    for shape in SHAPES:
        for config, build in builds.items():
            binary = build.result()
            assert isinstance(binary, Binary)
            outcome = device.measure(made(device, shape, config), binary, BRISK)
            assert (outcome.status, outcome.message) == (Status.OK, ""), (shape, config)


def test_an_empty_product_launches_nothing():
    default = KERNEL.default(MatmulProblem(0, 4, 4), TARGET)
    assert KERNEL.launch(MatmulProblem(0, 4, 4), default, TARGET).empty
    assert not KERNEL.launch(MatmulProblem(4, 4, 0), default, TARGET).empty


def made(device, shape, config):
    return Candidate("host_matmul", MatmulProblem(*shape), config, device.identity.target, KERNEL)
