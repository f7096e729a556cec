"""NVIDIA's library as a kernel: judged as ``gemm`` is, and right in every layout."""

from __future__ import annotations

import ctypes

import pytest
from cards import H200

from autotune.device import open_device
from autotune.errors import ToolchainBroken
from autotune.records import QUICK, Candidate, Config, Limits, Status, load_kernel
from kernel_space.cublas import Cublas, lt
from kernel_space.gemm import Gemm, GemmProblem

LAYOUTS = ("nn", "nt", "tn", "tt")
BRIEF = QUICK.replace(warmup_ms=0.0, max_samples=3, budget_ms=1.0)


def library_is_here():
    try:
        lt.version()
    except ToolchainBroken:
        return False
    return True


needs_library = pytest.mark.skipif(not library_is_here(), reason="there is no cublasLt here")


def test_it_is_installed_and_judged_as_gemm_is():
    kernel, gemm, problem = load_kernel("cublas"), Gemm(), GemmProblem(300, 1000, 1112)
    assert kernel.operands(problem) == gemm.operands(problem)
    assert kernel.tolerance(problem) == gemm.tolerance(problem)
    assert kernel.cost(problem) == gemm.cost(problem)
    assert kernel.problem_type is gemm.problem_type


def test_its_space_is_the_ranks_and_its_default_the_librarys_own():
    kernel, problem = Cublas(), GemmProblem(64, 64, 64)
    configs = list(kernel.space(problem, H200))
    assert [config["algorithm"] for config in configs] == list(range(lt.MOST_RANKS))
    assert kernel.default(problem, H200) == configs[0]


def test_a_sum_of_nothing_is_no_product_of_its():
    broken = Cublas().space(GemmProblem(64, 64, 0), H200).broken(Config(algorithm=0))
    assert broken == ("sum", "cublasLt has no product with k = 0")


def test_rows_of_a_product_of_eight_bit_elements_are_whole_pieces():
    config, said = Config(algorithm=0), "it takes rows of C of 16 bytes or multiples, not 520"
    ragged, whole = (GemmProblem(7, n, 64, "e4m3-bf16") for n in (260, 264))
    name, reason = Cublas().space(ragged, H200).broken(config)
    assert name == "rows"
    assert said in reason
    assert Cublas().space(whole, H200).broken(config) is None
    assert Cublas().space(GemmProblem(7, 259, 64), H200).broken(config) is None


def test_an_empty_product_is_not_called():
    assert Cublas().launch(GemmProblem(0, 64, 64), Config(algorithm=0), H200).empty
    assert not Cublas().launch(GemmProblem(1, 64, 64), Config(algorithm=0), H200).empty


@pytest.mark.skipif(library_is_here(), reason="cublasLt is installed")
def test_without_the_library_the_hint_says_how_to_get_it():
    with pytest.raises(ToolchainBroken, match="cublasLt cannot be loaded") as caught:
        Cublas().toolchain()
    assert "[cuda13]" in caught.value.hint


@needs_library
def test_its_version_is_the_librarys():
    assert Cublas().toolchain().compiler == "cublasLt"
    assert int(Cublas().toolchain().version.partition(".")[0]) >= 12


@needs_library
@pytest.mark.parametrize("layout", LAYOUTS)
def test_matrices_are_described_as_they_lie_in_memory(layout):
    """Of a column-major m x n matrix, rows are contiguous: they are our columns."""
    problem = GemmProblem(3, 5, 7, "bf16", layout)
    stored = [_extents(lt._matrix(14, shape)) for shape in (problem.shape_b, problem.shape_a)]
    flags = _transposed(lt._operation(problem))
    factors = [shape[::-1] if flag else shape for shape, flag in zip(stored, flags, strict=True)]
    assert factors == [(5, 7), (7, 3)]  # n x k times k x m is the transpose of C


@needs_library
def test_products_of_eight_bit_elements_are_as_precise_as_those_they_are_held_against():
    fast = [
        _read("MatmulDesc", lt._operation(GemmProblem(16, 16, 16, dtype)), 25, ctypes.c_int8)
        for dtype in ("e4m3-bf16", "bf16")
    ]
    assert fast == [1, 0]


@needs_library
def test_the_scale_is_read_where_the_operand_lies():
    operation = lt._operation(GemmProblem(16, 16, 16, "e4m3-bf16"))
    lt._scale(operation, 1 << 20)
    assert _read("MatmulDesc", operation, 17, ctypes.c_uint64) == 1 << 20


def _extents(matrix):
    return tuple(_read("MatrixLayout", matrix, number, ctypes.c_uint64) for number in (2, 3))


def _transposed(operation):
    return tuple(_read("MatmulDesc", operation, number, ctypes.c_int32) for number in (3, 4))


def _read(kind, owned, attribute, type_):
    value, written = type_(), ctypes.c_size_t()
    lt._call(
        f"{kind}GetAttribute",
        *(owned.handle, attribute, ctypes.byref(value)),
        *(ctypes.c_size_t(ctypes.sizeof(value)), ctypes.byref(written)),
    )
    return value.value


@pytest.fixture(scope="module")
def device():
    opened = open_device("cuda:0", limits=Limits())
    yield opened
    opened.close()


def outcomes(device, problem, ranks):
    kernel, target = Cublas(), device.identity.target
    made = [Candidate("cublas", problem, Config(algorithm=r), target, kernel) for r in ranks]
    return [device.measure(each, device.build(each).result(), BRIEF) for each in made]


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(300, 264, 1112), (64, 1024, 512), (130, 71, 50), (1, 9, 3)])
def test_some_of_its_first_algorithms_multiply_every_shape(device, dtype, layout, shape):
    """Not all: some round partial sums to the output's type, and are found out."""
    found = outcomes(device, GemmProblem(*shape, dtype, layout), range(4))
    assert Status.OK in [each.status for each in found], found
    assert all(each.measurement for each in found if each.status is Status.OK)
    assert {each.status for each in found} <= {Status.OK, Status.INCORRECT, Status.RUNTIME_ERROR}


@pytest.mark.gpu
def test_a_rank_that_the_library_does_not_offer_is_one_row(device):
    [first, last] = outcomes(device, GemmProblem(1, 9, 3), (0, lt.MOST_RANKS - 1))
    assert first.status is Status.OK
    assert last.status is Status.RUNTIME_ERROR
    assert f"none has rank {lt.MOST_RANKS - 1}" in last.message
