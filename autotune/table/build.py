"""From rows of the result database to the document of a table (see ``docs/table.md``)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autotune import __version__
from autotune.dispatch import SCHEMA_VERSION
from autotune.errors import InvalidInput, NoValidConfig
from autotune.records import Config, DeviceIdentity, digest
from autotune.store import Context, Filter, Store, head
from autotune.table.evidence import Evidence, gather
from autotune.table.moment import moment, now
from autotune.table.proposal import Proposal, proposals
from autotune.table.winner import Winner, measurement, winner

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A table that can be written.

    Attributes:
        document: What the file will say.
        entries: How many problems it answers exactly.
        left_out: One line for each result that was not used, and why.
    """

    document: Json
    entries: int
    left_out: tuple[str, ...]


def build_table(
    store: Store,
    studies: Sequence[str] = (),
    *,
    device: str | None = None,
    unverified: bool = False,
) -> Export:
    """Choose the best config of every problem that was tuned.

    Args:
        store: The result database.
        studies: Use only rows of these studies; none means all.
        device: Part of the device's name, its kind or the start of its key.
        unverified: Also offer results whose output was never checked; entries say so.

    Raises:
        NoValidConfig: No row may be offered. The message says why.
        InvalidInput: No such study, or rows that do not go into one table.
    """
    _refuse_unknown_studies(store, studies)
    rows = store.rows(Filter(studies=tuple(studies), device=device))
    answers, left_out = gather(rows, store.finals(studies))
    kernels: dict[str, Json] = {}
    for name in sorted({evidence.context.kernel for evidence in answers}):
        some = [evidence for evidence in answers if evidence.context.kernel == name]
        kernel, without = _kernel(some, unverified=unverified)
        left_out += without
        if kernel["entries"]:
            kernels[name] = kernel
    if not kernels:
        raise _nothing("" if rows else _whose(store, studies, device), left_out)
    return Export(
        document=_document(answers[0].context.device, kernels),
        entries=sum(len(kernel["entries"]) for kernel in kernels.values()),
        left_out=tuple(left_out),
    )


def _document(device: DeviceIdentity, kernels: dict[str, Json]) -> Json:
    return {
        "schema": "autotune.table",
        "schema_version": SCHEMA_VERSION,
        "generator": f"autotune {__version__}",
        "created": now(),
        "database_revision": head(),
        "device": {
            "kind": device.kind,
            "name": device.name,
            "memory_bytes": device.memory_bytes,
            "driver": device.driver,
            **dataclasses.asdict(device.target),
        },
        "kernels": kernels,
    }


def _kernel(answers: list[Evidence], *, unverified: bool) -> tuple[Json, list[str]]:
    """Return what a table says of one kernel, and a line for each problem without a config."""
    left_out = []
    winners: list[tuple[Evidence, Winner]] = []
    for evidence in sorted(answers, key=_place):
        best = winner(evidence, unverified=unverified)
        if best is None:
            left_out.append(_why_none(evidence, unverified=unverified))
        else:
            winners.append((evidence, best))
    served = [evidence for evidence, _ in winners]
    defaults = proposals(served, unverified=unverified)
    kernel, fields = answers[0].kernel, answers[0].problem.as_dict()
    document = {
        "kernel_ref": answers[0].context.kernel_ref,
        "scaled_fields": list(kernel.scaled_fields),
        "exact_fields": [name for name in fields if name not in kernel.scaled_fields],
        "contexts": {_context_key(each.context): _context(each.context) for each in served},
        "entries": [_answer(each, best.row.trial.config, best) for each, best in winners],
        "defaults": [_default(proposal) for proposal in defaults],
        "weights": dict.fromkeys(kernel.scaled_fields, 1),
    }
    return document, left_out


def _default(proposal: Proposal) -> Json:
    row = None if proposal.row is None else Winner(row=proposal.row, tied=0)
    return _answer(proposal.evidence, proposal.config, row)


def _answer(evidence: Evidence, config: Config, best: Winner | None) -> Json:
    conditions = evidence.kernel.conditions(evidence.problem, config)
    return {
        "problem": evidence.problem.as_dict(),
        "config": config.as_dict(),
        "conditions": [dataclasses.asdict(condition) for condition in conditions],
        "evidence": None if best is None else _evidence(best),
    }


def _evidence(best: Winner) -> Json:
    row, measured = best.row, measurement(best.row)
    return {
        "time_ns": round(measured.median_ns, 3),
        "spread": round(measured.spread, 4),
        "samples": len(measured.samples_ns),
        "tied": best.tied,
        "verified": row.trial.verified,
        "row_id": row.trial.row_id,
        "study": row.study,
        "measured_at": moment(row.trial.finished_at),
        "origin": "replayed" if row.context.replayed_from else "measured",
        "context": _context_key(row.context),
        "loss": 0.0,
    }


def _context(context: Context) -> Json:
    return {
        "source_digest": context.source_digest,
        "toolchain": dataclasses.asdict(context.toolchain),
        "policy": dataclasses.asdict(context.policy),
        "replayed_from": context.replayed_from,
    }


def _context_key(context: Context) -> str:
    return digest(_context(context))[:16]


def _place(evidence: Evidence) -> list[tuple[bool, int | str]]:
    """Return the order of entries in the file: exact fields first, then sizes."""
    scaled, fields = evidence.kernel.scaled_fields, evidence.problem.as_dict()
    names = sorted(fields, key=lambda name: name in scaled)
    return [(name in scaled, fields[name]) for name in names]


def _why_none(evidence: Evidence, *, unverified: bool) -> str:
    unchecked = any(not row.trial.verified for row in evidence.sound.values())
    if unchecked and not unverified:
        why = "its results were never verified"
    else:
        why = "no config of it ran and was right"
    return f"{evidence.context.kernel} {evidence.problem}: {why}"


def _refuse_unknown_studies(store: Store, studies: Sequence[str]) -> None:
    known = [summary.name for summary in store.studies()]
    for name in studies:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise InvalidInput(f"no study named {name!r}; the database has: {listed}")


def _whose(store: Store, studies: Sequence[str], device: str | None) -> str:
    """Return whose rows there are if ``device`` is the reason that none was read."""
    every = store.contexts(Filter(studies=tuple(studies)))
    names = dict.fromkeys(each.context.device.name for each in every)
    if device is None or not names:
        return "the database has no rows"
    return f"no row is of device {device!r}; the devices are: {', '.join(names)}"


def _nothing(why: str, left_out: list[str]) -> NoValidConfig:
    more = f" (and {len(left_out) - 1} more)" if len(left_out) > 1 else ""
    hint = "" if why else "see: autotune query failures"
    return NoValidConfig(f"nothing to export: {why or left_out[0]}{more}", hint=hint)
