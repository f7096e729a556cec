"""What a study found, for people and for scripts."""

from __future__ import annotations

import dataclasses

from autotune.records import Kernel, Trial
from autotune.report.fields import config_text, problem_text
from autotune.report.sheet import Column, Row, Sheet
from autotune.report.units import NOISY, rate_text, time_text
from autotune.study.events import ProblemReport, StudyReport
from autotune.study.spec import StudySpec

_FRONT = Column("front", lambda row: str(row["front"]), right=True)


def summary_sheet(spec: StudySpec, report: StudyReport) -> Sheet:
    """Return one row for each problem of a study that ran."""
    return Sheet(
        kind="problems",
        rows=[_row(spec, found) for found in report.problems],
        columns=(
            Column("problem", lambda row: problem_text(row["problem"]), moves=True, shared=","),
            Column("trials", lambda row: str(row["trials"]), right=True),
            Column("right", lambda row: str(row["ok"]), right=True),
            Column(f"best{_remark(spec, report)}", _best, right=True),
            Column("rate", lambda row: rate_text(row, row["median_ns"]), right=True),
            Column("vs default", _speedup, right=True),
            *([_FRONT] if len(spec.goals) > 1 else []),
            Column("configuration", lambda row: _config(spec.kernel, row), moves=True),
        ),
        extra={
            "study": report.study,
            "device": report.device,
            "replays": report.replays,
            "seconds": round(report.seconds, 3),
        },
    )


def _remark(spec: StudySpec, report: StudyReport) -> str:
    if report.replays:
        return " (replayed)"
    return "" if spec.policy.verify else " (unverified)"


def _row(spec: StudySpec, found: ProblemReport) -> Row:
    best = found.best
    return {
        "problem": found.problem.as_dict(),
        "reason": str(found.reason),
        "ran": found.ran,
        "trials": found.total,
        "valid": found.valid,
        "ok": sum(count for status, count in found.statuses.items() if status == "ok"),
        "statuses": {str(status): count for status, count in found.statuses.items()},
        **dataclasses.asdict(spec.kernel.cost(found.problem)),
        "median_ns": _median_ns(best),
        "spread": best.measurement.spread if best and best.measurement else None,
        "tied": found.tied,
        "front": found.front,
        "default_ns": _median_ns(found.default),
        "config": best.config.as_dict() if best else None,
        "row_id": best.row_id if best else None,
    }


def _median_ns(trial: Trial | None) -> float | None:
    return trial.median_ns if trial else None


def _best(row: Row) -> str:
    noisy = row["spread"] is not None and row["spread"] > NOISY
    tied = f" tied with {row['tied']}" if row["tied"] else ""
    return f"{time_text(row['median_ns'])}{' noisy' if noisy else ''}{tied}"


def _speedup(row: Row) -> str:
    if not (row["median_ns"] and row["default_ns"]):
        return "–"
    return f"{row['default_ns'] / row['median_ns']:.2f}×"


def _config(kernel: Kernel, row: Row) -> str:
    if row["config"] is None:
        return "none gave a right result"
    return config_text(kernel, row["config"])
