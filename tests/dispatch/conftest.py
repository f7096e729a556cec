from __future__ import annotations

import copy
import json

import pytest

from autotune.dispatch import Table

CONTEXT = "0123456789abcdef"


def evidence(row_id=1, time_ns=1000.0, **changes):
    values = {
        "time_ns": time_ns,
        "spread": 0.01,
        "samples": 11,
        "tied": 0,
        "verified": True,
        "row_id": row_id,
        "study": "gemm_square",
        "measured_at": "2026-01-02T03:04:05Z",
        "origin": "measured",
        "context": CONTEXT,
        "loss": 0.0,
    }
    return values | changes


def answer(m, n, k, *, tile, dtype="bf16", multiple_of=1, row=1):
    condition = {"field": "k", "multiple_of": multiple_of, "at_least": None, "at_most": None}
    return {
        "problem": {"m": m, "n": n, "k": k, "dtype": dtype, "layout": "nt"},
        "config": {"tile": tile, "mechanism": "cp_async"},
        "conditions": [condition] if multiple_of > 1 else [],
        "evidence": None if row is None else evidence(row),
    }


def document(entries, defaults=()):
    return {
        "schema": "autotune.table",
        "schema_version": 5,
        "generator": "autotune 0.1.0",
        "created": "2026-01-02T03:04:05Z",
        "database_revision": "0001",
        "device": {
            "kind": "cuda",
            "name": "NVIDIA H200",
            "arch": "sm_90a",
            "sm_count": 132,
            "shared_bytes_per_block": 232448,
            "shared_bytes_per_sm": 233472,
            "registers_per_sm": 65536,
            "threads_per_block": 1024,
            "l2_bytes": 62914560,
            "memory_bytes": 150754820096,
            "driver": "580.00",
        },
        "kernels": {
            "gemm": {
                "kernel_ref": "gemm",
                "scaled_fields": ["m", "n", "k"],
                "exact_fields": ["dtype", "layout"],
                "contexts": {
                    CONTEXT: {
                        "source_digest": "f" * 32,
                        "toolchain": {"compiler": "nvrtc", "version": "13.0"},
                        "policy": {"cache": "cold", "verify": True, "warmup_ms": 20.0, "draws": 1},
                        "replayed_from": "",
                    }
                },
                "entries": list(entries),
                "defaults": list(defaults),
                "weights": {"m": 1, "n": 1, "k": 1},
                "regret": {
                    "rule": "nearest",
                    "problems": 3,
                    "judged": 2,
                    "mean": 0.02,
                    "p95": 0.03,
                    "worst": 0.03,
                },
            }
        },
    }


FOREST = {
    "measures": [
        {"kind": "tiles", "units": {"m": 128, "n": 128}},
        {"kind": "rest", "units": {"k": 64}},
    ],
    "trees": [
        {
            "exact": {"dtype": "bf16", "layout": "nt"},
            "steps": [
                {"measure": 0, "at_most": 100, "next": 1},
                {"entry": 0},
                {"measure": 1, "at_most": 0, "next": 3},
                {"entry": 1},
                {"entry": 0},
            ],
        }
    ],
}

SAMPLE = document(
    entries=[
        answer(16, 4096, 4096, tile=16, multiple_of=8, row=1),
        answer(4096, 4096, 4096, tile=128, multiple_of=8, row=2),
        answer(4096, 4096, 4096, tile=64, dtype="fp32", row=3),
    ],
    defaults=[
        answer(4096, 4096, 4096, tile=32, multiple_of=8, row=4),
        answer(1, 1, 1, tile=8, row=None),
    ],
)


@pytest.fixture
def sample():
    """A table document that tests may change."""
    return copy.deepcopy(SAMPLE)


@pytest.fixture
def guided(sample):
    """The same with a tree for bf16 and nt."""
    sample["kernels"]["gemm"]["forest"] = copy.deepcopy(FOREST)
    return sample


@pytest.fixture(scope="session")
def build():
    """Functions that make documents: ``build.document``, ``build.answer``."""
    return _Build


@pytest.fixture(scope="session")
def shared_table(shared_text):
    """The sample table, parsed once: tables do not change."""
    return Table.parse(shared_text)


@pytest.fixture(scope="session")
def shared_text():
    """The text of the sample table, with a tree."""
    with_tree = copy.deepcopy(SAMPLE)
    with_tree["kernels"]["gemm"]["forest"] = FOREST
    return _Build.text(with_tree)


class _Build:
    answer = staticmethod(answer)
    document = staticmethod(document)
    evidence = staticmethod(evidence)

    @staticmethod
    def text(value):
        return json.dumps(value, indent=2, sort_keys=True) + "\n"
