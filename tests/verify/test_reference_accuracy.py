"""What candidates are compared with is itself compared with exact sums, and with cuBLAS."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autotune.records import Candidate, load_kernel
from autotune.verify import decode
from autotune.verify.draw import draw

FEW = {"m": 3, "n": 5}
TERMS = 16384


def stored(kernel, problem, xp):
    operands = kernel.operands(problem)
    return {
        op.name: draw(op, seed="accuracy", integers=False, xp=xp)
        for op in operands
        if not op.output
    }


def decoded(kernel, problem, arrays):
    dtypes = {op.name: op.dtype for op in kernel.operands(problem)}
    return {name: decode(array, dtypes[name], "float64") for name, array in arrays.items()}


def exact(a, b):
    """Return each sum of products rounded once: no product here needs more than 53 bits."""
    return np.array([[math.fsum(row * column) for column in b.T] for row in a])


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("gemm", {"dtype": "bf16", "layout": "nn"}),
        ("gemm", {"dtype": "fp16", "layout": "nn"}),
        ("gemm", {"dtype": "fp32", "layout": "nn"}),
        ("host_matmul", {}),
    ],
)
def test_references_err_a_thousand_times_less_than_candidates_may(name, more):
    kernel = load_kernel(name)
    problem = kernel.problem_type.parse({**FEW, "k": TERMS, **more})
    inputs = decoded(kernel, problem, stored(kernel, problem, np))
    error = np.abs(kernel.reference(problem, inputs, np)["c"] - exact(inputs["a"], inputs["b"]))
    assert error.max() < kernel.tolerance(problem).absolute / 1000


@pytest.mark.gpu
@pytest.mark.parametrize(("dtype", "times"), [("fp16", 4), ("fp32", 16)])
def test_a_product_on_a_gpu_errs_no_more_than_a_few_times_as_much_as_cublas(dtype, times):
    """CuBLAS adds fp32 products up in parts; one sum of 4,096 after the other errs 7 times more."""
    import cupy

    from autotune.device.gpus import target_of
    from autotune.launcher.gpu import Program
    from autotune.toolchain import BinaryStore, Nvrtc, compile_now

    kernel, target = load_kernel("gemm"), target_of(cupy.cuda.Device())
    problem = kernel.problem_type.parse(
        {"m": 256, "n": 384, "k": 4096, "dtype": dtype, "layout": "nn"}
    )
    config = kernel.default(problem, target)
    arrays = stored(kernel, problem, cupy)
    theirs = cupy.matmul(arrays["a"], arrays["b"])
    ours = arrays["c"] = cupy.empty_like(theirs)
    unit = kernel.unit(problem, config, target)
    binary = compile_now(Nvrtc(), BinaryStore(), unit, target.arch)
    launch = Candidate("gemm", problem, config, target, kernel).launch()
    Program(binary, launch).start({name: array.data.ptr for name, array in arrays.items()})
    cupy.cuda.get_current_stream().synchronize()

    wanted = kernel.reference(
        problem, decoded(kernel, problem, stored(kernel, problem, cupy)), cupy
    )
    errors = [float(abs(got.astype("float64") - wanted["c"]).max()) for got in (ours, theirs)]
    assert errors[0] <= times * errors[1]
