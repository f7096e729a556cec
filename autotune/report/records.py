"""What the database and a table hold, for people and for scripts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autotune.dispatch import Choice, KernelTable
from autotune.dispatch.nearest import octaves
from autotune.errors import AutotuneError
from autotune.records import headline
from autotune.report.fields import config_text, installed_kernel, problem_text
from autotune.report.sheet import Column, Record, Row, Sheet
from autotune.report.units import counted, rate_text, spread_text, time_text
from autotune.store import Context, StudySummary, TrialRow


def _device(row: Row) -> str:
    """Return the device's name, and the recording that spoke for it."""
    recording = row["replayed_from"]
    return f"{row['device']} ({recording})" if recording else str(row["device"])


_PROBLEM = Column("problem", lambda row: problem_text(row["problem"]), moves=True, shared=",")
_STUDY = Column("study", lambda row: row["study"], moves=True, shared="\n")
_ROW = Column("row", lambda row: str(row["trial_id"]), right=True)
_TIME = Column("time", lambda row: time_text(row["median_ns"]), right=True)
_CONFIG = Column(
    "configuration",
    lambda row: config_text(installed_kernel(row["kernel_ref"]), row["config"]),
    moves=True,
)

_WHERE = (
    Column("kernel", lambda row: row["kernel"], moves=True, shared="\n"),
    Column("device", _device, moves=True, shared="\n"),
    _PROBLEM,
)

COLUMNS: Mapping[str, Sequence[Column]] = {
    "best": (
        _ROW,
        *_WHERE,
        _TIME,
        Column("spread", lambda row: spread_text(row["spread"]), right=True),
        Column("rate", lambda row: rate_text(row, row["median_ns"]), right=True),
        _CONFIG,
    ),
    "front": (_ROW, *_WHERE, _CONFIG),
    "trials": (
        _ROW,
        _STUDY,
        _PROBLEM,
        Column("trial", lambda row: str(row["number"]), right=True),
        Column("status", lambda row: row["status"]),
        _TIME,
        _CONFIG,
    ),
    "failures": (
        _ROW,
        Column("times", lambda row: str(row["times"]), right=True),
        _STUDY,
        _PROBLEM,
        Column("status", lambda row: row["status"]),
        Column("message", lambda row: row["headline"], moves=True),
        _CONFIG,
    ),
}


def trials_sheet(what: str, rows: Sequence[TrialRow], *, empty: str) -> Sheet:
    """Return one row for each trial.

    Args:
        what: ``best``, ``front``, ``trials`` or ``failures``.
        rows: The trials.
        empty: What people read if there are none.
    """
    found = [_trial_row(row) for row in rows]
    return Sheet(
        kind="trials",
        rows=found,
        shown=_alike(found) if what == "failures" else None,
        columns=COLUMNS[what],
        empty=empty,
    )


def _alike(rows: Sequence[Row]) -> list[Row]:
    """Return the first of the failures that say the same, and how many there are."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        row = {**row, "headline": headline(row["message"])}  # noqa: PLW2901 - and what it says
        key = (row["study"], problem_text(row["problem"]), row["status"], row["headline"])
        groups.setdefault(key, []).append(row)
    return [{**some[0], "times": len(some)} for some in groups.values()]


def studies_sheet(studies: Sequence[StudySummary]) -> Sheet:
    """Return one row for each study."""
    return Sheet(
        kind="studies",
        rows=[_study_row(study) for study in studies],
        columns=(
            Column("study", lambda row: row["name"]),
            Column("kernel", lambda row: str(row["spec"].get("kernel", "")), moves=True),
            Column("sampler", lambda row: row["sampler"]),
            Column("seed", lambda row: str(row["seed"]), right=True),
            Column("trials", lambda row: str(row["trials"]), right=True),
            Column("ok", lambda row: str(row["ok"]), right=True),
            Column("last trial", lambda row: (row["last_at"] or "–")[:16].replace("T", " ")),
        ),
        empty="the database holds no study yet",
    )


def octaves_off(kernel: KernelTable, problem: Mapping[str, Any], choice: Choice) -> float:
    """Return how often the sizes double between a problem and the one that answers for it."""
    if choice.entry is None:
        return 0.0
    both = (problem, choice.entry.problem)
    return octaves(*([int(fields[name]) for name in kernel.scaled_fields] for fields in both))


def choice_record(kernel: KernelTable, problem: Mapping[str, Any], choice: Choice) -> Record:
    """Return what a lookup answered; a time that is another problem's says so."""
    entry = choice.entry
    evidence, certificate = (entry.evidence, entry.certificate) if entry else (None, None)
    members = {
        "kernel": choice.kernel,
        "problem": dict(problem),
        "config": dict(choice.config),
        "source": choice.source,
        "reason": choice.reason,
        "entry_problem": dict(entry.problem) if entry else None,
        "evidence": evidence._asdict() if evidence else None,
        "certificate": certificate._asdict() if certificate else None,
    }
    return Record(members=members, lines=dict(_lines(kernel, problem, choice)))


def _lines(
    kernel: KernelTable, problem: Mapping[str, Any], choice: Choice
) -> Iterator[tuple[str, str]]:
    far = f", {octaves_off(kernel, problem, choice):.2f} octaves off"
    yield "kernel", choice.kernel
    yield "source", choice.source
    yield "reason", choice.reason + (far if choice.source == "nearest" else "")
    yield "config", config_text(installed_kernel(kernel.kernel_ref), choice.config)
    if choice.entry and (evidence := choice.entry.evidence):
        theirs = {name: choice.entry.problem[name] for name in problem}
        other = "" if choice.source == "exact" else f", that of {problem_text(theirs)}"
        spread = f" (spread {spread_text(evidence.spread)})"
        yield "time", f"{time_text(evidence.time_ns)}{spread}{other}"
        yield "row", f"{evidence.row_id} of study {evidence.study}"
    if choice.entry and (certificate := choice.entry.certificate):
        on = counted(len(certificate.problems), "problem")
        yield "certified", f"{certificate.certified_at} on {on}"


def _trial_row(row: TrialRow) -> Row:
    context = row.context
    return {**row.as_dict(), "kernel_ref": context.kernel_ref, **_cost(context)}


def _study_row(study: StudySummary) -> Row:
    return {
        "id": study.id,
        "name": study.name,
        "sampler": study.sampler,
        "seed": study.seed,
        "contexts": study.contexts,
        "trials": study.trials,
        "ok": study.ok,
        "created_at": study.created_at.isoformat(),
        "last_at": study.last_at.isoformat() if study.last_at else None,
        "spec": dict(study.spec),
    }


def _cost(context: Context) -> dict[str, int | None]:
    """Return the problem's FLOP and bytes if its kernel is installed and still knows them."""
    kernel = installed_kernel(context.kernel_ref)
    unknown: dict[str, int | None] = {"flop": None, "bytes": None}
    if kernel is None:
        return unknown
    try:
        problem = kernel.problem_type.parse(context.problem.as_dict())
        return dataclasses.asdict(kernel.cost(problem))
    except AutotuneError:  # the kernel has changed since
        return unknown
