"""Results of KTT, in the JSON that its own serializer writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autotune.errors import InvalidInput
from autotune.interop.document import Json, as_object
from autotune.interop.harvest import Harvest, Scalar, named_device
from autotune.interop.results import TIME, is_number
from autotune.interop.t4 import unit_ns
from autotune.interop.values import completed
from autotune.interop.words import invalidity, known_status
from autotune.records import Status, Toolchain

_COUNTERS = "ProfilingData"
_REGISTERS = "RegistersCount"


def read(document: Json, where: str, *, finished: bool = True) -> Harvest:
    """Return what a file of KTT says. It names no problem: its sizes stand in the program.

    Raises:
        InvalidInput: It is not such a file; the message says where.
    """
    metadata = as_object(document.get("Metadata"), f"{where}: Metadata")
    listed = document["Results"]
    if not isinstance(listed, list):
        raise InvalidInput(f"{where}: Results must be a list, not {listed!r:.40}")
    results = [_result(each, f"{where}: Results[{i}]") for i, each in enumerate(listed)]
    names = {each["KernelName"] for each in listed if isinstance(each.get("KernelName"), str)}
    if len(names) > 1:
        raise InvalidInput(f"{where}: must be of one kernel, not {len(names)}: {sorted(names)}")
    unit = metadata.get("TimeUnit", "Milliseconds")
    return Harvest(
        kernel=next(iter(names), ""),
        device=named_device(metadata.get("Device")),
        toolchain=Toolchain(compiler="ktt", version=str(metadata.get("KttVersion", ""))),
        parameters=completed({}, (), (each["configuration"] for each in results)),
        unit_ns=unit_ns(unit, f"{where}: Metadata.TimeUnit"),
        results=results,
        header={"metadata": {"timeunit": str(unit).lower(), "ktt": metadata}},
        finished=finished,
    )


def _result(told: Any, where: str) -> Json:
    """Return a result as T4 tells it; what T4 has no name for keeps KTT's."""
    as_object(told, where)
    word = told.get("Status", "Ok")
    status = Status.OK if word == "Ok" else known_status(word)
    if status is None:
        raise InvalidInput(f"{where}: unknown Status {word!r:.40}")
    computations = told.get("ComputationResults", [])
    time = told.get("TotalDuration") if status is Status.OK else word
    overhead = told.get("TotalOverhead", 0)
    rest = {k: v for k, v in told.items() if k not in ("Configuration", "Status")}
    return {
        "configuration": dict(_pairs(told.get("Configuration"), f"{where}: Configuration")),
        "times": {
            "framework": overhead if is_number(overhead) else 0,
            "runtimes": [time] if is_number(time) else [],
        },
        "invalidity": invalidity(status),
        "correctness": int(status is Status.OK),
        "measurements": [
            *([] if time is None else [{"name": TIME, "value": time, "unit": ""}]),
            *_measurements(computations),
        ],
        "objectives": [TIME],
        "ktt": rest,
    }


def _pairs(pairs: Any, where: str) -> Iterator[tuple[str, Scalar]]:
    if not isinstance(pairs, list):
        raise InvalidInput(f"{where}: must be a list of parameters, not {pairs!r:.40}")
    for pair in pairs:
        if not (isinstance(pair, dict) and isinstance(pair.get("Name"), str) and "Value" in pair):
            raise InvalidInput(f"{where}: needs Name and Value, not {pair!r:.60}")
        fraction = pair.get("IsDouble") is True or pair.get("Type") in {"Double", "Float"}
        value = pair["Value"]
        yield pair["Name"], float(value) if fraction and is_number(value) else value


def _measurements(computations: Any) -> Iterator[Json]:
    """Yield what the compiler and the profiler said of the first kernel that was run."""
    first = computations[0] if isinstance(computations, list) and computations else {}
    if not isinstance(first, dict):
        return
    compiled = first.get("CompilationData", {})
    if isinstance(compiled, dict) and _REGISTERS in compiled:
        yield {"name": "registers", "value": compiled[_REGISTERS], "unit": ""}
    profiled = first.get(_COUNTERS, {})
    counters = profiled.get("Counters", []) if isinstance(profiled, dict) else []
    for counter in counters:
        if isinstance(counter, dict) and isinstance(counter.get("Name"), str):
            yield {"name": counter["Name"], "value": counter.get("Value"), "unit": ""}
