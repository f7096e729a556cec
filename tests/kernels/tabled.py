"""Tables of ``faulty_matmul`` for this machine, as an export would write them."""

from __future__ import annotations

import json
from pathlib import Path

from autotune.device.host import host_identity

REFERENCE = f"{Path(__file__).with_name('faulty_matmul.py')}:FaultyMatmul"
CONTEXT = "0123456789abcdef"
EVIDENCE = {
    "time_ns": 1000.0,
    "spread": 0.01,
    "samples": 5,
    "tied": 0,
    "verified": True,
    "row_id": 1,
    "study": "s",
    "measured_at": "2026-01-02T03:04:05Z",
    "origin": "measured",
    "context": CONTEXT,
}


def answer(m, fault="none", *, evidence=True, **conditions):
    """Return an entry for m x 6 x 8; ``conditions`` are of m."""
    rule = {"field": "m", "multiple_of": 1, "at_least": None, "at_most": None} | conditions
    return {
        "problem": {"m": m, "n": 6, "k": 8},
        "config": {"fault": fault, "twin": 0},
        "conditions": [rule] if conditions else [],
        "evidence": EVIDENCE if evidence else None,
    }


def document(*entries, defaults=(), reference=REFERENCE, **device):
    """Return a table of these answers, of this machine unless ``device`` says otherwise."""
    here = host_identity()
    target = here.target
    return {
        "schema": "autotune.table",
        "schema_version": 1,
        "generator": "autotune 0.1.0",
        "created": "2026-01-02T03:04:05Z",
        "database_revision": "0001",
        "device": {
            "kind": here.kind,
            "name": here.name,
            "arch": target.arch,
            "sm_count": target.sm_count,
            "shared_bytes_per_block": target.shared_bytes_per_block,
            "shared_bytes_per_sm": target.shared_bytes_per_sm,
            "registers_per_sm": target.registers_per_sm,
            "threads_per_block": target.threads_per_block,
            "l2_bytes": target.l2_bytes,
            "memory_bytes": here.memory_bytes,
            "driver": here.driver,
            **device,
        },
        "kernels": {
            "faulty_matmul": {
                "kernel_ref": reference,
                "scaled_fields": ["m", "n", "k"],
                "exact_fields": [],
                "contexts": {
                    CONTEXT: {
                        "source_digest": "f" * 32,
                        "toolchain": {"compiler": "c++", "version": "1"},
                        "policy": {"verify": True},
                        "replayed_from": "",
                    }
                },
                "entries": list(entries),
                "defaults": list(defaults),
            }
        },
    }


def write(path, table):
    """Write ``table`` as JSON and return its path."""
    path.write_text(json.dumps(table, indent=2, sort_keys=True) + "\n")
    return path
