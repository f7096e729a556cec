"""C = A·B by NVIDIA's cublasLt, to be compared with under the same rules."""

from __future__ import annotations

from kernel_space.cublas.kernel import Cublas

__all__ = ["Cublas"]
