"""T4: the results format that tuners share. Ours says in its metadata what T4 has no place for."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from autotune.errors import InvalidInput
from autotune.interop.document import Json, as_object
from autotune.interop.harvest import MS, Harvest, named_device, problem_of
from autotune.interop.results import is_number
from autotune.interop.values import completed
from autotune.records import DeviceIdentity, Target, Toolchain

SCHEMA_VERSION = "1.0.0"
OURS = "autotune"  # key of the metadata that we add
INVALIDITY = ("timeout", "compile", "runtime", "correctness", "constraints", "correct")
UNITS_NS = {
    **dict.fromkeys(("nanoseconds", "ns"), 1.0),
    **dict.fromkeys(("microseconds", "us"), 1e3),
    **dict.fromkeys(("milliseconds", "miliseconds", "ms"), MS),  # the second is out there, too
    **dict.fromkeys(("seconds", "s"), 1e9),
}
_REQUIRED = ("configuration", "times", "invalidity", "correctness")
_TIMES = ("compilation_time", "framework", "search_algorithm", "validation")


def read(document: Json, where: str, *, finished: bool = True) -> Harvest:
    """Return what a T4 file says.

    Raises:
        InvalidInput: It breaks the schema; the message says where.
    """
    results = document["results"]
    check(document, where)
    metadata = as_object(document.get("metadata", {}), f"{where}: metadata")
    ours = as_object(metadata.get(OURS, {}), f"{where}: metadata.{OURS}")
    listed = as_object(ours.get("parameters", {}), f"{where}: metadata.{OURS}.parameters")
    return Harvest(
        kernel=_text(ours.get("kernel", metadata.get("kernel_name"))),
        device=_device(ours, metadata),
        toolchain=_toolchain(ours, metadata, document),
        problem=_problem(ours, metadata, where),
        parameters=completed(listed, (), (each["configuration"] for each in results)),
        unit_ns=unit_ns(metadata.get("timeunit", "milliseconds"), f"{where}: metadata.timeunit"),
        results=results,
        header={name: value for name, value in document.items() if name != "results"},
        finished=finished,
    )


def check(document: Json, where: str) -> None:
    """Raise ``InvalidInput`` unless ``document`` keeps the published schema of results."""
    if not isinstance(document["results"], list):
        raise InvalidInput(f"{where}: results must be a list, not {document['results']!r:.40}")
    version = document.get("schema_version", SCHEMA_VERSION)
    if not (isinstance(version, str) and version.split(".")[0] == "1"):
        raise InvalidInput(f"{where}: schema_version must be 1.x.y, not {version!r:.40}")
    for index, result in enumerate(document["results"]):
        _check_result(result, f"{where}: results[{index}]")


def document(results: list[Json], header: Mapping[str, Any], ours: Json) -> Json:
    """Return a T4 file of ``results``; ``ours`` is what its metadata adds to ``header``'s."""
    metadata = {"timeunit": "milliseconds", **header.get("metadata", {}), OURS: ours}
    return {"schema_version": SCHEMA_VERSION, **header, "metadata": metadata, "results": results}


def unit_ns(name: Any, where: str) -> float:
    """Return the nanoseconds of a unit of time, by name."""
    found = UNITS_NS.get(name.lower()) if isinstance(name, str) else None
    if found is None:
        raise InvalidInput(f"{where}: must be one of {', '.join(UNITS_NS)}, not {name!r:.40}")
    return found


def _check_result(result: Any, where: str) -> None:
    as_object(result, where)
    for name in _REQUIRED:
        if name not in result:
            raise InvalidInput(f"{where}: {name!r} is missing")
    as_object(result["configuration"], f"{where}: configuration")
    times = as_object(result["times"], f"{where}: times")
    for name in _TIMES:
        if name in times and not is_number(times[name]):
            raise InvalidInput(f"{where}: times.{name} must be a number, not {times[name]!r:.40}")
    if not isinstance(times.get("runtimes", []), list):
        raise InvalidInput(f"{where}: times.runtimes must be a list")
    if result["invalidity"] not in INVALIDITY:
        allowed = ", ".join(INVALIDITY)
        raise InvalidInput(
            f"{where}: invalidity must be one of {allowed}, not {result['invalidity']!r:.40}"
        )
    listed = result.get("measurements", [])
    if not (isinstance(listed, list) and all(map(_is_measurement, listed))):
        raise InvalidInput(f"{where}: measurements must be a list of objects with a name")


def _is_measurement(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _device(ours: Json, metadata: Json) -> DeviceIdentity:
    told = ours.get("device")
    if isinstance(told, dict):
        try:
            return DeviceIdentity(**{**told, "target": Target(**told["target"])})
        except (KeyError, TypeError):
            return named_device(told.get("name"))
    return named_device(metadata.get("device", metadata.get("device_name")))


def _toolchain(ours: Json, metadata: Json, document: Json) -> Toolchain:
    """Return the tuner and its version, or T4 itself where the file does not say."""
    told = ours.get("toolchain")
    if isinstance(told, dict):
        compiler, version = told.get("compiler"), told.get("version")
        return Toolchain(compiler=str(compiler), version=str(version))
    if "autotuner" in metadata:
        version = _text(metadata.get("autotuner_version"))
        return Toolchain(compiler=str(metadata["autotuner"]).lower(), version=version)
    return Toolchain(compiler="t4", version=str(document.get("schema_version", "")))


def _problem(ours: Json, metadata: Json, where: str) -> dict[str, int | str]:
    told = ours.get("problem")
    if isinstance(told, dict) and all(isinstance(each, int | str) for each in told.values()):
        return told
    if "problem_size" in metadata:
        return problem_of(metadata["problem_size"], f"{where}: metadata.problem_size")
    return {}


def device_fields(device: DeviceIdentity) -> Json:
    """Return a device as our metadata tells it; its serial number is nobody's business."""
    fields = dataclasses.asdict(device)
    del fields["uuid"]
    return fields
