"""Tables of the host's kernel and of ``gemm``, made by hand."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict

from autotune.records import Target, load_kernel
from autotune.records.targets import TARGETS
from autotune.toolchain import source_digest

HOST = Target(
    arch=platform.machine(),
    sm_count=2,
    shared_bytes_per_block=0,
    shared_bytes_per_sm=0,
    l2_bytes=1 << 20,
)


def table_text(kernel, target, answers, defaults=()):
    """Return the text of a table of ``(problem fields, changes of the default config)``."""
    problems = [_parsed(kernel, fields) for fields, _ in (*answers, *defaults)]
    unit = kernel.unit(problems[0], kernel.default(problems[0], target), target)
    fields = problems[0].as_dict()
    context = {
        "source_digest": source_digest(unit),
        "toolchain": {"compiler": "a compiler", "version": "1"},
        "policy": {},
        "replayed_from": "",
    }
    entry = {
        "kernel_ref": kernel.name,
        "scaled_fields": list(kernel.scaled_fields),
        "exact_fields": [name for name in fields if name not in kernel.scaled_fields],
        "contexts": {"c": context},
        "entries": [_answer(kernel, target, *each) for each in answers],
        "defaults": [_answer(kernel, target, *each) for each in defaults],
    }
    device = {"kind": "host" if target is HOST else "cuda", "name": "a device", "driver": "1"}
    document = {
        "schema": "autotune.table",
        "schema_version": 1,
        "generator": "test",
        "created": "",
        "database_revision": "",
        "device": {**device, "memory_bytes": 1 << 30, **asdict(target)},
        "kernels": {kernel.name: entry},
    }
    return json.dumps(document)


def _parsed(kernel, fields):
    return kernel.problem_type.parse(fields)


def _answer(kernel, target, fields, changes):
    problem = _parsed(kernel, fields)
    config = kernel.default(problem, target).replace(**changes)
    evidence = {
        "time_ns": 1000.0,
        "spread": 0.0,
        "samples": 1,
        "tied": 0,
        "verified": True,
        "row_id": 1,
        "study": "s",
        "measured_at": "",
        "origin": "measured",
        "context": "c",
    }
    return {
        "problem": problem.as_dict(),
        "config": config.as_dict(),
        "conditions": [asdict(each) for each in kernel.conditions(problem, config)],
        "evidence": evidence,
    }


def host_text():
    small, large = {"m": 8, "n": 16, "k": 4}, {"m": 300, "n": 200, "k": 100}
    answers = ((small, {"tile_m": 4}), (large, {"order": "kij"}))
    return table_text(load_kernel("host_matmul"), HOST, answers, ((small, {}),))


def hopper_text():
    """Return a table with one config that needs two binaries, and one of another family."""
    gemm = load_kernel("gemm")
    square = {"m": 4096, "n": 4096, "k": 4096, "dtype": "bf16", "layout": "nt"}
    ragged = square | {"k": 4095}
    ampere = gemm.default(_parsed(gemm, square), TARGETS["sm_80"]).as_dict()
    copied = {"mechanism": "sync2", "stages": 2, "barriers": 0, "cache": "l1", "copy_bytes": 2}
    answers = ((square, {"stages": 4}), (ragged, ampere | copied | {"repack": "none"}))
    return table_text(gemm, TARGETS["sm_90a"], answers)
