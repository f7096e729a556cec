"""Why a lookup answered as it did: everything that it looked at, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autotune.dispatch import Considered, KernelTable
from autotune.report.fields import config_text, installed_kernel, problem_text
from autotune.report.sheet import Column, Row, Sheet
from autotune.report.units import counted, time_text


def explained_sheet(
    kernel: KernelTable, problem: Mapping[str, Any], considered: Sequence[Considered]
) -> Sheet:
    """Return one row for each entry and default that was looked at, the choice marked."""
    chosen = next((at for at, each in enumerate(considered) if each.obstacle is None), None)
    fields = (*kernel.scaled_fields, *kernel.exact_fields)
    rows = [_row(each, fields, taken=at == chosen, at=at) for at, each in enumerate(considered)]
    others = len(kernel.entries) + len(kernel.defaults) - len(rows)
    return Sheet(
        kind="considered",
        title=f"{kernel.name} {problem_text(problem)}: {counted(len(rows), 'candidate')}"
        + (f"; {others} have other {', '.join(kernel.exact_fields)}" if others else ""),
        rows=rows,
        columns=(
            Column("#", lambda row: str(row["rank"]), right=True),
            Column("source", lambda row: row["source"]),
            Column("problem", lambda row: problem_text(row["entry_problem"])),
            Column("octaves", lambda row: f"{row['octaves']:.2f}", right=True),
            Column("time there", _time, right=True),
            Column("verdict", lambda row: row["verdict"]),
            Column("certified", _certified),
            Column("configuration", lambda row: _config(kernel, row), moves=True),
        ),
        extra={
            "kernel": kernel.name,
            "problem": dict(problem),
            "weights": dict(zip(kernel.scaled_fields, kernel.weights, strict=True)),
            "regret": kernel.regret._asdict() if kernel.regret else None,
        },
    )


def _row(each: Considered, fields: Sequence[str], *, taken: bool, at: int) -> Row:
    entry = each.entry
    verdict = "taken" if taken else each.obstacle or "fits, and comes later"
    return {
        "rank": at + 1,
        "source": each.source,
        "entry_problem": {name: entry.problem[name] for name in fields},
        "octaves": round(each.octaves, 4),
        "taken": taken,
        "fits": each.obstacle is None,
        "verdict": verdict,
        "config": dict(entry.config),
        "evidence": entry.evidence._asdict() if entry.evidence else None,
        "certificate": entry.certificate._asdict() if entry.certificate else None,
    }


def _time(row: Row) -> str:
    return time_text(row["evidence"]["time_ns"] if row["evidence"] else None)


def _certified(row: Row) -> str:
    return row["certificate"]["certified_at"][:10] if row["certificate"] else "–"


def _config(kernel: KernelTable, row: Row) -> str:
    return config_text(installed_kernel(kernel.kernel_ref), row["config"])
