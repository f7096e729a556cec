"""How problems that nobody tuned are drawn, answered and judged; none of it needs a GPU."""

from __future__ import annotations

import json

import pytest
from made_table import table_text
from unseen import by_answer
from unseen_again import again, target_of
from unseen_meeting import Builds, Candidates
from unseen_problems import KERNEL, Family, drawn, family_of, suite
from unseen_rules import BEST_OF_TABLE, LIBRARY, RULES, Rules, lines, summary

from autotune.dispatch import Table
from autotune.records import Config
from autotune.records.targets import TARGETS
from autotune.toolchain import BinaryStore, CompilePool, Nvrtc
from kernel_space.gemm import GemmProblem

TARGET = TARGETS["sm_90a"]
WIDE, TALL, SMALL = (512, 8192, 4096), (8192, 512, 4096), (512, 512, 512)


def config_of(problem, **changes):
    return KERNEL.default(problem, TARGET).replace(**changes)


@pytest.fixture
def table():
    tuned = {
        WIDE: {"mechanism": "ws_cooperative"},
        TALL: {"mechanism": "ws_basic"},
        SMALL: {"mechanism": "ws_pingpong", "tile_n": 64},
    }
    answers = [(GemmProblem(*shape).as_dict(), changes) for shape, changes in tuned.items()]
    return Table.parse(table_text(KERNEL, TARGET, answers))


def entry_of(table, shape):
    [config] = [
        entry.config
        for entry in table.kernels["gemm"].entries
        if tuple(entry.problem[name] for name in "mnk") == shape
    ]
    return dict(config)


def test_problems_are_of_each_family_in_turn_and_none_of_the_suite():
    groups = suite()
    problems = drawn(groups, 60, seed=3)
    assert problems == drawn(groups, 200, seed=3)[:60] != drawn(groups, 60, seed=4)
    assert [family_of(problem) for problem in problems] == [*groups] * 10
    assert len({*problems, *(each for some in groups.values() for each in some)}) == 60 + 32


def test_a_problem_keeps_what_its_family_has_in_common():
    groups = suite()
    for problem in drawn(groups, 120, seed=0):
        family = Family.of(groups[family_of(problem)])
        shape = (problem.m, problem.n, problem.k)
        for extent, low, high, step in zip(
            shape, family.low, family.high, family.step, strict=True
        ):
            assert low - step < extent < high + step
            assert extent % step == 0
        assert not family.cubes or len(set(shape)) == 1


def test_rules_differ_in_what_they_call_near(table):
    rules = Rules(table, TARGET)
    problem = GemmProblem(2048, 512, 4096)  # as much work as WIDE / 4, and rows like those of TALL
    answers = {rule: each.as_dict() for rule, each in rules.answers(problem).items()}
    assert set(answers) == set(RULES)
    assert answers["table"] == answers["nearest M"] == entry_of(table, TALL)
    wider = GemmProblem(512, 1024, 512)
    assert rules.answers(wider)["nearest volume"].as_dict() == entry_of(table, SMALL)


def test_a_problem_is_tuned_with_the_table_its_neighbours_and_the_best_predicted(table):
    near, far = GemmProblem(1024, 1024, 4096), GemmProblem(16, 8192, 8192)
    winner = config_of(near, mechanism="ws_basic", tile_n=96)
    fast = [config_of(far, mechanism="ws_basic", tile_n=n) for n in (48, 80, 112, 144)]
    measured = {near: {winner: 1.0}, far: dict.fromkeys(fast, 1.0)}
    rules = Rules(table, TARGET)
    problem = GemmProblem(2048, 1024, 4096)
    found = Candidates(rules, measured, TARGET, predicted=1).of(problem)
    assert {*rules.portfolio(problem), *rules.answers(problem).values(), winner} <= set(found)
    assert len(found) == len(set(found))
    space = KERNEL.space(problem, TARGET)
    assert not [config for config in found if space.broken(config)]


def test_what_was_measured_often_is_tried_if_asked_for(table):
    problem = GemmProblem(2048, 1024, 4096)
    often = config_of(problem, mechanism="ws_basic", raster_group=8)
    faster = [config_of(problem, raster_group=group) for group in (1, 8)]
    faster += [config_of(problem, mechanism="ws_cooperative", raster_group=8)]
    shapes = [(16, 8192, 8192), (16, 4096, 8192), (16, 8192, 4096), (16, 4096, 4096)]
    measured = {GemmProblem(*shape): dict.fromkeys([*faster, often], 1.0) for shape in shapes}
    rules = Rules(table, TARGET)
    tried = {
        crossed: set(Candidates(rules, measured, TARGET, predicted=0, crossed=crossed).of(problem))
        for crossed in (0, 4, 6)
    }
    assert often in tried[4] - tried[6]
    assert tried[0] == tried[6]


def test_problems_share_a_binary(tmp_path):
    some, other = GemmProblem(512, 512, 512), GemmProblem(1024, 2048, 512)
    config = config_of(some)
    with CompilePool(Nvrtc(), BinaryStore(tmp_path), arch="sm_90a", limit_s=120, workers=1) as pool:
        builds = Builds(pool, TARGET)
        for problem in (some, other):
            builds.start(problem, [config, config.replace(raster_group=8)])
        assert len(builds) == 1
        assert len(builds.names) == 2


def row(family, best, **us):
    return {"family": family, "best_us": best, "us": us}


def test_regret_is_over_the_fastest_config_and_by_family():
    rows = [
        row("square", 10.0, table=11.0, cuBLAS=22.0),
        row("decode", 10.0, table=10.0, cuBLAS=5.0),
        row("decode", 10.0, table=13.0, cuBLAS=13.0),
        row("decode", None),
    ]
    found = {each["rule"]: each for each in summary(rows)}
    ours = found["table"]
    assert (ours["judged"], ours["mean"], ours["worst"]) == (3, 0.1333, 0.3)
    assert ours["families"] == {"decode": 0.15, "square": 0.1}
    assert ours["against_cublas"] == 1.0
    assert found[LIBRARY]["families"]["decode"] == -0.1
    assert found["nearest M"]["judged"] == 0
    told = lines(found.values())
    assert "mean  13.3%" in told[0]
    assert "not judged" in told[1]
    json.dumps([*found.values()], allow_nan=False)


def test_the_best_of_the_table_is_its_fastest_config_in_the_run():
    us = {"a": 3.0, "b": 2.0, "c": 1.0, "torch.matmul": 4.0, "cublasLt 2": 3.5}
    found = by_answer(us, {"table": "a", "nearest M": "gone"}, held=["a", "b"])
    assert found == {"table": 3.0, BEST_OF_TABLE: 2.0, LIBRARY: 4.0, "cublasLt": 3.5}


def test_another_table_is_judged_by_what_was_timed(table):
    rules = Rules(table, TARGET)
    problem = GemmProblem(2048, 512, 4096)
    wide, tall, small = (Config(entry_of(table, shape)) for shape in (WIDE, TALL, SMALL))
    timed = {
        "family": "prefill",
        **problem.as_dict(),
        "us": {LIBRARY: 3.0},
        "brief_us": {"a": 1.0, "b": 1.5, "c": 2.0},
        "wrong": {"a": 7},
        "best": "b",
    }
    named = [
        {"name": name, "config": config.as_dict()}
        for name, config in zip("abc", (wide, tall, small), strict=True)
    ]
    [found] = again([{"rule": "table"}, timed, *named], rules)
    assert found["best_us"] == 1.5  # for what was wrong is out
    assert found["us"]["table"] == found["us"][BEST_OF_TABLE] == 1.5
    assert found["us"][LIBRARY] == 3.0
    [found] = again([timed, *named[:1]], rules)
    assert set(found["us"]) == {LIBRARY}  # no other answer was timed


def test_a_table_says_what_device_it_is_of(table):
    assert target_of(table) == TARGET
