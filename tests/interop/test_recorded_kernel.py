from __future__ import annotations

import pytest

from autotune.device import open_device
from autotune.errors import InvalidInput
from autotune.interop import Known, import_files
from autotune.records import Limits, Status, load_kernel
from autotune.store import Store
from autotune.study import load_study, run_study

STUDY = """
name = "again"
kernel = "imported.db:blur"
[search]
sampler = "exhaustive"
[problems]
shapes = [[512, 256]]
"""


@pytest.fixture
def recorded(imported, database):
    imported("cache.json")
    return database


@pytest.fixture
def study(recorded):
    path = recorded.with_name("study.toml")
    path.write_text(STUDY)
    return path


def test_a_study_runs_on_what_was_imported(study, recorded, tmp_path):
    device = open_device(f"recording:{recorded}", limits=Limits())
    with Store.open(str(tmp_path / "runs.db")) as runs:
        report = run_study(load_study(study), device=device, store=runs)
        rows = runs.rows()
    device.close()
    (found,) = report.problems
    assert found.statuses == {
        Status.OK: 2,
        Status.RUNTIME_ERROR: 1,
        Status.COMPILE_ERROR: 1,
        Status.CONSTRAINT: 1,
    }
    assert (found.best.median_ns, found.best.config["block"]) == (10_100.0, 32)
    assert {row.context.replayed_from for row in rows} == {f"recording:{recorded}"}
    assert not any(row.trial.verified for row in rows)


def test_the_space_is_what_the_file_lists(recorded):
    kernel = load_kernel(f"{recorded}:blur")
    problem = kernel.problem_type.parse({"x": 512, "y": 256})
    space = kernel.space(problem, None)
    values = {each.name: (each.values, each.ordered) for each in space.parameters}
    assert values == {
        "block": ((32, 64, 128), True),
        "vector": (("True", "False"), False),
        "unroll": (("0.5", "2.0"), True),
        "method": (("direct", 1, "2.45", "None"), False),
    }
    assert space.broken(kernel.default(problem, None)) is None


def test_studies_of_one_kernel_share_its_space(imported, store, data, database):
    imported("cache_unfinished.json")
    list(import_files([data / "cache_old.json"], store, Known(kernel="other")))
    list(import_files([data / "t4.json"], store, Known(kernel="blur", problem={"x": 1})))
    with pytest.raises(InvalidInput, match="studies of 'blur' differ in their parameters"):
        load_kernel(f"{database}:blur")
    assert load_kernel(f"{database}:other").name == "other"


def test_a_kernel_that_is_not_there_is_refused_with_those_that_are(recorded):
    with pytest.raises(InvalidInput, match="has no imported kernel 'sharpen'; it has blur"):
        load_kernel(f"{recorded}:sharpen")
