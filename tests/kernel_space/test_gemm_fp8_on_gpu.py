"""Every kind of config for 8-bit floats on a real GPU, and the library that it is held against."""

from __future__ import annotations

import random

import pytest
from on_gpu import VERIFY, assert_right

from autotune.launcher import Dispatcher
from autotune.records import Candidate, Config, Status
from kernel_space.cublas import Cublas
from kernel_space.gemm import Gemm, GemmProblem
from kernel_space.gemm.hopper import MECHANISMS

pytestmark = pytest.mark.gpu

# Whole numbers are checked for equality as long as k is less than 512.
SHAPES = (
    (8, 8, 16),
    (64, 64, 128),
    (136, 264, 496),
    (16, 512, 2048),
    (264, 1000, 1136),
    (1032, 2056, 1104),
)
ODD_N = ((72, 130, 144), (200, 333, 1040))
KINDS = ("mechanism", "cluster_m", "cluster_n", "operands", "split_k", "epilogue")
BRIEFLY = {"mechanism": list(MECHANISMS), "raster_group": [1], "l2_promotion": [256]}
MOST = 20  # configs for each problem, so that all of this takes seconds


def some_of_each_kind(problem, target):
    """Return configs of different kinds; every mechanism that the problem has is among them."""
    kinds = {}
    for config in Gemm().space(problem, target).restricted(BRIEFLY):
        kinds.setdefault(tuple(config[name] for name in KINDS), []).append(config)
    draw = random.Random(str(problem))
    found = [draw.choice(configs) for _, configs in sorted(kinds.items(), key=str)]
    draw.shuffle(found)
    first = {config["mechanism"]: config for config in found}
    return list(dict.fromkeys((*first.values(), *found)))[:MOST]


def assert_some_right(device, problem):
    assert_right(device, problem, some_of_each_kind(problem, device.identity.target))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_kind_of_config_multiplies(hopper, shape):
    assert_some_right(hopper, GemmProblem(*shape, "e4m3-bf16"))


@pytest.mark.parametrize("dtype", ["e4m3-fp16", "e4m3-fp32"])
def test_sums_leave_in_every_dtype(hopper, dtype):
    assert_some_right(hopper, GemmProblem(136, 264, 528, dtype))


@pytest.mark.parametrize("shape", ODD_N, ids=str)
def test_rows_of_c_that_no_tensor_copy_can_store(hopper, shape):
    assert_some_right(hopper, GemmProblem(*shape, "e4m3-bf16"))


def test_long_sums_are_as_precise_as_is_claimed(hopper):
    assert_some_right(hopper, GemmProblem(128, 256, 16384, "e4m3-bf16"))


@pytest.mark.parametrize("dtype", ["e4m3-bf16", "e4m3-fp32"])
def test_the_library_multiplies_them_too(hopper, dtype):
    target, kernel = hopper.identity.target, Cublas()
    problem = GemmProblem(272, 512, 1040, dtype)
    outcomes = []
    for rank in range(4):
        candidate = Candidate("cublas", problem, Config(algorithm=rank), target, kernel)
        outcomes.append(hopper.measure(candidate, hopper.build(candidate).result(), VERIFY))
    if "offers 0 algorithms" in outcomes[0].message:
        pytest.skip(outcomes[0].message)
    assert outcomes[0].status is Status.OK, outcomes
    allowed = {Status.OK, Status.INCORRECT, Status.RUNTIME_ERROR}  # as with 16-bit elements
    assert {each.status for each in outcomes} <= allowed, outcomes


class TestTorch:
    """The dispatcher on tensors of torch, beside torch's own product."""

    @pytest.fixture
    def torch(self, hopper):
        torch = pytest.importorskip("torch")
        if not torch.cuda.is_available():
            pytest.skip("torch has no CUDA")
        return torch

    @pytest.fixture
    def tensors(self, torch):
        def make(m, n, k):
            torch.manual_seed(0)
            a, b = (
                torch.rand(rows, k, device="cuda").mul_(2).sub_(1).to(torch.float8_e4m3fn)
                for rows in (m, n)
            )
            scale = torch.tensor([0.75], device="cuda")
            c = torch.empty(m, n, dtype=torch.bfloat16, device="cuda")
            return {"a": a, "b": b, "scale": scale, "c": c}

        return make

    def test_tensors_are_multiplied_and_scaled(self, torch, tensors):
        arrays = tensors(272, 512, 1040)
        fields = {"m": 272, "n": 512, "k": 1040, "dtype": "e4m3-bf16"}
        Dispatcher(None).run(fields, arrays, kernel="gemm")
        expected = (arrays["a"].double() @ arrays["b"].double().T * 0.75).bfloat16()
        torch.testing.assert_close(arrays["c"], expected, rtol=2**-7, atol=1040 * 2.0**-13)
        one = torch.ones(1, device="cuda")
        peer = torch._scaled_mm(
            arrays["a"], arrays["b"].T, arrays["scale"], one, out_dtype=torch.bfloat16
        )
        torch.testing.assert_close(arrays["c"], peer, rtol=2**-7, atol=1040 * 2.0**-13)

    def test_a_scale_that_was_only_just_written_is_the_one_that_counts(self, torch, tensors):
        """The launch may begin while the one before it still runs."""
        arrays = tensors(256, 256, 256)
        fields = {"m": 256, "n": 256, "k": 256, "dtype": "e4m3-bf16"}
        dispatcher = Dispatcher(None)
        for factor in (0.5, 1.0) * 20:
            arrays["scale"].fill_(factor)
            dispatcher.run(fields, arrays, kernel="gemm")
            got = arrays["c"].clone()
            expected = (arrays["a"].double() @ arrays["b"].double().T * factor).bfloat16()
            torch.testing.assert_close(got, expected, rtol=2**-7, atol=256 * 2.0**-13)
