"""Cache files of Kernel Tuner, of any age: one row for each configuration, times in ms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from autotune.errors import InvalidInput
from autotune.interop.document import Json, as_object
from autotune.interop.harvest import MS, Harvest, Scalar, named_device, problem_of
from autotune.interop.results import RUNTIMES, TIME, is_number, measurements
from autotune.interop.values import completed, is_scalar
from autotune.interop.words import (
    COMPILE_WORD,
    CONSTRAINT_WORD,
    RUNTIME_WORD,
    cache_word,
    invalidity,
    known_status,
)
from autotune.records import Status, Toolchain

_TIMES = {  # of a row, and their names in T4
    "compile_time": "compilation",
    "benchmark_time": "benchmark",
    "framework_time": "framework",
    "strategy_time": "search_algorithm",
    "verification_time": "validation",
}
_FIELDS = {**{theirs: ours for ours, theirs in _TIMES.items()}, "compilation_time": "compile_time"}
_WORDS = (CONSTRAINT_WORD, COMPILE_WORD, RUNTIME_WORD, "ErrorConfig")
_OTHER = "other"  # what T4 has no place for in a row
_TOLD_ELSEWHERE = ("tune_params_keys", "tune_params", "cache")


def read(document: Json, where: str, *, finished: bool = True) -> Harvest:
    """Return what a cache file says; what an old one does not say is left open.

    Raises:
        InvalidInput: It is not such a file; the message says where.
    """
    rows = as_object(document["cache"], f"{where}: cache")
    values = as_object(document.get("tune_params", {}), f"{where}: tune_params")
    names = document.get("tune_params_keys", list(values))
    if not (isinstance(names, list) and all(isinstance(name, str) for name in names) and names):
        raise InvalidInput(f"{where}: tune_params_keys must list the names of the parameters")
    objective = document.get("objective", TIME)
    reader = _Rows(names, values, objective if isinstance(objective, str) else TIME)
    results = [reader.result(key, row, f"{where}: cache[{key!r}]") for key, row in rows.items()]
    size, kernel = document.get("problem_size"), document.get("kernel_name")
    return Harvest(
        kernel=kernel if isinstance(kernel, str) else "",
        device=named_device(document.get("device_name")),
        toolchain=Toolchain(compiler="kernel_tuner", version=_version(document)),
        problem={} if size is None else problem_of(size, f"{where}: problem_size"),
        parameters=completed(values, names, (each["configuration"] for each in results)),
        results=results,
        header={k: v for k, v in document.items() if k not in _TOLD_ELSEWHERE},
        finished=finished,
    )


def document(
    results: Iterable[tuple[Json, Status]], header: Mapping[str, Any], *, unit_ns: float
) -> Json:
    """Return the cache file of ``results``, whose times are in ``unit_ns``.

    Args:
        results: What T4 says of each configuration, and how it ended.
        header: ``device_name``, ``kernel_name``, ``problem_size`` and ``tune_params``, and
            whatever else stands before the rows.
        unit_ns: Unit of the times in ``results``, in ns.
    """
    names = list(header["tune_params"])
    rows = (_row(result, status, names, unit_ns / MS) for result, status in results)
    cache = {",".join(str(row[name]) for name in names): row for row in rows}
    return {"objective": TIME, **header, "tune_params_keys": names, "cache": cache}


class _Rows:
    """Reads rows of a cache whose parameters have ``names`` and the listed ``values``."""

    def __init__(self, names: list[str], values: Json, objective: str) -> None:
        self._names = names
        self._objective = objective
        self._by_text: dict[str, dict[str, Scalar]] = {
            name: {str(value): value for value in listed if is_scalar(value)}
            for name, listed in values.items()
            if isinstance(listed, list)
        }

    def result(self, key: str, row: Any, where: str) -> Json:
        """Return a row as T4 tells it."""
        as_object(row, where)
        configuration = self._configuration(key, row, where)
        times = {name: row[field] for field, name in _TIMES.items() if is_number(row.get(field))}
        if isinstance(row.get("times"), list):
            times[RUNTIMES] = row["times"]
        rest = {
            name: value
            for name, value in row.items()
            if name not in configuration and name != "timestamp" and not _is_time(name, value)
        }
        status = next(filter(None, map(known_status, rest.values())), Status.OK)
        result = {
            "configuration": configuration,
            "times": times,
            "invalidity": invalidity(status),
            "correctness": int(status is Status.OK),
            "measurements": [*_measurements(rest)],
            "objectives": [self._objective],
        }
        other = {name: value for name, value in rest.items() if not _can_measure(value)}
        stamp = {"timestamp": row["timestamp"]} if isinstance(row.get("timestamp"), str) else {}
        return {**stamp, **result, **({_OTHER: other} if other else {})}

    def _configuration(self, key: str, row: Json, where: str) -> dict[str, Scalar]:
        """Return the parameters of a row; a row that lacks them is told by its key."""
        if all(name in row for name in self._names):
            return {name: row[name] for name in self._names}
        parts = key.split(",")
        if len(parts) != len(self._names):
            raise InvalidInput(
                f"{where}: names {len(parts)} values for {len(self._names)} parameters: "
                f"{', '.join(self._names)}"
            )
        texts = zip(self._names, parts, strict=True)
        return {name: row.get(name, self._value(name, text)) for name, text in texts}

    def _value(self, name: str, text: str) -> Scalar:
        listed = self._by_text.get(name, {})
        if text in listed:
            return listed[text]
        return int(text) if text.removeprefix("-").isdecimal() else text


def _is_time(name: str, value: Any) -> bool:
    return (name in _TIMES and is_number(value)) or (name == "times" and isinstance(value, list))


def _can_measure(value: Any) -> bool:
    return is_number(value) or isinstance(value, str | list)


def _measurements(rest: Json) -> Iterator[Json]:
    for name, value in rest.items():
        if _can_measure(value):
            yield {"name": name, "value": value, "unit": "ms" if name == TIME else ""}


def _row(result: Json, status: Status, names: Sequence[str], in_ms: float) -> Json:
    """Return a T4 result as a row; what failed without a word that caches know is given one."""
    configuration, times = result["configuration"], result["times"]
    runtimes = [_scaled(each, in_ms) for each in times.get(RUNTIMES, [])]
    row = {
        **{name: configuration[name] for name in names},
        **measurements(result),
        **{_FIELDS[name]: _scaled(times[name], in_ms) for name in times if name in _FIELDS},
        **({"times": runtimes} if RUNTIMES in times else {}),
        **result.get(_OTHER, {}),
        **({"timestamp": result["timestamp"]} if "timestamp" in result else {}),
    }
    numbers = [each for each in runtimes if is_number(each)]
    if TIME in row or numbers:
        row[TIME] = _scaled(row[TIME], in_ms) if TIME in row else fmean(numbers)
    if status is not Status.OK and not any(map(_is_word, row.values())):
        row[TIME] = cache_word(status)
    if "benchmark" not in times and numbers:
        row["benchmark_time"] = sum(numbers)
    return row


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and value in _WORDS


def _scaled(value: Any, in_ms: float) -> Any:
    return value * in_ms if is_number(value) and in_ms != 1 else value


def _version(document: Json) -> str:
    """Return the version if the file names one: those of 1.5 and older do not."""
    told = document.get("kernel_tuner_version", document.get("version", ""))
    return told if isinstance(told, str) and told else "of unknown version"
