"""The mechanisms of every architecture from sm_80 on: threads copy, warps multiply."""

from __future__ import annotations

from kernel_space.gemm.ampere.default import default
from kernel_space.gemm.ampere.mechanisms import MECHANISMS
from kernel_space.gemm.ampere.plan import AmperePlan, conditions
from kernel_space.gemm.ampere.rules import COPY_SIZES, FIXED, ampere_rules, unavailable

__all__ = [
    "COPY_SIZES",
    "FIXED",
    "MECHANISMS",
    "AmperePlan",
    "ampere_rules",
    "conditions",
    "default",
    "unavailable",
]
