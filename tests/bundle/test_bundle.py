"""A bundle runs what its table says, with no compiler; and it appears whole or not at all."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from made_tables import HOST, host_text, table_text

from autotune.bundle import Packed, write_bundle
from autotune.device.host import HostBackend
from autotune.dispatch import Table
from autotune.dispatch.bundle import Bundle
from autotune.errors import InvalidInput, InvalidTable, NoValidConfig
from autotune.launcher import Dispatcher, gpu
from autotune.launcher.plan import Planner
from autotune.records import Config, Failure, load_kernel
from autotune.records.targets import TARGETS

SQUARE = {"m": 4096, "n": 4096, "k": 4096, "dtype": "bf16", "layout": "nt"}


@pytest.fixture
def _no_compiler(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CXX", "no-such-compiler")


@pytest.mark.usefixtures("_no_compiler")
def test_a_problem_that_nobody_tuned_is_computed_from_a_bundle(host_bundle):
    bundle = Bundle.open(host_bundle)
    choice = bundle.table.lookup(m=70, n=33, k=65)
    kernel = load_kernel("host_matmul")
    problem, config = kernel.problem_type(m=70, n=33, k=65), Config(choice.config)
    binary = Packed(bundle).find(kernel.unit(problem, config, HOST), HOST.arch)
    draw = np.random.default_rng(0)
    a, b = (draw.random(shape, np.float32) for shape in ((70, 65), (65, 33)))
    c = np.full((70, 33), np.nan, np.float32)
    launch = kernel.launch(problem, config, HOST)
    HostBackend().program(binary, launch).run({"a": a, "b": b, "c": c})
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


def test_an_answer_has_a_binary_for_ragged_rows_too(hopper_bundle):
    bundle = Bundle.open(hopper_bundle)
    third = [each.arguments[2] for each in bundle.launches if each.at == 0]
    assert [(each.kind, each.operand) for each in third] == [
        ("tensor_map", "c"),
        ("tensor_map", "a"),
    ]
    assert len({each.unit for each in bundle.launches}) == len(bundle.binaries) == 3
    assert {each.registers for each in bundle.binaries.values()} > {168}


@pytest.mark.parametrize("n", [4096, 4090, 17])
def test_the_launcher_plans_from_a_bundle_alone(hopper_bundle, monkeypatch, n):
    monkeypatch.setattr(gpu, "target", lambda device: TARGETS["sm_90a"])
    monkeypatch.setattr(gpu, "Program", lambda binary, launch: (binary, launch))
    bundle = Bundle.open(hopper_bundle)
    monkeypatch.setattr(gpu, "running", lambda device: bundle.table.device)
    planner = Planner(bundle.table, "gemm", Packed(bundle))
    plan = planner.plan(planner.problem(SQUARE | {"n": n}), 0)
    assert plan.choice.source == ("exact" if n == 4096 else "nearest")
    assert plan.program[0].path.startswith(str(hopper_bundle))


def test_the_launcher_opens_a_folder_as_a_bundle(hopper_bundle):
    assert set(Dispatcher(hopper_bundle).table.kernels) == {"gemm"}
    with pytest.raises(InvalidTable, match=r"manifest\.json: cannot be read"):
        Dispatcher(hopper_bundle.parent)


def test_a_config_without_a_binary_is_passed_over(hopper_bundle):
    bundle, gemm, target = Bundle.open(hopper_bundle), load_kernel("gemm"), TARGETS["sm_90a"]
    problem = gemm.problem_type.parse(SQUARE)
    unit = gemm.unit(problem, gemm.default(problem, target), target)
    found = Packed(bundle).find(unit, target.arch)
    assert isinstance(found, Failure)
    assert "no binary of this config" in found.message


def test_opening_needs_the_standard_library_alone(host_bundle):
    code = (
        "import sys; from autotune.dispatch.bundle import Bundle; "
        f"Bundle.open({str(host_bundle)!r}).table.lookup(m=1, n=1, k=1); "
        "print(sorted({n.partition('.')[0] for n in sys.modules} - sys.stdlib_module_names))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path}; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(eval(done.stdout)) <= {"__main__", "autotune"}


def test_a_folder_that_is_there_is_left_alone(tmp_path, host_bundle):
    with pytest.raises(InvalidInput, match="is there already"):
        write_bundle(host_bundle / "table.json", host_bundle)
    with pytest.raises(InvalidInput, match="there is no folder"):
        write_bundle(host_bundle / "table.json", tmp_path / "nowhere" / "bundle")


def test_what_does_not_compile_leaves_nothing(tmp_path, binaries):
    document = json.loads(host_text())
    for answer in document["kernels"]["host_matmul"]["entries"]:
        answer["config"]["order"] = "jik"
    (tmp_path / "table.json").write_text(json.dumps(document))
    with pytest.raises(NoValidConfig, match=r"host_matmul\.entries\[0\] does not compile"):
        write_bundle(tmp_path / "table.json", tmp_path / "bundle", store=binaries)
    assert [path.name for path in tmp_path.iterdir()] == ["table.json"]


def test_calls_of_a_library_have_no_binary(tmp_path):
    document = json.loads(table_text(load_kernel("gemm"), TARGETS["sm_90a"], [(SQUARE, {})]))
    document["kernels"]["gemm"]["kernel_ref"] = "cublas"
    (tmp_path / "table.json").write_text(json.dumps(document))
    with pytest.raises(InvalidInput, match="has no binary"):
        write_bundle(tmp_path / "table.json", tmp_path / "bundle")


def test_the_table_of_a_bundle_is_the_table(host_bundle):
    assert Bundle.open(host_bundle).table.kernels == Table.parse(host_text()).kernels
