"""What is known from elsewhere helps where it is true, and costs little where it is not."""

from __future__ import annotations

import math
from statistics import median

import numpy as np
import pytest

from autotune.records import Config, Status
from autotune.search import FEWEST_ELSEWHERE, make_searcher
from autotune.search.belief import belief
from autotune.search.pool import Pool
from autotune.space import Parameter, Space

SPACE = Space(
    (
        *(Parameter(name, tuple(range(1, 9))) for name in ("m", "n", "k")),
        Parameter("copy", ("a", "b", "c"), ordered=False),
    )
)
VALID = list(SPACE)
SEEDS = range(3)


def _time_ns(config, *, centre=(6, 3, 7)):
    near = zip((config["m"], config["n"], config["k"]), centre, strict=True)
    return 1000.0 + 100 * sum((at - best) ** 2 for at, best in near) + 900 * (config["copy"] != "b")


def _elsewhere(*, centre=(6, 4, 7)):
    """A fifth of the space, as another problem might have measured it."""
    return {config: 7 * _time_ns(config, centre=centre) for config in VALID[::5]}


def _until_best(seed, **known):
    searcher = make_searcher("gp", space=SPACE, valid=VALID, seed=seed, **known)
    for count in range(1, len(VALID) + 1):
        config = searcher.ask()
        if _time_ns(config) == 1000.0:
            return count
        searcher.tell(config, Status.OK, _time_ns(config))
    return None


def _median_until_best(**known):
    return median(_until_best(seed, **known) for seed in SEEDS)


def test_a_like_problem_leads_to_the_best_in_few_trials():
    assert _median_until_best(elsewhere=[_elsewhere()]) < _median_until_best() / 2


def test_estimates_lead_to_the_best_in_few_trials():
    estimates = {config: _time_ns(config) ** 1.2 for config in VALID}
    assert _median_until_best(estimates=estimates) <= 2


@pytest.mark.parametrize("known", ["elsewhere", "estimates"])
def test_what_misleads_is_soon_mistrusted(known):
    """The space has 1,536 configs: a search that believed this would try the best one last."""
    if known == "elsewhere":
        wrong = {"elsewhere": [{config: 1e9 / _time_ns(config) for config in VALID[::5]}]}
    else:
        wrong = {"estimates": {config: 1e9 / _time_ns(config) for config in VALID}}
    assert _median_until_best(**wrong) < 3 * _median_until_best()


def test_strangers_failures_and_few_measurements_are_no_belief():
    pool = Pool(SPACE, VALID, seed=0)
    unknown = [math.inf] * len(VALID)
    few = dict.fromkeys(VALID[: FEWEST_ELSEWHERE - 1], 1.0)
    strangers = {Config(m=100 + i, n=1, k=1, copy="a"): 1.0 for i in range(99)}
    assert belief(pool, unknown, [few, strangers, {}]) is None
    failed = dict.fromkeys(VALID[::2], math.inf)
    assert not np.any(belief(pool, unknown, [failed]))


def test_a_belief_ranks_rows_as_the_other_problem_would():
    pool = Pool(SPACE, VALID, seed=0)
    told = belief(pool, [math.inf] * len(VALID), [_elsewhere(centre=(6, 3, 7))])
    fastest = VALID[int(told.argmin())]
    assert _time_ns(fastest) < 1300
