"""What queries are asked with, and what they return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from autotune.records import Finalist, Trial
from autotune.store.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which rows to read. What is left out matches everything.

    Attributes:
        kernel: The kernel's short name.
        device: Part of the device's name in any case, its kind, or the start of its key.
        problem: Problem fields that must be equal; others may be anything. Values are
            compared as text, so that ``"4096"`` from a command line equals 4096.
        studies: Names of studies; none means all.
    """

    kernel: str | None = None
    device: str | None = None
    problem: Mapping[str, int | str] = field(default_factory=dict)
    studies: tuple[str, ...] = ()


EVERYTHING = Filter()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredContext:
    """A context that the database holds, with its row's identity."""

    id: int
    context: Context


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRow:
    """One trial with the study and the context that it belongs to."""

    study: str
    context_id: int
    context: Context
    trial: Trial

    def as_dict(self) -> dict[str, Any]:
        """Return a plain dict, ready for JSON: readable columns, durations in ns."""
        trial, context = self.trial, self.context
        return {
            "trial_id": trial.row_id,
            "study": self.study,
            "kernel": context.kernel,
            "problem": context.problem.as_dict(),
            "device": context.device.name,
            "number": trial.number,
            "config": trial.config.as_dict(),
            "status": trial.status.value,
            "message": trial.message,
            "verified": trial.verified,
            **_numbers(trial),
            "finished_at": trial.finished_at.isoformat(),
            "replayed_from": context.replayed_from,
            "compiler": context.toolchain.compiler,
            "compiler_version": context.toolchain.version,
            "driver": context.device.driver,
            "source_digest": context.source_digest,
            "config_key": trial.config.key,
            "context_id": self.context_id,
        }


def _numbers(trial: Trial) -> dict[str, Any]:
    measured, resources = trial.measurement, trial.resources
    return {
        "median_ns": measured.median_ns if measured else None,
        "spread": measured.spread if measured else None,
        "samples": len(measured.samples_ns) if measured else 0,
        "sm_clock_mhz": measured.sm_clock_mhz if measured else None,
        "power_w": measured.power_w if measured else None,
        "temperature_c": measured.temperature_c if measured else None,
        "registers": resources.registers if resources else None,
        "spill_bytes": resources.spill_bytes if resources else None,
        "static_shared_bytes": resources.static_shared_bytes if resources else None,
        "dynamic_shared_bytes": trial.dynamic_shared_bytes,
        "energy_mj": measured.energy_mj if measured else None,
        "error": measured.error if measured else None,
        "compile_ns": trial.compile_ns,
        "device_ns": trial.device_ns,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """The best configs of a context as they met last, and when."""

    finalists: tuple[Finalist, ...]
    finished_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySummary:
    """One study in short.

    Attributes:
        id: Its row's identity.
        name: Its name, unique in the database.
        sampler: Name of the sampler that it was started with.
        seed: Seed that it was started with.
        spec: Specification that it was started with.
        created_at: When it was started.
        contexts: In how many contexts (problem, device, source, …) it has rows.
        trials: How many rows it has.
        ok: How many of them are ``ok``.
        last_at: When its newest row was written, or None if it has none.
    """

    id: int
    name: str
    sampler: str
    seed: int
    spec: Mapping[str, Any]
    created_at: datetime
    contexts: int
    trials: int
    ok: int
    last_at: datetime | None
