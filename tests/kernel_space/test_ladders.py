"""The ladders that ship: every mechanism is a rung, and each is shown wherever it can run."""

from __future__ import annotations

import pytest

from autotune.records import load_kernel
from autotune.records.targets import TARGETS

PROBLEMS = {
    "gemm": (
        {"m": 4096, "n": 4096, "k": 4096},
        {"m": 4096, "n": 4096, "k": 4096, "dtype": "fp32", "layout": "nn"},
        {"m": 512, "n": 768, "k": 1024, "dtype": "fp16", "layout": "tt"},
        {"m": 16, "n": 64, "k": 64},
        {"m": 300, "n": 500, "k": 1002, "layout": "nt"},
        {"m": 7, "n": 9, "k": 11},
        {"m": 4096, "n": 512, "k": 4096, "dtype": "e4m3-bf16"},
    ),
    "stream": (
        {"count": 100_000_000},
        {"count": 7, "dtype": "bf16", "operation": "triad"},
    ),
}
CASES = [
    (name, fields, arch)
    for name, problems in PROBLEMS.items()
    for fields in problems
    for arch in ("sm_80", "sm_89", "sm_90a")
]


@pytest.fixture(
    params=CASES, ids=lambda case: f"{case[0]}-{case[2]}-{','.join(map(str, case[1].values()))}"
)
def climbed(request):
    name, fields, arch = request.param
    kernel, target = load_kernel(name), TARGETS[arch]
    problem = kernel.problem_type.parse(fields)
    return kernel.ladder(problem, target), kernel.space(problem, target)


def test_every_mechanism_is_a_rung_in_the_order_of_the_space(climbed):
    rungs, space = climbed
    mechanisms = next(p for p in space.parameters if p.name == "mechanism").values
    assert [rung.name for rung in rungs] == list(mechanisms)
    assert all(rung.change and rung.why for rung in rungs)


def test_what_stands_for_a_rung_is_one_of_it_and_names_every_parameter(climbed):
    rungs, space = climbed
    names = {parameter.name for parameter in space.parameters}
    for rung in rungs:
        assert all(rung.holds(config) and set(config) == names for config in rung.preferred)


def test_a_rung_is_shown_wherever_any_config_of_it_is_valid(climbed):
    rungs, space = climbed
    for rung in rungs:
        if all(space.broken(config) for config in rung.preferred):
            of_it = space.restricted({name: [value] for name, value in rung.where.items()})
            assert next(iter(of_it), None) is None, rung.name
