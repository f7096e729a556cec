"""Which configs may be offered for a problem."""

from __future__ import annotations

from collections.abc import Callable

from autotune.dispatch import broken_condition
from autotune.records import Config, Kernel, Problem
from autotune.space import Crowd
from autotune.store import TrialRow
from autotune.table.evidence import Evidence


def eligible(evidence: Evidence, *, unverified: bool) -> dict[Config, TrialRow]:
    """Return the row of each config that may be offered for the problem."""
    fits = acceptor(evidence)
    return {
        config: row
        for config, row in evidence.sound.items()
        if (unverified or row.trial.verified) and fits(config)
    }


def acceptor(evidence: Evidence) -> Callable[[Config], bool]:
    """Return a function that tells if the kernel of today takes a config for this problem."""
    kernel, problem = evidence.kernel, evidence.problem
    space = kernel.space(problem, evidence.context.device.target)
    serves = _serving(kernel, problem)
    return lambda config: config in space and serves(config)


def accepted(like: Evidence, problem: Problem, crowd: Crowd) -> list[Config]:
    """Return all of many configs that the kernel of today takes for a problem.

    Args:
        like: Some evidence of the kernel and the device.
        problem: The problem.
        crowd: The configs.
    """
    within = crowd.within(like.kernel.space(problem, like.context.device.target))
    return [*filter(_serving(like.kernel, problem), within)]


def _serving(kernel: Kernel, problem: Problem) -> Callable[[Config], bool]:
    fields = problem.as_dict()
    return lambda config: broken_condition(kernel.conditions(problem, config), fields) is None
