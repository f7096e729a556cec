"""The document of a table, from what was chosen for it (see ``docs/table.md``)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from autotune import __version__
from autotune.dispatch import SCHEMA_VERSION
from autotune.records import Config, DeviceIdentity, digest
from autotune.store import Context, TrialRow, head
from autotune.store.chosen import measurement
from autotune.table.answered import Answered
from autotune.table.evidence import Evidence
from autotune.table.moment import moment, now
from autotune.table.preferred import Preference
from autotune.table.proposal import Proposal
from autotune.table.regret import Judgement

Json = dict[str, Any]


def document_of(
    device: DeviceIdentity, kernels: Mapping[str, Json], *, prefer: Preference | None
) -> Json:
    """Return the whole table of a device from its parts, by kernel."""
    preference = {} if prefer is None else {"preference": prefer.text}
    return {
        **preference,
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
        "kernels": dict(kernels),
    }


def kernel_part(
    answered: Sequence[Answered], defaults: Sequence[Proposal], judgement: Judgement
) -> Json:
    """Return what a table says of one kernel; there is at least one answered problem."""
    first, contexts = answered[0].evidence, [each.evidence.context for each in answered]
    scaled = first.kernel.scaled_fields
    return {
        "kernel_ref": first.context.kernel_ref,
        "scaled_fields": list(scaled),
        "exact_fields": [name for name in first.problem.as_dict() if name not in scaled],
        "contexts": {_context_key(context): _context(context) for context in contexts},
        "entries": [_entry(each) for each in answered],
        "defaults": [_default(each) for each in defaults],
        "weights": dict(zip(scaled, judgement.weights, strict=True)),
        "regret": judgement.as_dict(),
    }


def _entry(answered: Answered) -> Json:
    answer = answered.answer
    evidence = _evidence(answer.row, tied=answer.tied, loss=answered.loss)
    return _answer(answered.evidence, answered.config, evidence)


def _default(proposal: Proposal) -> Json:
    row = proposal.row
    evidence = None if row is None else _evidence(row, tied=0, loss=0.0)
    return _answer(proposal.evidence, proposal.config, evidence)


def _answer(evidence: Evidence, config: Config, shown_by: Json | None) -> Json:
    conditions = evidence.kernel.conditions(evidence.problem, config)
    return {
        "problem": evidence.problem.as_dict(),
        "config": config.as_dict(),
        "conditions": [dataclasses.asdict(condition) for condition in conditions],
        "evidence": shown_by,
    }


def _evidence(row: TrialRow, *, tied: int, loss: float) -> Json:
    measured = measurement(row)
    return {
        "time_ns": round(measured.median_ns, 3),
        "spread": round(measured.spread, 4),
        "samples": len(measured.samples_ns),
        "tied": tied,
        "verified": row.trial.verified,
        "row_id": row.trial.row_id,
        "study": row.study,
        "measured_at": moment(row.trial.finished_at),
        "origin": "replayed" if row.context.replayed_from else "measured",
        "context": _context_key(row.context),
        "loss": round(loss, 4),
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
