"""C = A·B on NVIDIA GPUs: e4m3, bf16 and fp16 on tensor cores, fp32 on CUDA cores, any layout."""

from __future__ import annotations

from kernel_space.gemm.kernel import Gemm
from kernel_space.gemm.problem import GemmProblem

__all__ = ["Gemm", "GemmProblem"]
