"""Kernels whose own code fails: one line, and no study without a row."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotune.device import open_device
from autotune.errors import InvalidInput, ToolchainBroken
from autotune.records import QUICK, Limits, Status, load_kernel
from autotune.study import StudySpec, run_study

UNSOUND = Path(__file__).parents[1] / "kernels" / "unsound.py"


@pytest.fixture(scope="module")
def device():
    device = open_device("host", limits=Limits(compile_s=30.0, run_s=60.0))
    yield device
    device.close()


def study(name, **changes):
    reference = f"{UNSOUND}:{name}"
    kernel = load_kernel(reference)
    problem = kernel.problem_type.parse({"m": 8, "n": 8, "k": 8})
    return StudySpec(
        name="s",
        kernel_ref=reference,
        kernel=kernel,
        problems=(problem,),
        sampler="random",
        policy=QUICK.replace(stop_factor=0.0),  # a slow moment must not decide how a trial ends
        **changes,
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Space_", r"kernel 'unsound': space\(\) for m=8,n=8,k=8 raises KeyError: 'no space'"),
        ("Default", r"default\(\) for m=8,n=8,k=8 raises KeyError"),
        ("Unit", r"unit\(\) for m=8,n=8,k=8 raises KeyError"),
        ("Launch", r"launch\(\) for m=8,n=8,k=8 raises KeyError"),
        ("Operands", r"operands\(\) for m=8,n=8,k=8 raises KeyError: 'no operands'"),
        ("Misnaming", r"launch\(\) for m=8,n=8,k=8: argument 'd' is neither operand nor scratch"),
        ("Reference", "no inputs or reference .*KeyError: 'no reference'"),
        ("Tolerance", "no inputs or reference .*KeyError: 'no tolerance'"),
        ("Cost", "no inputs or reference .*KeyError: 'no cost'"),
        ("Estimate", r"estimates\(\) for m=8,n=8,k=8 raises KeyError: 'no estimate'"),
        ("Aloof", r"space\(\) for m=8,n=8,k=8 returns NoneType, not Space"),
    ],
)
def test_a_kernel_that_cannot_answer_ends_the_study_in_one_line(device, store, name, words):
    with pytest.raises(InvalidInput, match=words) as caught:
        run_study(study(name), device=device, store=store)
    assert "\n" not in caught.value.message
    assert store.studies() == []


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("SomeUnits", Status.COMPILE_ERROR, "unit() for m=8,n=8,k=8 raises ValueError: no source"),
        ("SomeLaunches", Status.RUNTIME_ERROR, "raises ValueError: no launch for 1"),
    ],
)
def test_a_config_that_the_kernel_fails_at_costs_one_row(device, store, name, status, words):
    report = run_study(study(name), device=device, store=store).problems[0]
    assert report.statuses == {Status.OK: 2, status: 1}
    assert words in store.failures()[0].trial.message


def test_a_header_that_the_kernel_lacks_is_named_before_any_trial(device, store):
    words = r"c\+\+ cannot find the header <no_such_library\.h> that .*headless\.cpp needs"
    with pytest.raises(ToolchainBroken, match=words):
        run_study(study("Headless"), device=device, store=store)
    assert store.studies() == []


def test_an_unknown_parameter_leaves_no_study_behind(device, store):
    with pytest.raises(InvalidInput, match="unknown parameter 'tiles'"):
        run_study(study("Unsound", space={"tiles": [1]}), device=device, store=store)
    assert store.studies() == []
