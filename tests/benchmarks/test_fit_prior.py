"""Fitting the prediction: it finds constants again from times that they predict."""

from __future__ import annotations

import fit_prior
import pytest

from kernel_space.gemm import GemmProblem

SHAPES = ((512, 512, 512), (4096, 4096, 1024), (300, 1000, 1112))


@pytest.fixture
def today():
    constants = fit_prior.values()
    yield constants
    fit_prior.put(constants)


def cases():
    for m, n, k in SHAPES:
        problem = GemmProblem(m, n, k)
        space = fit_prior.KERNEL.space(problem, fit_prior.DEVICE)
        configs = [c for c in space.sample(4000, seed=0) if c["mechanism"] == "ws_cooperative"]
        times = fit_prior.KERNEL.estimates(problem, configs, fit_prior.DEVICE)
        yield fit_prior.Case(problem=problem, times_ns=times, weight=1.0)


def test_a_constant_is_found_again(today):
    latency, *others = today
    fit_prior.put([2 * latency, *others])
    measured = [*cases()]
    assert all(case.loss() == 0 for case in measured)
    fit_prior.put(today)
    assert any(case.loss() > 0 for case in measured)
    found = fit_prior.fitted(measured, today)
    assert found[0] == pytest.approx(2 * latency, rel=0.1)


def test_what_a_constant_is_called_is_where_it_stands(today):
    fit_prior.put([2 * value for value in today])
    assert fit_prior.values() == [2 * value for value in today]
    assert fit_prior.prior.EXPOSED["ws_basic"] == 2 * today[10]
