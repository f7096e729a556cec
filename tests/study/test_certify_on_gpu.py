"""A table of a GPU is certified on that GPU, with compute-sanitizer where it is found."""

from __future__ import annotations

import dataclasses
import json
import sys
from contextlib import closing
from pathlib import Path

import pytest

from autotune.device import open_device
from autotune.device.sanitizer import Sanitizer, find_sanitizer
from autotune.dispatch import Table
from autotune.records import Limits, Status, load_kernel
from autotune.study.certify import certify, open_measured
from autotune.table import TableFile

sys.path.insert(0, str(Path(__file__).parents[1] / "kernels"))
from tabled import CONTEXT, EVIDENCE, document

KERNELS = Path(__file__).parents[1] / "kernels"
pytestmark = pytest.mark.gpu
LIMITS = Limits(run_s=10.0)


def gpu_table(kernel_ref, answers):
    """Return a table of this GPU: ``answers`` are problems and configs."""
    kernel = load_kernel(kernel_ref)
    with closing(open_device("cuda:0", limits=LIMITS)) as device:
        here = device.identity
    table = document(
        kind=here.kind,
        name=here.name,
        driver=here.driver,
        memory_bytes=here.memory_bytes,
        **dataclasses.asdict(here.target),
    )
    [context] = table["kernels"].pop("faulty_matmul")["contexts"].values()
    entries = []
    for fields, config in answers(kernel, here.target):
        problem = kernel.problem_type.parse(fields)
        conditions = kernel.conditions(problem, config)
        entries.append(
            {
                "problem": problem.as_dict(),
                "config": config.as_dict(),
                "conditions": [dataclasses.asdict(each) for each in conditions],
                "evidence": EVIDENCE,
            }
        )
    fields = list(entries[0]["problem"])
    table["kernels"][kernel.name] = {
        "kernel_ref": kernel_ref,
        "scaled_fields": list(kernel.scaled_fields),
        "exact_fields": [name for name in fields if name not in kernel.scaled_fields],
        "contexts": {CONTEXT: context},
        "entries": entries,
        "defaults": [],
    }
    return table


def certified(path, table, sanitizer="off"):
    path.write_text(json.dumps(table))
    file = TableFile.open(path)
    with closing(open_measured(file, limits=LIMITS)) as device:
        return certify(file, device=device, draws=2, sanitizer=sanitizer)


def watching():
    program = find_sanitizer()
    if program is None:
        pytest.skip("no compute-sanitizer: install nvidia-cuda-sanitizer-api or set CUDA_HOME")
    return Sanitizer(program=program, index=0)


def defaults(kernel, target):
    for dtype in ("bf16", "fp16", "fp32"):
        fields = {"m": 512, "n": 384, "k": 256, "dtype": dtype}
        yield fields, kernel.default(kernel.problem_type.parse(fields), target)


def test_what_the_product_proposes_is_certified_with_its_tails(tmp_path):
    report = certified(tmp_path / "table.json", gpu_table("gemm", defaults))
    assert [(each.status, each.message) for each in report.examined] == [(Status.OK, "")] * 3
    assert all(len(each.problems) >= 4 for each in report.examined)


def test_memcheck_finds_nothing_in_what_the_product_proposes(tmp_path):
    report = certified(tmp_path / "table.json", gpu_table("gemm", defaults), watching())
    assert [each.sanitizer for each in report.examined] == ["memcheck: clean"] * 3
    assert Table.load(tmp_path / "table.json").certificate.sanitizer == "compute-sanitizer memcheck"


def scales(*faults):
    def answers(kernel, target):
        for number, fault in enumerate(faults):
            problem = {"count": 1000 + number}
            default = kernel.default(kernel.problem_type.parse(problem), target)
            yield problem, default.replace(fault=fault)

    return answers


def test_faults_of_a_gpu_cost_one_entry_each(tmp_path):
    faults = ("none", "out_of_bounds", "trap", "hang", "none", "waver", "half", "none")
    table = gpu_table(f"{KERNELS / 'scale.py'}:Scale", scales(*faults))
    report = certified(tmp_path / "table.json", table)
    assert [each.passed for each in report.examined] == [fault == "none" for fault in faults]
