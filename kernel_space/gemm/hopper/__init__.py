"""The mechanisms of Hopper: tensor copies (TMA), warp-group products, specialized warps."""

from __future__ import annotations

from kernel_space.gemm.hopper.default import default
from kernel_space.gemm.hopper.plan import MECHANISMS, HopperPlan, conditions
from kernel_space.gemm.hopper.rules import FIXED, IDLE, MOST_STAGES, hopper_rules, unavailable

__all__ = [
    "FIXED",
    "IDLE",
    "MECHANISMS",
    "MOST_STAGES",
    "HopperPlan",
    "conditions",
    "default",
    "hopper_rules",
    "unavailable",
]
