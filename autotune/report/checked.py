"""What differs between a table and today, for people and for scripts."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from autotune.records import headline
from autotune.report.fields import problem_text
from autotune.report.sheet import Column, Row, Sheet
from autotune.report.units import counted, time_text
from autotune.study.check import Checked, Retimed


def checked_sheet(checked: Sequence[Checked], retimed: Sequence[Retimed] | None) -> Sheet:
    """Return one row for each field; people see those that differ."""
    rows = [dataclasses.asdict(each) | {"differs": each.differs} for each in checked]
    differ = sum(each.differs for each in checked)
    extra = {} if retimed is None else {"retimed": [_retimed_row(each) for each in retimed]}
    return Sheet(
        kind="fields",
        title=f"{differ} of {counted(len(rows), 'field')} differ from today{_untold(checked)}",
        rows=rows,
        shown=[row for row in rows if row["differs"]],
        columns=(
            Column("kernel", lambda row: row["kernel"]),
            Column("field", lambda row: row["field"]),
            Column("table", lambda row: row["table"], moves=True),
            Column("today", lambda row: row["today"], moves=True),
            Column("entries", lambda row: str(row["entries"]), right=True),
        ),
        extra=extra,
        empty="nothing that can be told here differs",
    )


def _untold(checked: Sequence[Checked]) -> str:
    unknown = [each.field.partition(".")[0] for each in checked if each.today is None]
    if not unknown:
        return ""
    parts = ("policy: see --db" if part == "policy" else part for part in dict.fromkeys(unknown))
    return f"; {len(unknown)} cannot be told here ({', '.join(parts)})"


def retimed_sheet(retimed: Sequence[Retimed]) -> Sheet:
    """Return one row for each entry that was verified and timed again."""
    return Sheet(
        kind="retimed",
        rows=[_retimed_row(each) for each in retimed],
        columns=(
            Column("kernel", lambda row: row["kernel"]),
            Column("problem", lambda row: problem_text(row["problem"])),
            Column("status", lambda row: row["status"]),
            Column("table", lambda row: time_text(row["table_ns"]), right=True),
            Column("today", lambda row: time_text(row["today_ns"]), right=True),
            Column("change", _change, right=True),
            Column("note", lambda row: headline(row["message"]), moves=True),
        ),
    )


def _retimed_row(retimed: Retimed) -> Row:
    measured, evidence = retimed.outcome.measurement, retimed.entry.evidence
    return {
        "kernel": retimed.kernel,
        "problem": dict(retimed.entry.problem),
        "status": str(retimed.outcome.status),
        "message": retimed.outcome.message,
        "table_ns": evidence.time_ns if evidence else None,
        "today_ns": measured.median_ns if measured else None,
        "change": retimed.change,
        "within_noise": retimed.within_noise,
    }


def _change(row: Row) -> str:
    if row["change"] is None:
        return "–"
    return f"{row['change']:+.1%}" + (" (noise)" if row["within_noise"] else "")
