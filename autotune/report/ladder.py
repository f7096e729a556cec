"""A ladder, for people and for scripts: what each rung gains, and why."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator

from autotune.records import Kernel, Status, headline
from autotune.report.fields import compiler_text, config_text, problem_text
from autotune.report.sheet import Column, Row, Sheet
from autotune.report.units import (
    NOISY,
    Units,
    rate_text,
    size_text,
    spread_text,
    time_text,
    work,
)
from autotune.study import LadderReport, LadderSpec, Step
from autotune.study.entrant import REPRESENTATIVE


def ladder_sheet(report: LadderReport) -> Sheet:
    """Return one row for each rung, lowest first, and one for the peer."""
    kernel = report.spec.kernel
    peer = report.peer.rung.name if report.peer else kernel.peer
    rows = list(_rows(report))
    return Sheet(
        kind="rungs",
        title=f"{kernel.name} {report.spec.problem} on {device_text(report)}",
        rows=rows,
        columns=(
            Column("rung", lambda row: row["rung"]),
            Column("time", lambda row: time_text(row["median_ns"]), right=True),
            Column("rate", _rate, right=True),
            *([Column(f"of {peer}", lambda row: _ratio(row["of_peer"]), right=True)] * bool(peer)),
            Column("gain", _gain, right=True),
            *(_RESOURCES if any(row["registers"] or row["shared_bytes"] for row in rows) else ()),
            Column("change", lambda row: row["change"], moves=True),
            Column("why", lambda row: row["why"], moves=True),
            Column("configuration", lambda row: _config(kernel, row), moves=True),
            Column("note", _note, moves=True),
        ),
        extra=_about(report),
    )


def device_text(report: LadderReport) -> str:
    """Return what the times belong to, in one line."""
    told = (
        report.identity.name,
        f"driver {report.identity.driver}",
        compiler_text(report.toolchain),
        *([f"from {report.device}"] if report.replays else []),
    )
    return ", ".join(told)


def per_second(row: Row) -> tuple[float | None, Units]:
    """Return the FLOP of each second, or the bytes where memory bounds the problem, and units."""
    amount, units = work(row)
    return amount / (row["median_ns"] * 1e-9) if row["median_ns"] else None, units


def _rows(report: LadderReport) -> Iterator[Row]:
    below: Step | None = None
    for step in report.steps:
        yield {**_row(report, step), "peer": False, "gain": _times(below, step)}
        below = step if step.median_ns else below
    if report.peer is not None:
        yield {**_row(report, report.peer), "peer": True, "gain": None}


def _row(report: LadderReport, step: Step) -> Row:
    cost = report.spec.kernel.cost(report.spec.problem)
    trial = step.trial
    measured = trial.measurement if trial and step.median_ns else None
    return {
        "rung": step.rung.name,
        "change": step.rung.change,
        "why": step.rung.why,
        "status": str(step.status) if step.status else None,
        "message": step.message,
        "choice": step.choice,
        "config": trial.config.as_dict() if trial else {},
        "median_ns": step.median_ns,
        "spread": measured.spread if measured else None,
        "samples_ns": list(measured.samples_ns) if measured else [],
        "of_peer": _times(report.peer, step),
        "flop": cost.flop,
        "bytes": cost.bytes,
        "registers": trial.resources.registers if trial and trial.resources else None,
        "shared_bytes": step.shared_bytes,
        "row_id": trial.row_id if trial else None,
    }


def _times(other: Step | None, step: Step) -> float | None:
    """Return how many times as fast as ``other`` a step is."""
    if other is None or other.median_ns is None or step.median_ns is None:
        return None
    return other.median_ns / step.median_ns


def _rate(row: Row) -> str:
    return rate_text(row, row["median_ns"]) or "–"


def _ratio(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.2f}"


def _gain(row: Row) -> str:
    return f"{row['gain']:.2f}×" if row["gain"] else "–"


def _shared(row: Row) -> str:
    return size_text(row["shared_bytes"]) if row["shared_bytes"] else "–"


_RESOURCES = (  # of a GPU; a host has neither
    Column("registers", lambda row: str(row["registers"] or "–"), right=True),
    Column("shared", _shared, right=True),
)


def _config(kernel: Kernel, row: Row) -> str:
    return config_text(None if row["peer"] or not row["config"] else kernel, row["config"])


def _note(row: Row) -> str:
    if row["status"] == Status.OK:
        told = "" if row["choice"] == REPRESENTATIVE else row["choice"]
        noise = f"spread {spread_text(row['spread'])}" if row["spread"] > NOISY else ""
        return "; ".join(filter(None, (told, noise)))
    return ": ".join(filter(None, (row["status"], headline(row["message"]))))


def _about(report: LadderReport) -> Row:
    spec, dates = report.spec, [s.trial.finished_at for s in report.steps if s.trial]
    return {
        "kernel": spec.kernel.name,
        "problem": spec.problem.as_dict(),
        "peer": spec.kernel.peer,
        "no_peer": report.no_peer,
        "device": report.identity.name,
        "driver": report.identity.driver,
        "toolchain": dataclasses.asdict(report.toolchain),
        "policy": dataclasses.asdict(spec.policy),
        "rounds": None if report.replays else spec.rounds,
        "replayed_from": report.device if report.replays else "",
        "study": report.study,
        "date": None if report.replays or not dates else max(dates).date().isoformat(),
        "command": _command(report),
    }


def _command(report: LadderReport) -> str:
    """Return what to type to climb the same ladder again."""
    spec, words = report.spec, ["autotune", "ladder", report.spec.kernel_ref]
    words += ["--problem", problem_text(spec.problem.as_dict()), "--device", report.device]
    for name in ("trials", "rounds", "seed"):
        value = getattr(spec, name)
        if value != LadderSpec.__dataclass_fields__[name].default:
            words += [f"--{name}", str(value)]
    return shlex.join(words)
