"""What was imported from files of other tuners."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.interop import Imported
from autotune.records import Status
from autotune.report.fields import problem_text
from autotune.report.sheet import Column, Row, Sheet
from autotune.report.units import time_text


def imported_sheet(imported: Sequence[Imported]) -> Sheet:
    """Return one row for each file."""
    return Sheet(
        kind="imported",
        rows=[_row(each) for each in imported],
        columns=(
            Column("study", lambda row: row["study"]),
            Column("format", _format),
            Column("kernel", lambda row: row["kernel"], moves=True),
            Column("device", lambda row: row["device"], moves=True),
            Column("problem", lambda row: problem_text(row["problem"]), moves=True),
            Column("trials", lambda row: str(row["trials"]), right=True),
            Column("ok", lambda row: str(row["ok"]), right=True),
            Column("failures", _failures, moves=True),
            Column("best", lambda row: time_text(row["best_ns"]), right=True),
            Column("median", lambda row: time_text(row["median_ns"]), right=True),
        ),
    )


def _row(told: Imported) -> Row:
    return {
        "file": str(told.path),
        "format": told.format,
        "finished": told.finished,
        "study": told.study,
        "kernel": told.kernel,
        "device": told.device,
        "problem": dict(told.problem),
        "trials": sum(told.statuses.values()),
        "ok": told.statuses.get(Status.OK, 0),
        "statuses": {status.value: count for status, count in told.statuses.items()},
        "repeated": told.repeated,
        "best_ns": told.best_ns,
        "median_ns": told.median_ns,
    }


def _format(row: Row) -> str:
    return str(row["format"]) if row["finished"] else f"{row['format']}, unfinished"


def _failures(row: Row) -> str:
    parts = [f"{count} {name}" for name, count in row["statuses"].items() if name != Status.OK]
    if row["repeated"]:
        parts.append(f"{row['repeated']} repeated, left out")
    return ", ".join(parts) or "–"
