"""The shipped C++ product with knobs that change nothing, so that its space is large."""

from __future__ import annotations

from autotune.records import Config, Target
from autotune.space import Parameter, Space
from kernel_space.host_matmul import HostMatmul, MatmulProblem

LEVELS = tuple(range(9))
KNOBS = tuple(Parameter(name, LEVELS) for name in ("left", "right"))


class Knobbed(HostMatmul):
    """Each config of the product, 81 times."""

    name = "knobbed"

    def space(self, problem: MatmulProblem, target: Target) -> Space:
        """Return the product's space with two more parameters."""
        plain = super().space(problem, target)
        return Space((*plain.parameters, *KNOBS), plain.constraints)

    def default(self, problem: MatmulProblem, target: Target) -> Config:
        """Return the product's default."""
        return super().default(problem, target).replace(left=0, right=0)
