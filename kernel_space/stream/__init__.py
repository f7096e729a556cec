"""Memory-bound operations on long arrays: copy, scale and triad, by every copying mechanism."""

from __future__ import annotations

from kernel_space.stream.kernel import Stream
from kernel_space.stream.plan import StreamPlan
from kernel_space.stream.problem import StreamProblem

__all__ = ["Stream", "StreamPlan", "StreamProblem"]
