"""A table made by hand: any configs for any problems, with evidence that nobody measured."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from made_forest import forest

from autotune.dispatch import SCHEMA_VERSION
from autotune.records import Kernel, Target, Value
from autotune.toolchain import source_digest

Json = dict[str, Any]
Answer = tuple[Mapping[str, Value], Mapping[str, Value]]  # problem, changes of its default config

EVIDENCE = {
    "time_ns": 1000.0,
    "spread": 0.01,
    "samples": 11,
    "tied": 0,
    "verified": True,
    "row_id": 1,
    "study": "made",
    "measured_at": "2026-01-02T03:04:05Z",
    "origin": "measured",
    "context": "made",
}
CONTEXT = {
    "source_digest": "f" * 32,
    "toolchain": {"compiler": "a compiler", "version": "1"},
    "policy": {"cache": "cold"},
    "replayed_from": "",
}


def table_text(
    kernel: Kernel,
    target: Target,
    answers: Sequence[Answer],
    defaults: Sequence[Answer] = (),
    *,
    tree: bool = False,
) -> str:
    """Return the text of a table with these entries and defaults, and a tree if asked to."""
    problem = kernel.problem_type.parse(answers[0][0])
    unit = kernel.unit(problem, kernel.default(problem, target), target)
    fields = problem.as_dict()
    made: Json = {
        "kernel_ref": kernel.name,
        "scaled_fields": list(kernel.scaled_fields),
        "exact_fields": [name for name in fields if name not in kernel.scaled_fields],
        "contexts": {"made": {**CONTEXT, "source_digest": source_digest(unit)}},
        "entries": [_answer(kernel, target, *each) for each in answers],
        "defaults": [_answer(kernel, target, *each) for each in defaults],
        "weights": dict.fromkeys(kernel.scaled_fields, 1),
    }
    if tree:
        made["forest"] = forest(kernel.scaled_fields, made["entries"])
    return json.dumps(document(target, {kernel.name: made}), indent=2, sort_keys=True) + "\n"


def document(target: Target, kernels: Json) -> Json:
    """Return the document of a table for ``target`` with these parts, by kernel."""
    return {
        "schema": "autotune.table",
        "schema_version": SCHEMA_VERSION,
        "generator": "made by hand",
        "created": "2026-01-02T03:04:05Z",
        "database_revision": "0003",
        "device": {
            "kind": "cuda" if target.capability else "host",
            "name": "a device",
            "driver": "1",
            "memory_bytes": 1 << 30,
            **asdict(target),
        },
        "kernels": kernels,
    }


def _answer(
    kernel: Kernel, target: Target, fields: Mapping[str, Value], changes: Mapping[str, Value]
) -> Json:
    problem = kernel.problem_type.parse(fields)
    config = kernel.default(problem, target).replace(**changes)
    return {
        "problem": problem.as_dict(),
        "config": config.as_dict(),
        "conditions": [asdict(each) for each in kernel.conditions(problem, config)],
        "evidence": EVIDENCE,
    }
