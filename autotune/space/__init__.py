"""Spaces: parameters, named constraints, and the valid configs that they leave."""

from __future__ import annotations

from autotune.space.crowd import Crowd
from autotune.space.parameter import Constraint, Parameter
from autotune.space.space import Census, Space

__all__ = ["Census", "Constraint", "Crowd", "Parameter", "Space"]
