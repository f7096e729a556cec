"""The best config of a problem, when times have noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import hypot, sqrt

from autotune.dispatch import broken_condition
from autotune.records import Config, Measurement, canonical_json
from autotune.store import TrialRow
from autotune.table.evidence import Evidence

SIGMAS = 3.0
MOST_APART = 0.05  # samples may scatter as they like: what is this much slower is slower


@dataclass(frozen=True, slots=True, kw_only=True)
class Winner:
    """The row that answers for a problem, and how many others it cannot be told from."""

    row: TrialRow
    tied: int


def winner(evidence: Evidence, *, unverified: bool) -> Winner | None:
    """Return the best config, or None if there is none that may be offered.

    The lowest median wins. Configs that are slower by less than the noise of both medians, and
    by no more than ``MOST_APART``, are tied with it; of those, the first in the order of their
    canonical JSON wins, so that measuring again does not change the table for nothing.
    """
    fits = fitness(evidence)
    eligible = [
        row
        for config, row in evidence.sound.items()
        if (unverified or row.trial.verified) and fits(config)
    ]
    if not eligible:
        return None
    fastest = min(eligible, key=lambda row: measurement(row).median_ns)
    tied = [row for row in eligible if _ties(measurement(row), measurement(fastest))]
    first = min(tied, key=lambda row: canonical_json(row.trial.config.as_dict()))
    return Winner(row=first, tied=len(tied) - 1)


def fitness(evidence: Evidence) -> Callable[[Config], bool]:
    """Return a function that tells if the kernel of today takes a config for this problem."""
    kernel, problem = evidence.kernel, evidence.problem
    space = kernel.space(problem, evidence.context.device.target)
    names = {parameter.name for parameter in space.parameters}

    def fits(config: Config) -> bool:
        if set(config) != names or space.broken(config) is not None:
            return False
        return broken_condition(kernel.conditions(problem, config), problem.as_dict()) is None

    return fits


def measurement(row: TrialRow) -> Measurement:
    """Return the measurement of a sound row."""
    assert row.trial.measurement is not None, "sound rows are measured"
    return row.trial.measurement


def _ties(slower: Measurement, fastest: Measurement) -> bool:
    noise_ns = SIGMAS * hypot(_noise_ns(slower), _noise_ns(fastest))
    apart_ns = slower.median_ns - fastest.median_ns
    return apart_ns <= min(noise_ns, MOST_APART * fastest.median_ns)


def _noise_ns(measured: Measurement) -> float:
    """Return the standard error of a median, in ns: about 0.93 IQR / sqrt(samples)."""
    return 0.93 * measured.spread * measured.median_ns / sqrt(len(measured.samples_ns))
