"""Records to columns and back."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from autotune.records import (
    Config,
    DeviceIdentity,
    Measurement,
    Policy,
    Resources,
    Status,
    Target,
    Trial,
)
from autotune.records import Toolchain as ToolchainRecord
from autotune.store.context import Context, StoredProblem

SAMPLE_DIGITS = 3  # of a nanosecond: finer than any timer, and short in JSON
_STATUSES = {status.value: status for status in Status}  # calling the enum takes ten times as long
MESSAGE_CHARACTERS = 8000  # compilers can write megabytes; the first lines say what is wrong


def moment(when: datetime) -> str:
    """Return ``when`` as ISO 8601 text in UTC, which sorts by time."""
    return when.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def storable(trial: Trial) -> Trial:
    """Return ``trial`` as the database will give it back.

    Samples are rounded to 0.001 ns. A sample that is no positive number, or an ``ok`` without
    samples, makes the trial a ``bad_measurement``: statistics of such samples mean nothing.
    A message keeps its first 8,000 characters, without those that a database cannot hold.
    """
    fault = _measurement_fault(trial)
    if fault:
        return dataclasses.replace(
            trial, status=Status.BAD_MEASUREMENT, measurement=None, message=fault
        )
    return dataclasses.replace(
        trial, message=_clean(trial.message), measurement=_rounded(trial.measurement)
    )


def _rounded(measurement: Measurement | None) -> Measurement | None:
    if measurement is None:
        return None
    return dataclasses.replace(
        measurement,
        samples_ns=tuple(round(float(s), SAMPLE_DIGITS) for s in measurement.samples_ns),
        power_w=_finite(measurement.power_w),
        energy_mj=_finite(measurement.energy_mj),
        error=_finite(measurement.error),
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _clean(message: str) -> str:
    kept = message[:MESSAGE_CHARACTERS].encode("utf-8", "replace").decode()
    cut = len(message) - MESSAGE_CHARACTERS
    ending = f"\n… {cut} more characters" if cut > 0 else ""
    return kept.replace("\0", "") + ending


def _measurement_fault(trial: Trial) -> str:
    if trial.measurement is None:
        return "ok without a measurement" if trial.status is Status.OK else ""
    samples = trial.measurement.samples_ns
    if not samples:
        return "measured without a sample"
    for i, sample in enumerate(samples):
        if not (math.isfinite(sample) and round(sample, SAMPLE_DIGITS) > 0):
            return f"sample {i} of {len(samples)} is {sample} ns"
    return ""


def trial_columns(trial: Trial) -> dict[str, Any]:
    """Return the columns of a storable ``trial``, except its references to other tables."""
    return {
        "number": trial.number,
        "status": trial.status.value,
        "message": trial.message,
        "verified": trial.verified,
        "finished_at": moment(trial.finished_at),
        "binary_key": trial.binary_key,
        "compile_ns": trial.compile_ns,
        "device_ns": trial.device_ns,
        **measurement_columns(trial.measurement),
        **_further_columns(trial.measurement),
        **_resource_columns(trial.resources),
        "dynamic_shared_bytes": trial.dynamic_shared_bytes,
    }


def measurement_columns(measurement: Measurement | None) -> dict[str, Any]:
    """Return the columns of a measurement, none if there is none."""
    if measurement is None:
        return {}
    return {
        "samples_ns": [int(s) if s.is_integer() else s for s in measurement.samples_ns],
        "launches_per_sample": measurement.launches_per_sample,
        "median_ns": measurement.median_ns,
        "spread": measurement.spread,
        "sm_clock_mhz": measurement.sm_clock_mhz,
        "power_w": measurement.power_w,
        "temperature_c": measurement.temperature_c,
    }


def _further_columns(measurement: Measurement | None) -> dict[str, Any]:
    """Return the columns of what only a trial is measured for."""
    if measurement is None:
        return {}
    return {"energy_mj": measurement.energy_mj, "error": measurement.error}


def _resource_columns(resources: Resources | None) -> dict[str, Any]:
    if resources is None:
        return {}
    return {
        "registers": resources.registers,
        "spill_bytes": resources.spill_bytes,
        "static_shared_bytes": resources.static_shared_bytes,
        "warnings": list(resources.warnings) or None,
    }


def trial_of(row: Any, *, config: Config, problem_key: str) -> Trial:
    """Rebuild the trial that ``row``, with every column of its table, holds."""
    return Trial(
        number=row.number,
        problem_key=problem_key,
        config=config,
        status=_STATUSES[row.status],
        message=row.message,
        measurement=_whole_measurement_of(row),
        resources=_resources_of(row),
        dynamic_shared_bytes=row.dynamic_shared_bytes,
        binary_key=row.binary_key,
        compile_ns=row.compile_ns,
        device_ns=row.device_ns,
        verified=row.verified,
        finished_at=datetime.fromisoformat(row.finished_at),
        row_id=row.id,
    )


def measurement_of(row: Any) -> Measurement | None:
    """Rebuild the measurement that ``row`` holds, if it holds one."""
    if row.samples_ns is None:
        return None
    return Measurement(
        samples_ns=tuple(map(float, row.samples_ns)),
        launches_per_sample=row.launches_per_sample,
        sm_clock_mhz=row.sm_clock_mhz,
        power_w=row.power_w,
        temperature_c=row.temperature_c,
    )


def _whole_measurement_of(row: Any) -> Measurement | None:
    measurement = measurement_of(row)
    if measurement is None or (row.energy_mj is None and row.error is None):
        return measurement
    return dataclasses.replace(measurement, energy_mj=row.energy_mj, error=row.error)


def _resources_of(row: Any) -> Resources | None:
    if row.registers is None:
        return None
    warnings = tuple(row.warnings or ())
    return _resources(row.registers, row.spill_bytes, row.static_shared_bytes, warnings)


@lru_cache(maxsize=1024)  # a few hundred serve all rows of a kernel
def _resources(registers: int, spill: int, shared: int, warnings: tuple[str, ...]) -> Resources:
    return Resources(
        registers=registers, spill_bytes=spill, static_shared_bytes=shared, warnings=warnings
    )


def context_of(row: Mapping[str, Any]) -> Context:
    """Rebuild a context from the columns that ``queries.CONTEXTS`` selects."""
    return Context(
        kernel=row["kernel"],
        kernel_ref=row["kernel_ref"],
        source_digest=row["source_digest"],
        problem=StoredProblem(tuple(row["problem"].items())),
        device=DeviceIdentity(
            kind=row["device_kind"],
            name=row["device"],
            target=Target(**_known(Target, row["target"])),
            memory_bytes=row["memory_bytes"],
            driver=row["driver"],
            uuid=row["uuid"],
        ),
        toolchain=ToolchainRecord(compiler=row["compiler"], version=row["compiler_version"]),
        policy=Policy(**_known(Policy, row["policy"])),
        replayed_from=row["replayed_from"],
    )


def _known(record: type[Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Drop fields that this version of ``record`` no longer has."""
    names = {field.name for field in dataclasses.fields(record)}
    return {name: value for name, value in fields.items() if name in names}
