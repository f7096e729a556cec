"""A tie: what the noise of its times does not tell apart, and who wins then."""

from __future__ import annotations

from collections.abc import Iterable
from math import hypot

from autotune.records.identity import canonical_json
from autotune.records.interval import median_error
from autotune.records.outcome import Measurement
from autotune.records.trial import Trial

SIGMAS = 3.0
MOST_APART = 0.05  # samples may scatter as they like: what is this much slower is slower
SPREAD_STEP = 0.05  # finer differences of spread are chance, and would choose by it


def near_the_fastest(trials: Iterable[Trial]) -> list[Trial]:
    """Return the fastest of trials that were right, if any, and those that tie with it.

    The lowest median wins; what is slower by less than the noise of both medians, and by no more
    than ``MOST_APART``, ties with it. Of those that tie ``tie_order`` chooses.
    """
    measured = [(trial.measurement, trial) for trial in trials if trial.measurement is not None]
    if not measured:
        return []
    fastest = min((each for each, _ in measured), key=lambda each: each.median_ns)
    return sorted((trial for each, trial in measured if ties(each, fastest)), key=tie_order)


def ties(slower: Measurement, fastest: Measurement) -> bool:
    """Return True unless ``slower`` is slower by more than the noise of both medians."""
    noise_ns = SIGMAS * hypot(_noise_ns(slower), _noise_ns(fastest))
    apart_ns = slower.median_ns - fastest.median_ns
    return apart_ns <= min(noise_ns, MOST_APART * fastest.median_ns)


def tie_order(trial: Trial) -> tuple[int, int, int, str]:
    """Return what decides between trials that are equally fast; the smallest wins.

    Smaller spread, in steps of ``SPREAD_STEP``, then fewer registers, then fewer stages, then the
    config's canonical JSON: measuring again does not change the winner for nothing.
    """
    spread = trial.measurement.spread if trial.measurement else 0.0
    registers = trial.resources.registers if trial.resources else 0
    stages = trial.config.get("stages", 0)
    fields = canonical_json(trial.config.as_dict())
    return int(spread / SPREAD_STEP), registers, stages if isinstance(stages, int) else 0, fields


def _noise_ns(measured: Measurement) -> float:
    return measured.median_ns * median_error(measured.spread, len(measured.samples_ns))
