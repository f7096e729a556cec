"""Every kind of Hopper config on a real GPU, on shapes with tails of every sort."""

from __future__ import annotations

import pytest
from on_gpu import assert_right, one_of_each_hopper_kind

from kernel_space.gemm import GemmProblem

pytestmark = pytest.mark.gpu

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
REPEATS = 4


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_kind_of_config_multiplies(hopper, shape):
    problem = GemmProblem(*shape, "bf16", "nt")
    configs = one_of_each_hopper_kind(problem, hopper.identity.target, shape[0])
    assert configs
    assert_right(hopper, problem, configs, repeats=REPEATS)


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp16-fp32"])
def test_every_layout_and_dtype(hopper, dtype, layout):
    problem = GemmProblem(136, 264, 520, dtype, layout)
    configs = one_of_each_hopper_kind(problem, hopper.identity.target, 1)[::3]
    assert_right(hopper, problem, configs, repeats=REPEATS)


@pytest.mark.parametrize("dtype", ["bf16", "bf16-fp32"])
@pytest.mark.parametrize("shape", ODD_N, ids=str)
def test_rows_of_c_that_no_tensor_copy_can_store(hopper, shape, dtype):
    problem = GemmProblem(*shape, dtype, "nt")
    configs = one_of_each_hopper_kind(problem, hopper.identity.target, 2)
    assert_right(hopper, problem, configs, repeats=REPEATS)
