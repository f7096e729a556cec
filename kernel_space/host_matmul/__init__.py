"""A tiled fp32 product in C++: a real space to tune on a machine without a GPU."""

from __future__ import annotations

from kernel_space.host_matmul.kernel import HostMatmul, MatmulProblem

__all__ = ["HostMatmul", "MatmulProblem"]
