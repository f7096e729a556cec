"""Results as the files of other tuners."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune.errors import InvalidInput, NoValidConfig
from autotune.files import write_whole
from autotune.interop import kernel_tuner, t4
from autotune.interop.document import Json
from autotune.interop.harvest import MS, Scalar
from autotune.interop.importing import IMPORTED
from autotune.interop.results import result_of
from autotune.interop.values import Codec, completed
from autotune.records import Status
from autotune.store import Context, Filter, Note, Store, TrialRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """One space that goes into one file.

    Attributes:
        context: What its results share.
        rows: The newest trial of each config, oldest first.
        results: What T4 says of each row.
        parameters: Every value of each parameter.
        header: What stood before the results in the file that they were imported from.
        unit_ns: Unit of the times in ``results``, in ns.
    """

    context: Context
    rows: Sequence[TrialRow]
    results: Sequence[Json]
    parameters: Mapping[str, list[Scalar]]
    header: Mapping[str, Any]
    unit_ns: float


def export_results(path: Path, store: Store, wanted: Filter, *, layout: str) -> Exported:
    """Write every result of one kernel, problem and device, failures too, to ``path``.

    Args:
        path: The file, which appears whole or not at all.
        store: The result database.
        wanted: Which results; they must have been measured under the same conditions.
        layout: A key of ``FORMATS``.

    Raises:
        NoValidConfig: There are none.
        InvalidInput: They are of several contexts, or ``path`` cannot be a file.
    """
    space = _gathered(store, wanted)
    text = json.dumps(FORMATS[layout](space), ensure_ascii=False, allow_nan=False, indent=1)
    write_whole(path, f"{text}\n".encode(), what="results")
    return space


def _gathered(store: Store, wanted: Filter) -> Exported:
    newest = {(row.context_id, row.trial.config): row for row in store.rows(wanted)}
    rows = sorted(newest.values(), key=lambda row: row.trial.row_id or 0)
    contexts = {row.context_id: row.context for row in rows}
    if not contexts:
        raise NoValidConfig("nothing to export: no trial matches")
    if len(contexts) > 1:
        listed = "; ".join(
            dict.fromkeys(f"{c.kernel} {c.problem} on {c.device.name}" for c in contexts.values())
        )
        raise InvalidInput(
            f"one kernel, problem and device go into a file; these are {len(contexts)}: {listed}",
            hint="choose one with --study, --kernel, --problem or --device",
        )
    studies = {row.study for row in rows}
    told = [each for each in store.studies() if each.name in studies and IMPORTED in each.spec]
    if len(told) == 1 and len(studies) == 1:
        return _as_imported(rows, told[0].spec[IMPORTED], store.notes(told[0].id))
    seen = completed({}, (), (row.trial.config for row in rows))
    return Exported(
        context=rows[0].context,
        rows=rows,
        results=[result_of(row.trial, row.trial.config) for row in rows],
        parameters={name: _ordered(values) for name, values in seen.items()},
        header={},
        unit_ns=MS,
    )


def _as_imported(rows: Sequence[TrialRow], told: Json, notes: Mapping[int, Note]) -> Exported:
    """Return what was imported as its own file said it."""
    codec = Codec(told["parameters"], told["file"])
    results = [
        {"configuration": codec.original(row.trial.config), **notes[row.trial.row_id or 0]}
        for row in rows
    ]
    return Exported(
        context=rows[0].context,
        rows=rows,
        results=results,
        parameters=told["parameters"],
        header=told["header"],
        unit_ns=told["unit_ns"],
    )


def _ordered(values: list[Any]) -> list[Any]:
    return sorted(values) if all(isinstance(value, int) for value in values) else values


def _as_t4(space: Exported) -> Json:
    context = space.context
    ours = {
        "kernel": context.kernel,
        "problem": context.problem.as_dict(),
        "device": t4.device_fields(context.device),
        "toolchain": dataclasses.asdict(context.toolchain),
        "parameters": dict(space.parameters),
    }
    results = list(space.results)
    if "metadata" in space.header or not space.header:
        return t4.document(results, space.header, ours)
    return t4.document(results, {}, {**ours, "header": dict(space.header)})


def _as_cache(space: Exported) -> Json:
    context = space.context
    problem = context.problem.as_dict()
    extents = [value for value in problem.values() if isinstance(value, int)]
    told = _cache_header(space.header)
    header = {
        "device_name": context.device.name,
        "kernel_name": context.kernel,
        **({} if "problem_size" in told else {"problem_size": extents or [1], "problem": problem}),
        **told,
        "tune_params": dict(space.parameters),
    }
    statuses = (row.trial.status for row in space.rows)
    rows: list[tuple[Json, Status]] = list(zip(space.results, statuses, strict=True))
    return kernel_tuner.document(rows, header, unit_ns=space.unit_ns)


def _cache_header(header: Mapping[str, Any]) -> Json:
    """Return what stood before the rows of a cache, also one that has been a T4 file since."""
    ours = header.get("metadata", {}).get(t4.OURS, {})
    inner = ours.get("header", {}) if isinstance(ours, dict) else {}
    return {k: v for k, v in {**inner, **header}.items() if k not in ("metadata", "schema_version")}


FORMATS: Mapping[str, Callable[[Exported], Json]] = {"t4": _as_t4, "kernel-tuner": _as_cache}
