"""Products whose rows no tensor map can describe, on a real GPU."""

from __future__ import annotations

import random

import pytest
from on_gpu import assert_right, one_of_each_hopper_kind

from kernel_space.gemm import Gemm, GemmProblem

pytestmark = pytest.mark.gpu

EXTENTS = (1, 7, 63, 65, 127, 129, 1001)
REPEATS = 4


def test_each_extent_in_each_place(hopper):
    """Every pair of extents stands somewhere, with one binary for each way that C is stored."""
    kernel, target = Gemm(), hopper.identity.target
    for i, one in enumerate(EXTENTS):
        for j, other in enumerate(EXTENTS):
            problem = GemmProblem(one, other, EXTENTS[(i + 2 * j) % len(EXTENTS)])
            assert_right(hopper, problem, [kernel.default(problem, target)], repeats=REPEATS)


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_every_layout_with_one_or_both_operands_repacked(hopper, dtype, layout):
    kernel, target = Gemm(), hopper.identity.target
    draw = random.Random(f"{dtype} {layout}")
    drawn = [tuple(draw.choice(EXTENTS) for _ in range(3)) for _ in range(6)]
    for shape in [*drawn, (129, 64, 1001), (64, 129, 1001), (129, 1001, 64), (1, 1, 1)]:
        problem = GemmProblem(*shape, dtype, layout)
        assert_right(hopper, problem, [kernel.default(problem, target)], repeats=REPEATS)


@pytest.mark.parametrize("shape", [(129, 65, 1001), (1001, 127, 2003), (16, 513, 4095)], ids=str)
def test_every_kind_of_config_repacks(hopper, shape):
    problem = GemmProblem(*shape)
    configs = one_of_each_hopper_kind(problem, hopper.identity.target, shape[0])
    assert configs
    assert all(config["repack"] == "rows" for config in configs)
    assert_right(hopper, problem, configs, repeats=REPEATS)
