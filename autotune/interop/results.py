"""A T4 result as a trial, and a trial as a T4 result.

Of a trial's time T4 knows the number that its tuner compared by (a measurement called ``time``)
and the runtimes behind it. Where their median is that number, they are the samples. Where it is
not, as in Kernel Tuner's means, the number is one sample of as many launches as there are
runtimes: a trial's median has to be what its own tuner ranked it by.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from statistics import fmean, median
from typing import Any, TypeGuard

from autotune.interop.document import Json
from autotune.interop.harvest import MS
from autotune.interop.words import invalidity, known_status, status_of_message
from autotune.records import Config, Measurement, Resources, Status, Trial

TIME = "time"
COMPILATION = ("compilation_time", "compilation")  # the schema's name, and what tuners write
RUNTIMES = "runtimes"
BENCHMARK = "benchmark"
HUGE_NS = 1e18  # three decades: a tuner's way to write that there is no time
_SAME = 1e-9  # of two sums of the same floats
_MOST_NS = 1e18  # a database's whole numbers end soon after
_MOST_COUNT = 2**31 - 1
_MOST_FLOAT = 1e300  # JSON's whole numbers have no end

_TELEMETRY = ("sm_clock_mhz", "power_w", "temperature_c")
_RESOURCES = ("registers", "spill_bytes", "static_shared_bytes")


def trial_of(result: Json, *, number: int, config: Config, unit_ns: float) -> Trial:
    """Return what ``result`` says, its times in units of ``unit_ns``, as a trial.

    Nobody here saw it run: it is verified only if the file says so in so many words.
    """
    measured = measurements(result)
    status, message = _ended(result, measured, unit_ns)
    ran = status in {Status.OK, Status.STOPPED_EARLY}
    times = result["times"]
    measurement = _measurement(measured, _runtimes(times), unit_ns) if ran else None
    return Trial(
        number=number,
        problem_key="",
        config=config,
        status=Status.BAD_MEASUREMENT if ran and measurement is None else status,
        message=message,
        measurement=measurement,
        resources=_resources(measured, ran=ran),
        compile_ns=_compile_ns(times, unit_ns),
        device_ns=_device_ns(times, unit_ns),
        verified=status is Status.OK and result.get("verified") is True,
        finished_at=_moment(result.get("timestamp")),
    )


def result_of(trial: Trial, configuration: Mapping[str, Any]) -> Json:
    """Return ``trial``, whose config is ``configuration``, as T4 tells it, times in ms."""
    measured = trial.measurement
    samples = [ns / MS for ns in measured.samples_ns] if measured else []
    value = trial.median_ns / MS if trial.median_ns is not None else trial.status.value
    return {
        "timestamp": trial.finished_at.isoformat(),
        "configuration": dict(configuration),
        "times": {
            "compilation_time": trial.compile_ns / MS,
            BENCHMARK: trial.device_ns / MS,
            "framework": 0,
            "search_algorithm": 0,
            "validation": 0,
            RUNTIMES: samples,
        },
        "invalidity": invalidity(trial.status),
        "correctness": int(trial.status is Status.OK),
        "measurements": [{"name": TIME, "value": value, "unit": "ms"}, *_further(trial)],
        "objectives": [TIME],
        "verified": trial.verified,
        "message": trial.message,
    }


def measurements(result: Json) -> dict[str, Any]:
    """Return the measurements of ``result`` by name."""
    listed = result.get("measurements", [])
    return {each["name"]: each.get("value") for each in listed}


def is_number(value: Any) -> TypeGuard[int | float]:
    """Return whether ``value`` is a finite number of JSON."""
    kind = type(value)  # asked a hundred times a row: isinstance would take twice as long
    return (kind is float and math.isfinite(value)) or (kind is int and abs(value) < _MOST_FLOAT)


def _ended(result: Json, measured: Mapping[str, Any], unit_ns: float) -> tuple[Status, str]:
    """Return how it ended, and why in the file's own words."""
    words = [word for word in measured.values() if known_status(word)]
    said, time = result["invalidity"], measured.get(TIME)
    if said == "correct" and not words:
        return _judged(time, result, unit_ns)
    told = next(word for word in (*words, time, said) if isinstance(word, str))
    message = result.get("message")
    return status_of_message(told), message if isinstance(message, str) else told


def _judged(time: Any, result: Json, unit_ns: float) -> tuple[Status, str]:
    """Return what a time that nobody calls a failure means."""
    if isinstance(time, str):
        return status_of_message(time), time
    if time is None:
        timed = bool(_runtimes(result["times"]))
        return (Status.OK, "") if timed else (Status.BAD_MEASUREMENT, "no time")
    if not is_number(time) or time <= 0:
        return Status.BAD_MEASUREMENT, f"time is {time}"
    if time * unit_ns >= HUGE_NS:
        return Status.RUNTIME_ERROR, f"time is {time}"
    return Status.OK, ""


def _measurement(
    measured: Mapping[str, Any], runtimes: list[float], unit_ns: float
) -> Measurement | None:
    told = measured.get(TIME)
    if not (is_number(told) or runtimes):
        return None
    time = float(told) if is_number(told) else median(runtimes)
    samples, launches = [time], 1
    if runtimes and _same(median(runtimes), time):
        samples, launches = runtimes, _whole(measured.get("launches_per_sample")) or 1
    elif runtimes and _same(fmean(runtimes), time):
        launches = len(runtimes)
    power_w = measured.get("power_w")
    return Measurement(
        samples_ns=tuple(sample * unit_ns for sample in samples),
        launches_per_sample=launches,
        sm_clock_mhz=_whole(measured.get("sm_clock_mhz")),
        power_w=float(power_w) if is_number(power_w) else None,
        temperature_c=_whole(measured.get("temperature_c")),
    )


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_SAME)


def _runtimes(times: Json) -> list[float]:
    """Return the runtimes if they can be samples: all of them positive."""
    listed = times.get(RUNTIMES) or [0]
    numbers = {*map(type, listed)} <= {int, float}
    return [*map(float, listed)] if numbers and min(listed) > 0 else []


def _resources(measured: Mapping[str, Any], *, ran: bool) -> Resources | None:
    """Return what the compiler said; what ran was compiled, whatever it said."""
    told = {name: _whole(measured.get(name)) for name in _RESOURCES}
    known = {name: value for name, value in told.items() if value is not None}
    warnings = measured.get("warnings")
    listed = warnings if isinstance(warnings, list) else []
    texts = tuple(each for each in listed if isinstance(each, str))
    return Resources(**known, warnings=texts) if ran or known else None


def _whole(value: Any) -> int | None:
    counts = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_COUNT
    return value if counts else None


def _compile_ns(times: Json, unit_ns: float) -> int:
    return _sum_ns((times.get(name) for name in COMPILATION), unit_ns)


def _device_ns(times: Json, unit_ns: float) -> int:
    """Return what the trial took besides compiling; without a benchmark time, its runs count."""
    parts = [value for name, value in times.items() if name not in {*COMPILATION, RUNTIMES}]
    if BENCHMARK not in times:
        parts += _runtimes(times)
    return _sum_ns(parts, unit_ns)


def _sum_ns(parts: Iterable[Any], unit_ns: float) -> int:
    total = sum(float(part) for part in parts if is_number(part) and part > 0)
    return round(min(total * unit_ns, _MOST_NS))


def _moment(timestamp: Any) -> datetime:
    """Return a time stamp, in UTC if it names no zone; now if there is none."""
    try:
        moment = datetime.fromisoformat(timestamp)
    except (TypeError, ValueError):
        return datetime.now(UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _further(trial: Trial) -> Iterable[Json]:
    """Yield what else a trial measured, under our own names."""
    if trial.measurement is not None:
        launches = trial.measurement.launches_per_sample
        yield {"name": "launches_per_sample", "value": launches, "unit": ""}
        for name in _TELEMETRY:
            value = getattr(trial.measurement, name)
            if value is not None:
                yield {"name": name, "value": value, "unit": name.rpartition("_")[2]}
    if trial.resources is not None:
        for name in _RESOURCES:
            yield {"name": name, "value": getattr(trial.resources, name), "unit": ""}
        yield {"name": "warnings", "value": list(trial.resources.warnings), "unit": ""}
