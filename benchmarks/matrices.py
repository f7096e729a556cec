"""The matrices that all sides of ``gemm.py`` multiply, and what the product should be."""

from __future__ import annotations

from arms import Buffers
from needs import torch

from kernel_space.gemm import Gemm, GemmProblem


def factors(problem: GemmProblem, buffers: Buffers) -> tuple[torch.Tensor, torch.Tensor]:
    """Return A[m, k] and B[k, n]: views of what is stored."""
    a, b = buffers["a"], buffers["b"]
    return a.T if problem.a_transposed else a, b.T if problem.b_transposed else b


def exact_product(problem: GemmProblem, buffers: Buffers) -> torch.Tensor:
    """Return C in fp32 by the CUDA cores, which round every partial sum to fp32."""
    a, b = factors(problem, buffers)
    product = torch.matmul(a.float(), b.float())
    return product.mul_(buffers["scale"]) if problem.scaled else product


def wrong_elements(problem: GemmProblem, result: torch.Tensor, exact: torch.Tensor) -> int:
    """Count elements that are further from the exact product than one rounding leaves."""
    tolerance = Gemm().tolerance(problem)
    allowed = exact.abs().mul_(tolerance.relative).add_(tolerance.absolute)
    return int((~((result - exact).abs_() <= allowed)).sum())  # a NaN is not within
