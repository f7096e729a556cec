from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from autotune.errors import InvalidInput, NoValidConfig
from autotune.interop import import_files
from autotune.records import Status
from autotune.score.kernel_tuner import _recorded
from autotune.score.reading import read_landscapes
from autotune.store import Filter, Store

EVERYTHING = Filter()


def cache(rows):
    return {
        "device_name": "Some GPU",
        "kernel_name": "vadd",
        "problem_size": [1024],
        "tune_params_keys": ["x", "f"],
        "tune_params": {"x": [1, 2, 3], "f": [0.5, 1.5]},
        "cache": {f"{row['x']},{row['f']}": row for row in rows},
    }


COSTS = {"compile_time": 100, "benchmark_time": 10, "framework_time": 1, "strategy_time": 2}
ROWS = [
    {"x": 1, "f": 0.5, "time": 3.0, **COSTS, "verification_time": 4},
    {"x": 2, "f": 0.5, "time": 2.0, **COSTS},
    {"x": 3, "f": 1.5, "time": "RuntimeFailedConfig", "compile_time": 70},
]


@pytest.fixture
def file(tmp_path):
    def write(rows=ROWS, name="vadd.json.gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(json.dumps(cache(rows)).encode()))
        return str(path)

    return write


def test_a_file_of_another_tuner_is_read_with_its_costs_and_failures(file):
    (space,) = read_landscapes([file()], EVERYTHING, prior=False)
    assert (space.recording, space.kernel, space.device) == ("vadd.json.gz", "vadd", "Some GPU")
    assert space.value_ns.tolist() == [3e6, 2e6, np.inf]
    assert space.cost_ns.tolist() == [117e6, 113e6, 70e6]
    assert space.statuses == (Status.OK, Status.OK, Status.RUNTIME_ERROR)
    assert space.priced


def test_without_costs_every_configuration_costs_the_same(file):
    bare = [{"x": x, "f": 0.5, "time": float(x)} for x in (1, 2, 3)]
    (space,) = read_landscapes([file(bare)], EVERYTHING, prior=False)
    assert space.cost_ns.tolist() == [1, 1, 1]
    assert not space.priced


def test_a_database_gives_every_problem_that_is_wanted(tmp_path, file):
    database = str(tmp_path / "results.db")
    with Store.open(database) as store:
        list(import_files([Path(file())], store))
    (space,) = read_landscapes([database], Filter(problem={"x": "1024"}), prior=False)
    assert space.problem == {"x": 1024}
    for wanted in (Filter(problem={"x": 7}), Filter(kernel="gemm"), Filter(problem={"y": 1})):
        with pytest.raises(NoValidConfig, match="no recorded problem matches"):
            read_landscapes([database], wanted, prior=False)


def test_a_recording_that_ships_is_known_by_its_name():
    wanted = Filter(kernel="gemm", problem={"m": 16})
    (cold,), (warm,) = (read_landscapes(["h200"], wanted, prior=prior) for prior in (False, True))
    assert len(cold.configs) == 2022
    assert (cold.first, cold.estimates) == ((), {})
    assert warm.first[0] in warm.configs
    assert len(warm.estimates) > 1000


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "nor a file of that name; shipped are h200"), ("{}", "no results of a tuner")],
)
def test_what_is_no_recording_is_refused_by_name(tmp_path, content, reason):
    path = tmp_path / "what.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InvalidInput, match=reason) as refused:
        read_landscapes([str(path)], EVERYTHING, prior=False)
    assert "what.json" in refused.value.message


def test_what_kernel_tuner_is_given_says_the_same(file, tmp_path):
    """Fractions, which configs hold as text, are numbers there again."""
    (space,) = read_landscapes([file()], EVERYTHING, prior=False)
    document = _recorded(space)
    assert document["tune_params"] == {"x": [1, 2, 3], "f": [0.5, 1.5]}
    back = tmp_path / "back.json"
    back.write_text(json.dumps(document))
    (again,) = read_landscapes([str(back)], EVERYTHING, prior=False)
    assert again.configs == space.configs
    assert again.value_ns.tolist() == space.value_ns.tolist()
    assert again.cost_ns.tolist() == space.cost_ns.tolist()
