"""A study begins with what its kernel predicts to be fast, if the study says so."""

from __future__ import annotations

import dataclasses
from contextlib import closing
from pathlib import Path

import pytest

from autotune.device import open_device
from autotune.errors import InvalidInput
from autotune.records import QUICK, Config, Limits, load_kernel
from autotune.store import Store
from autotune.study import StudySpec, run_study
from autotune.study.question import Question

REFERENCE = f"{Path(__file__).parents[1] / 'kernels' / 'predicting.py'}:Predicting"


@pytest.fixture
def kernel():
    return load_kernel(REFERENCE)


@pytest.fixture
def order(tmp_path, kernel):
    """Return a function that gives the twins in the order in which a study measured them."""

    def measured(**changes):
        spec = StudySpec(
            name="s",
            kernel_ref=REFERENCE,
            kernel=kernel,
            problems=(kernel.problem_type.parse({"m": 8, "n": 8, "k": 8}),),
            sampler="exhaustive",
            policy=QUICK,
            **changes,
        )
        with (
            closing(open_device("host", limits=Limits(compile_s=30.0, run_s=60.0))) as device,
            Store.open(f"sqlite:///{tmp_path}/study.db") as store,
        ):
            for twin in range(3):  # else what another test has built comes first
                built_before(device, spec, Config(twin=twin))
            run_study(spec, device=device, store=store)
            return [row.trial.config["twin"] for row in store.rows()]

    return measured


def built_before(device, spec, config):
    question = Question(dataclasses.replace(spec, prior=False), spec.problems[0], device)
    device.build(question.candidate(config)).result(60)


def test_after_the_default_comes_what_promises_most(order):
    assert order() == [0, 2, 1]


def test_without_a_prior_the_space_decides(order):
    assert order(prior=False) == [0, 1, 2]


def test_what_was_measured_before_is_not_measured_for_its_promise(order):
    assert order(prior=False, trials=2) == [0, 1]
    assert order() == [0, 1, 2]


def test_a_model_of_many_configs_may_leave_some_out_but_predicts_times(order, kernel):
    kernel.estimates = lambda *_: {Config(twin=1): float("nan"), Config(twin=2): 5}
    assert order() == [0, 2, 1]
    kernel.estimates = lambda *_: {Config(twin=1): None}
    with pytest.raises(InvalidInput, match="predicts None for twin=1: it must be a time in ns"):
        order()
