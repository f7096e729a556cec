from __future__ import annotations

import re

import numpy as np
import pytest
from cards import H200, RTX_3090
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.errors import InvalidProblem
from autotune.records import Scalar, load_kernel
from kernel_space.stream import Stream, StreamPlan, StreamProblem

COPY = StreamProblem(1_000_003)
TRIAD = StreamProblem(1_000_003, "bf16", "triad")
RING = (
    Stream()
    .default(COPY, H200)
    .replace(mechanism="cp_async", stages=4, blocks_per_sm=2, readers="any")
)
DIRECT = Stream().default(COPY, H200)
BULK = {"mechanism": "bulk", "readers": "any"}


def broken(problem=COPY, target=H200, **changes):
    return Stream().space(problem, target).broken(RING.replace(**changes))


def test_it_is_installed():
    assert isinstance(load_kernel("stream"), Stream)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"count": -1}, "count must be from 0"),
        ({"count": 2**40}, "count must be from 0"),
        ({"count": 1, "dtype": "fp64"}, "dtype must be one of bf16, fp32"),
        ({"count": 1, "operation": "sum"}, "operation must be one of copy, scale, triad"),
    ],
)
def test_what_cannot_be_computed_is_refused(fields, words):
    with pytest.raises(InvalidProblem, match=words):
        StreamProblem(**fields)


def test_the_reference_is_the_operation_and_nothing_is_aliased():
    inputs = {"x": np.array([1.0, -2.0, 0.5]), "w": np.array([3.0, 4.0, -1.0])}
    wanted = {"copy": [1.0, -2.0, 0.5], "scale": [3.0, -6.0, 1.5], "triad": [10.0, 10.0, -2.5]}
    for operation, values in wanted.items():
        problem = StreamProblem(3, "fp32", operation)
        given_ = {name: inputs[name] for name in problem.inputs}
        y = Stream().reference(problem, given_, np)["y"]
        assert y.tolist() == values
        assert not np.shares_memory(y, inputs["x"])


@pytest.mark.parametrize(("operation", "arrays"), [("copy", 2), ("scale", 2), ("triad", 3)])
def test_every_array_passes_memory_once(operation, arrays):
    problem = StreamProblem(10, "bf16", operation)
    assert Stream().cost(problem).bytes == arrays * 10 * 2
    assert len(Stream().operands(problem)) == arrays


def test_a_copy_must_be_exact():
    tolerance = Stream().tolerance(COPY)
    assert (tolerance.relative, tolerance.absolute) == (0, 0)


@pytest.mark.parametrize("dtype", ["bf16", "fp32"])
def test_rounding_passes_and_a_wrong_factor_does_not(dtype):
    problem = StreamProblem(1000, dtype, "triad")
    rng = np.random.default_rng(0)
    x, w = (rounded(rng.uniform(-1, 1, 1000), dtype) for _ in range(2))
    wanted = Stream().reference(problem, {"x": x.astype("f8"), "w": w.astype("f8")}, np)["y"]
    tolerance = Stream().tolerance(problem)
    bound = tolerance.absolute + tolerance.relative * np.abs(wanted)
    assert (np.abs(rounded(wanted, dtype) - wanted) <= bound).all()
    assert (np.abs(rounded(wanted * 1.01, dtype) - wanted) > bound).any()


def rounded(values, dtype):
    values = values.astype(np.float32)
    if dtype == "fp32":
        return values
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"mechanism": "direct"}, "no_choice", "stages can only be 1 here, not 4"),
        ({"store": "bulk"}, "no_choice", "store can only be registers here, not bulk"),
        ({"mechanism": "pipeline_mbarrier", "readers": "own"}, "no_choice", "can only be any here"),
        ({"blocks_per_sm": 0}, "one_tile", "nothing for 4 stages"),
        ({"thread_bytes": 8}, "copy_size", "8 bytes is less than a copy of 16"),
        (
            {"thread_bytes": 128, "threads": 512, "stages": 8, "blocks_per_sm": 1},
            "shared_memory",
            "8 stages take 524288 bytes, more than 232448",
        ),
        (
            {"thread_bytes": 64, "blocks_per_sm": 4},
            "resident_blocks",
            "4 blocks take 266240 bytes, more than 233472",
        ),
        (
            {"threads": 1024, "blocks_per_sm": 4, "thread_bytes": 4, "copy_bytes": 4},
            "resident_threads",
            "4096 threads, more than 2048",
        ),
    ],
)
def test_each_rule_says_what_it_removes_with_numbers(changes, name, words):
    found = broken(**changes)
    assert found is not None
    assert found[0] == name
    assert words in found[1]


def test_a_share_of_two_inputs_must_fit_into_registers():
    config = DIRECT.replace(threads=1024, thread_bytes=128)
    assert Stream().space(COPY, H200).broken(config) is None
    found = Stream().space(TRIAD, H200).broken(config)
    assert found == ("registers", "1024 threads have 64 registers each, not 92")


def test_the_config_that_the_rules_are_tried_on_is_valid():
    assert broken() is None


def test_two_inputs_take_twice_the_shared_memory():
    changes = {"thread_bytes": 64, "stages": 8, "blocks_per_sm": 1}
    assert broken(COPY, **changes) is None
    assert broken(TRIAD, **changes)[0] == "shared_memory"


def test_older_devices_lack_the_copy_engine_and_have_fewer_threads():
    assert broken(target=RTX_3090, **BULK) == ("architecture", "bulk needs sm_90, not sm_86")
    found = broken(target=RTX_3090, blocks_per_sm=8, thread_bytes=16, stages=1)
    assert found == ("resident_threads", "8 blocks have 2048 threads, more than 1536")


def test_every_mechanism_stage_count_and_copy_size_is_there():
    configs = list(Stream().space(COPY, H200))
    assert 5_000 < len(configs) < 20_000
    rings = {(c["mechanism"], c["stages"], c["copy_bytes"]) for c in configs}
    expected = {(name, 1, size) for name in ("direct", "sync1") for size in (4, 8, 16)}
    expected |= {
        (name, stages, size)
        for name in ("cp_async", "pipeline_mbarrier")
        for stages in range(1, 9)
        for size in (4, 8, 16)
    }
    assert rings == expected | {("bulk", stages, 16) for stages in range(1, 9)}


@settings(max_examples=50, deadline=None)
@given(
    count=st.integers(0, 2**32),
    dtype=st.sampled_from(["bf16", "fp32"]),
    operation=st.sampled_from(["copy", "scale", "triad"]),
    target=st.sampled_from([H200, RTX_3090]),
)
def test_the_default_is_valid_for_every_problem(count, dtype, operation, target):
    problem = StreamProblem(count, dtype, operation)
    default = Stream().default(problem, target)
    assert Stream().space(problem, target).broken(default) is None


@pytest.mark.parametrize("config", [DIRECT, RING, RING.replace(**BULK)])
def test_an_empty_array_launches_nothing(config):
    assert Stream().launch(StreamProblem(0), config, H200).empty


@pytest.mark.parametrize(
    ("count", "blocks_per_sm", "blocks"),
    [
        (1, 0, 1),  # a rest alone
        (2047, 2, 1),
        (2048 * 5 + 1, 0, 5),
        (2048 * 5 + 1, 2, 5),
        (2048 * 1000, 0, 1000),
        (2048 * 1000, 2, 264),
    ],
)
def test_the_grid_covers_the_tiles_or_fills_the_device(count, blocks_per_sm, blocks):
    launch = Stream().launch(
        StreamProblem(count), DIRECT.replace(blocks_per_sm=blocks_per_sm), H200
    )
    assert launch.grid == (blocks, 1, 1)


def test_shared_memory_holds_the_stages_and_their_barriers():
    assert Stream().launch(COPY, DIRECT, H200).shared_bytes == 0
    assert Stream().launch(COPY, RING, H200).shared_bytes == 4 * 256 * 32
    bulk = Stream().launch(TRIAD, RING.replace(**BULK), H200)
    assert bulk.shared_bytes == 4 * (2 * 256 * 32 + 16)
    assert bulk.block == (256 + 32, 1, 1)


@pytest.mark.parametrize("problem", [COPY, TRIAD])
def test_arguments_match_the_kernel_parameter_by_parameter(problem):
    unit = Stream().unit(problem, RING, H200)
    signature = re.search(rf"{unit.entry}\((.*?)\)\s*{{", unit.main.read_text(), re.DOTALL)
    assert [text.split()[-1] for text in signature[1].split(",")] == ["x", "w", "y", "count"]
    *arrays, count = Stream().launch(problem, RING, H200).arguments
    assert arrays == ["x", problem.inputs[-1], "y"]
    assert count == Scalar(dtype="int64", value=1_000_003)


def test_one_binary_serves_every_count_and_grid():
    units = {
        Stream().unit(StreamProblem(count), RING.replace(blocks_per_sm=blocks), H200)
        for count in (1, 2**30)
        for blocks in (1, 4)
    }
    assert len(units) == 1


def test_any_config_may_serve_any_count():
    assert Stream().conditions(COPY, RING) == ()
    assert StreamPlan.of(RING, TRIAD).tile == 256 * 32 // 2
