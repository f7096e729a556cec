"""Every mechanism of the stream on a GPU, on counts that are no multiple of anything."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from autotune.device import Device, open_device
from autotune.records import Binary, Candidate, Limits, Policy, Status
from kernel_space.stream import Stream, StreamProblem

pytestmark = pytest.mark.gpu

BRISK = Policy(
    warmup_ms=0.1, min_samples=3, max_samples=3, budget_ms=0.1, sample_us=50.0, cache="hot"
)
COUNTS = (1, 4097, 1_000_003, 30_000_001)
CONFIGS = 6
MECHANISMS = ("direct", "sync1", "cp_async", "pipeline_mbarrier", "bulk")


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    opened = open_device("cuda:0", limits=Limits())
    yield opened
    opened.close()


def made(device, problem, config):
    return Candidate("stream", problem, config, device.identity.target, Stream())


def sampled(problem, target, mechanism):
    space = Stream().space(problem, target).restricted({"mechanism": [mechanism]})
    configs = list(space)
    if not configs:
        pytest.skip(f"{target.arch} has no {mechanism}")
    return random.Random(mechanism).sample(configs, CONFIGS)


@pytest.mark.parametrize("operation", ["copy", "scale", "triad"])
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_configs_are_right_on_every_count(device, mechanism, dtype, operation):
    problems = [StreamProblem(count, dtype, operation) for count in COUNTS]
    configs = sampled(problems[0], device.identity.target, mechanism)
    builds = {config: device.build(made(device, problems[0], config)) for config in configs}
    for problem in problems:
        for config, build in builds.items():
            binary = build.result(60)
            assert isinstance(binary, Binary), (config, binary)
            outcome = device.measure(made(device, problem, config), binary, BRISK)
            assert (outcome.status, outcome.message) == (Status.OK, ""), (problem, config)


@pytest.mark.parametrize("operation", ["copy", "triad"])
@pytest.mark.parametrize("stages", [1, 2, 3, 8])
@pytest.mark.parametrize(
    ("mechanism", "store"),
    [
        ("cp_async", "registers"),
        ("pipeline_mbarrier", "registers"),
        ("bulk", "registers"),
        ("bulk", "bulk"),
    ],
)
def test_a_ring_is_right_with_fewer_and_more_tiles_than_stages(
    device, mechanism, store, stages, operation
):
    target, small = device.identity.target, StreamProblem(1, "fp32", operation)
    ring = {"mechanism": mechanism, "stages": stages, "store": store, "readers": "any"}
    shape = {"blocks_per_sm": 1, "threads": 64, "thread_bytes": 16}
    config = Stream().default(small, target).replace(**ring, **shape)
    if Stream().space(small, target).broken(config):
        pytest.skip(f"{target.arch} has no {mechanism}")
    binary = device.build(made(device, small, config)).result(60)
    lap = 64 * 16 // 4 * target.sm_count
    for laps in (1, stages, stages + 1, 2 * stages + 1, 50):
        problem = StreamProblem(lap * laps + 5, "fp32", operation)
        outcome = device.measure(made(device, problem, config), binary, BRISK)
        assert (outcome.status, outcome.message) == (Status.OK, ""), problem


@pytest.mark.parametrize("stages", [2, 3])
def test_the_copy_engine_does_not_overtake_threads_that_still_read(device, stages):
    """Many blocks of a multiprocessor make its shared memory slow: loads are late then."""
    target, problem = device.identity.target, StreamProblem(1 << 26)
    ring = {"mechanism": "bulk", "stages": stages, "readers": "any"}
    shape = {"blocks_per_sm": 8, "threads": 128, "thread_bytes": 64}
    config = Stream().default(problem, target).replace(**ring, **shape)
    if Stream().space(problem, target).broken(config):
        pytest.skip(f"{target.arch} has no bulk copies")
    binary = device.build(made(device, problem, config)).result(60)
    outcome = device.measure(made(device, problem, config), binary, BRISK)
    assert (outcome.status, outcome.message) == (Status.OK, "")
