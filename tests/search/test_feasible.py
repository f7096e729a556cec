"""What a search makes of failures, on what an H200 measured."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from autotune.device import open_device
from autotune.records import Limits, Status, load_kernel
from autotune.search import make_searcher
from autotune.search.feasible import LEAST, Feasibility
from autotune.search.gaussian import Likeness
from autotune.search.pool import Pool
from autotune.space import Parameter, Space

GEMM = load_kernel("gemm")
SMALL_K = GEMM.problem_type.parse({"m": 8192, "n": 8192, "k": 512})
LINE = Space((Parameter("x", tuple(range(21))), Parameter("y", tuple(range(5)))))


def test_two_neighbours_that_spill_do_not_hide_the_fastest():
    """Of its tile, all that share an operand in a cluster spill; those promise most."""
    with closing(open_device("recording:h200", limits=Limits())) as device:
        (times,) = (
            trials
            for context, trials in device.answers()
            if (context.kernel, context.problem.key) == (GEMM.name, SMALL_K.key)
        )
        target = device.identity.target
    trials = {trial.config: trial for trial in times.values()}
    fastest = min((t for t in trials.values() if t.median_ns), key=lambda t: t.median_ns)
    estimates = GEMM.estimates(SMALL_K, trials, target)
    searcher = make_searcher(
        "gp",
        space=GEMM.space(SMALL_K, target),
        valid=list(trials),
        seed=0,
        estimates={
            config: ns * (1.0 if _shares(config) else 1.15) for config, ns in estimates.items()
        },
    )
    spilt = set()
    for _ in range(150):
        trial = trials[searcher.ask()]
        if trial.status is Status.RESOURCES:
            spilt.add(trial.config["tile_n"])
        if trial is fastest:
            break
        searcher.tell(trial.config, trial.status, trial.median_ns)
    assert trial is fastest
    assert fastest.config["tile_n"] in spilt


def _shares(config):
    return config["cluster_m"] * config["cluster_n"] > 1


def feasibility(failed):
    """Return the chances of all configs of a plane, of which each third is known."""
    pool = Pool(LINE, list(LINE), seed=0)
    known = np.arange(0, len(pool), 3)
    fates = np.array([failed(config) for config in LINE])[known]
    model = Feasibility(pool, Likeness(pool.axes), known, fates)
    chances = model.chances(known, fates, np.arange(len(pool)))
    return dict(zip(LINE, chances, strict=True))


def test_what_lies_among_failures_is_unlikely_to_run():
    chances = feasibility(lambda config: config["x"] > 10)
    beyond = [chance for config, chance in chances.items() if config["x"] > 12]
    before = [chance for config, chance in chances.items() if config["x"] < 9]
    assert max(beyond) < 0.3
    assert min(before) > 0.7


@pytest.mark.parametrize("fails", [True, False])
def test_nothing_is_impossible_nor_more_than_sure(fails):
    chances = feasibility(lambda config: fails or config["x"] == 0)
    assert all(LEAST <= chance <= 1 for chance in chances.values())


PLANE = Space((Parameter("x", tuple(range(40))), Parameter("y", tuple(range(20)))))


@pytest.fixture(scope="module")
def walled():
    """A search where times fall up to a wall, beyond which all fail, and the fates it met."""
    searcher = make_searcher("gp", space=PLANE, valid=list(PLANE), seed=0)
    ran = []
    for _ in range(72):
        config = searcher.ask()
        ran.append(config["x"] <= 20)
        time_ns = 100.0 - 3 * config["x"] + abs(config["y"] - 10) / 2
        status = Status.OK if ran[-1] else Status.RESOURCES
        searcher.tell(config, status, time_ns if ran[-1] else None)
    return searcher, ran


def test_a_search_does_not_run_against_a_wall_for_good(walled):
    _, ran = walled
    assert sum(ran[-32:]) >= 12


def test_no_gain_is_expected_of_what_surely_fails(walled):
    searcher, _ = walled
    assert searcher.chance(0.01) < 0.05
