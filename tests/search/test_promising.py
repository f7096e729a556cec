"""A search that is told what a model predicts."""

from __future__ import annotations

import math

import pytest

from autotune.records import Config, Status
from autotune.search import make_searcher
from autotune.space import Parameter, Space

SPACE = Space(
    (
        *(Parameter(name, (1, 2, 3, 4, 5, 6)) for name in ("m", "n", "k")),
        Parameter("swizzle", ("x", "y"), ordered=False),
    )
)
VALID = list(SPACE)
TRUSTING = ("tpe", "local", "exhaustive")
MODELS = ("tpe", "local")


def _time_ns(config):
    bowl = (config["m"] - 4) ** 2 + (config["n"] - 3) ** 2 + (config["k"] - 5) ** 2
    return 1000.0 + 100 * bowl + 150 * (config["swizzle"] != "y")


PREDICTED = {config: _time_ns(config) for config in VALID}
MISLEADING = {config: 1 / ns for config, ns in PREDICTED.items()}
BEST = min(VALID, key=_time_ns)


def _asked(name, trials, estimates, *, seed=0, valid=VALID):
    searcher = make_searcher(name, space=SPACE, valid=valid, seed=seed, estimates=estimates)
    asked = []
    for _ in range(trials):
        asked.append(searcher.ask())
        searcher.tell(asked[-1], Status.OK, _time_ns(asked[-1]))
    return asked


def _steps(a, b):
    return sum(abs(a[x] - b[x]) for x in "mnk") + (a["swizzle"] != b["swizzle"])


@pytest.mark.parametrize("name", TRUSTING)
def test_what_promises_most_comes_first(name):
    assert _asked(name, 1, PREDICTED) == [BEST]


def test_exhaustive_goes_in_the_order_of_the_estimates():
    times = [PREDICTED[config] for config in _asked("exhaustive", len(VALID), PREDICTED)]
    assert times == sorted(times)


@pytest.mark.parametrize("name", MODELS)
def test_the_first_are_promising_and_unlike_each_other(name):
    first = _asked(name, 10, PREDICTED)
    assert all(_steps(a, b) >= 4 for i, a in enumerate(first) for b in first[:i])
    by_chance = sorted(PREDICTED.values())[len(VALID) // 2]
    assert max(map(_time_ns, first)) < by_chance


@pytest.mark.parametrize("name", TRUSTING)
@pytest.mark.parametrize("estimates", [PREDICTED, MISLEADING, dict.fromkeys(VALID, 5.0)])
def test_no_config_is_left_out_for_its_estimate(name, estimates):
    valid = VALID[::3]
    assert set(_asked(name, len(valid), estimates, valid=valid)) == set(valid)


@pytest.mark.parametrize("name", TRUSTING)
def test_a_config_without_an_estimate_comes_after_those_that_promise(name):
    known = {config: PREDICTED[config] for config in VALID[:5]}
    assert _asked(name, 1, known) == [min(known, key=known.get)]
    assert set(_asked(name, len(VALID), known)) == set(VALID)


@pytest.mark.parametrize("seed", range(3))
def test_a_misleading_model_does_not_keep_tpe_from_the_best(seed):
    """What it is told to try first is bad; then it draws at random, as it would have."""
    misled = _asked("tpe", 120, MISLEADING, seed=seed)
    assert min(map(_time_ns, misled)) == _time_ns(BEST)


def test_random_listens_to_no_model():
    assert _asked("random", 30, PREDICTED) == _asked("random", 30, None)


@pytest.mark.parametrize("name", TRUSTING)
def test_a_search_that_is_told_its_past_goes_on_where_it_was(name):
    whole = _asked(name, 40, PREDICTED)
    for told in (3, 10, 25):
        resumed = make_searcher(name, space=SPACE, valid=VALID, seed=0, estimates=PREDICTED)
        for config in whole[:told]:
            resumed.tell(config, Status.OK, _time_ns(config))
        assert resumed.ask() == whole[told]


@pytest.mark.parametrize("name", TRUSTING)
@pytest.mark.parametrize("count", [0, 1])
def test_a_space_with_nothing_to_choose_ends_cleanly(name, count):
    searcher = make_searcher(name, space=SPACE, valid=VALID[:count], seed=0, estimates=PREDICTED)
    assert [searcher.ask() for _ in range(count + 1)] == [*VALID[:count], None]


@pytest.mark.parametrize("name", TRUSTING)
def test_estimates_of_strangers_are_ignored(name):
    stranger = Config(m=9, n=9, k=9, swizzle="z")
    assert _asked(name, 5, {**PREDICTED, stranger: 1e-9}) == _asked(name, 5, PREDICTED)


@pytest.mark.parametrize("name", TRUSTING)
def test_an_estimate_that_is_infinite_promises_nothing(name):
    estimates = {**dict.fromkeys(VALID, math.inf), VALID[7]: 3.0}
    assert _asked(name, 1, estimates) == [VALID[7]]
