"""Which configs may be offered for a problem."""

from __future__ import annotations

from collections.abc import Callable

from autotune.dispatch import broken_condition
from autotune.records import Config
from autotune.store import TrialRow
from autotune.table.evidence import Evidence


def eligible(evidence: Evidence, *, unverified: bool) -> dict[Config, TrialRow]:
    """Return the row of each config that may be offered for the problem."""
    fits = fitness(evidence)
    return {
        config: row
        for config, row in evidence.sound.items()
        if (unverified or row.trial.verified) and fits(config)
    }


def fitness(evidence: Evidence) -> Callable[[Config], bool]:
    """Return a function that tells if the kernel of today takes a config for this problem."""
    kernel, problem = evidence.kernel, evidence.problem
    space = kernel.space(problem, evidence.context.device.target)

    def fits(config: Config) -> bool:
        if space.broken(config) is not None:
            return False
        return broken_condition(kernel.conditions(problem, config), problem.as_dict()) is None

    return fits
