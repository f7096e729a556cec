"""Which variants are compiled together, and what is told of them."""

from __future__ import annotations

from compiling import compiled, practical

from autotune.records.targets import TARGETS
from kernel_space.gemm import Gemm, GemmProblem

TARGET = TARGETS["sm_90a"]
SHAPES = [GemmProblem(512, 512, 512), GemmProblem(1024, 1024, 1024)]


def found(problem, **where):
    space = Gemm().space(problem, TARGET)
    return next(iter(space.restricted({name: [value] for name, value in where.items()})))


def test_the_fastest_of_every_problem_come_first_and_each_binary_once():
    small, large = SHAPES
    tma, cooperative, plain = (
        found(small, mechanism=name) for name in ("tma", "ws_cooperative", "cp_async")
    )
    times = {small: {tma: 3.0, plain: 1.0, cooperative: 2.0}, large: {tma: 1.0, cooperative: 2.0}}
    units = [*practical(times, TARGET)]
    expected = [Gemm().unit(large, config, TARGET) for config in (tma, cooperative)]
    assert [unit.header for unit in units] == [unit.header for unit in expected]


def test_what_is_compiled_is_told_with_its_time_and_what_failed():
    [unit] = practical({SHAPES[0]: {found(SHAPES[0], mechanism="tma"): 1.0}}, TARGET)
    row = compiled([unit], TARGET.arch, 1)
    assert (row["binaries"], row["failed"], row["spilling"], row["serialized"]) == (1, 0, 0, 0)
    assert 0 < row["mean_s"] == row["worst_s"] <= row["seconds"]
    assert row["cpu_s"] > 0
