"""The mechanisms of Hopper: tensor copies (TMA), warp-group products, specialized warps."""

from __future__ import annotations

from kernel_space.gemm.hopper.default import default
from kernel_space.gemm.hopper.plan import IN_FLIGHT, MECHANISMS, HopperPlan, conditions
from kernel_space.gemm.hopper.rules import MOST_STAGES, fixed, hopper_rules, idle, unavailable

__all__ = [
    "IN_FLIGHT",
    "MECHANISMS",
    "MOST_STAGES",
    "HopperPlan",
    "conditions",
    "default",
    "fixed",
    "hopper_rules",
    "idle",
    "unavailable",
]
