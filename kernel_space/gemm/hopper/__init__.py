"""The mechanisms of Hopper: tensor copies (TMA), warp-group products, specialized warps."""

from __future__ import annotations

from kernel_space.gemm.hopper.plan import MECHANISMS, SOURCES, HopperPlan, conditions
from kernel_space.gemm.hopper.rules import ELSEWHERE, FIXED, MOST_STAGES, hopper_rules, unavailable

__all__ = [
    "ELSEWHERE",
    "FIXED",
    "MECHANISMS",
    "MOST_STAGES",
    "SOURCES",
    "HopperPlan",
    "conditions",
    "hopper_rules",
    "unavailable",
]
