"""Small landscapes, made up, on which scores can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from autotune.records import Config, Measurement, Status, Trial
from autotune.score.landscape import landscape_of
from autotune.space import Parameter, Space


def trial(place, value_ns, cost_ns=0):
    failed = value_ns is None
    return Trial(
        number=place,
        problem_key="",
        config=Config(x=place),
        status=Status.RUNTIME_ERROR if failed else Status.OK,
        measurement=None if failed else Measurement(samples_ns=(float(value_ns),)),
        device_ns=cost_ns,
    )


@pytest.fixture
def landscape():
    """Return a landscape of one parameter: a value or, for a failure, None for each level."""

    def made(values_ns, costs_ns=None, **more):
        costs = costs_ns if costs_ns is not None else [0] * len(values_ns)
        told = zip(values_ns, costs, strict=True)
        trials = [trial(place, value, cost) for place, (value, cost) in enumerate(told)]
        space = Space((Parameter("x", tuple(range(len(trials)))),))
        names = {"recording": "made", "kernel": "made", "problem": {"n": 1}, "device": "up"}
        return landscape_of(trials, space=space, **{**names, **more})

    return made


@pytest.fixture
def rugged(landscape):
    """Return a landscape of 400 random values, each of the same cost."""
    values = np.random.default_rng(1).gamma(4.0, 25.0, 400) + 10.0
    return landscape(values.tolist(), [1000] * len(values))
