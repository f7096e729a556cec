"""What was certified, for people and for scripts."""

from __future__ import annotations

from typing import Any

from autotune.records import headline
from autotune.report.fields import config_text, installed_kernel, problem_text
from autotune.report.sheet import Column, Row, Sheet
from autotune.report.units import counted
from autotune.study.certify import CertifyReport
from autotune.study.examiner import Examined

_ROLES = {"entries": "entry", "defaults": "default"}


def certified_sheet(report: CertifyReport) -> Sheet:
    """Return one row for each entry and each default."""
    return Sheet(
        kind="configs",
        title=f"on {report.identity.name}, driver {report.identity.driver}",
        rows=[_row(each) for each in report.examined],
        columns=(
            Column("kernel", lambda row: row["kernel"], moves=True, shared="\n"),
            Column("of", lambda row: row["role"]),
            Column("problem", lambda row: problem_text(row["problem"]), moves=True, shared=","),
            Column("status", lambda row: row["status"]),
            Column("right on", _right_on),
            Column("sanitizer", lambda row: row["sanitizer"] or "–", moves=True, shared="\n"),
            Column("configuration", _config, moves=True),
            Column("note", _note, moves=True),
        ),
        extra=_about(report),
    )


def fault_line(examined: Examined) -> str:
    """Return which config failed, on which problem, and what was wrong, in one line."""
    return f"failed: {_named(examined)}: {_fault(_row(examined))}"


def passed_line(examined: Examined) -> str:
    """Return which config was right, and on how many problems, in one line."""
    unseen = "" if examined.watched else f"; {examined.sanitizer}"
    return f"right: {_named(examined)}: on {counted(len(examined.problems), 'problem')}{unseen}"


def _named(examined: Examined) -> str:
    place, problem = examined.place, problem_text(examined.problem)
    return f"{place.kernel} {_ROLES[place.role]} {problem}"


def _right_on(row: Row) -> str:
    return counted(len(row["problems"]), "problem") if row["problems"] else "–"


def _config(row: Row) -> str:
    return config_text(installed_kernel(row["kernel"]), row["config"])


def _note(row: Row) -> str:
    return _fault(row) if row["failed_on"] else ""


def _fault(row: Row) -> str:
    return f"on {row['failed_on']}: {row['status']}: {headline(row['message'])}"


def _about(report: CertifyReport) -> dict[str, Any]:
    return {
        "device": report.identity.name,
        "driver": report.identity.driver,
        "draws": report.exam.draws,
        "repeats": report.exam.repeats + report.exam.loaded,
        "sanitizer": report.sanitizer,
        "certified": len(report.examined) - len(report.failed) if report.entries_left else 0,
        "removed": len(report.failed) if report.entries_left else 0,
    }


def _row(examined: Examined) -> Row:
    return {
        "kernel": examined.place.kernel,
        "role": _ROLES[examined.place.role],
        "problem": dict(examined.problem),
        "config": dict(examined.answer.config),
        "status": str(examined.status),
        "problems": list(examined.problems),
        "failed_on": examined.failed_on,
        "message": examined.message,
        "sanitizer": examined.sanitizer,
    }
