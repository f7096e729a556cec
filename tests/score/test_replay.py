"""A replay asks what a study on the same recording asks."""

from __future__ import annotations

from contextlib import closing

import pytest

from autotune.device import open_device
from autotune.records import Limits, Status, load_kernel
from autotune.score.reading import read_landscapes
from autotune.score.replay import Budget, replay
from autotune.store import Filter, Store
from autotune.study import StudySpec, run_study

TRIALS = 30
SMALL = {"m": 16, "n": 4096, "k": 7168}


def studied(path, sampler):
    """Return the configs that a study on the shipped recording asked for."""
    kernel = load_kernel("gemm")
    problem = kernel.problem_type.parse(SMALL)
    spec = StudySpec(
        name="s",
        kernel_ref="gemm",
        kernel=kernel,
        problems=(problem,),
        sampler=sampler,
        trials=TRIALS,
        seed=7,
    )
    with (
        closing(open_device("recording:h200", limits=Limits())) as device,
        Store.open(str(path)) as store,
    ):
        run_study(spec, device=device, store=store)
        return [row.trial.config for row in store.rows()]


@pytest.mark.parametrize("sampler", ["tpe", "local"])
def test_a_replay_asks_what_a_study_asks(tmp_path, sampler):
    (space,) = read_landscapes(["h200"], Filter(kernel="gemm", problem=SMALL), prior=True)
    assert space.first
    budget = Budget(cost_ns=0.0, measurements=TRIALS)
    rows = replay(space, sampler, seed=7, budget=budget)
    assert [space.configs[row] for row in rows] == studied(tmp_path / "s.db", sampler)


def test_a_search_goes_on_until_both_time_and_measurements_are_used_up(landscape):
    space = landscape([5, 4, 3, 2, 1], [10, 10, 10, 10, 10])
    lengths = [
        len(replay(space, "random", seed=0, budget=Budget(cost_ns=ns, measurements=count)))
        for ns, count in ((0, 3), (25, 1), (35, 2), (1e9, 1))
    ]
    assert lengths == [3, 3, 4, 5]


def test_failures_are_told_as_failures(landscape):
    space = landscape([None, 4, 3, 2, 1])
    assert space.statuses[0] is Status.RUNTIME_ERROR
    assert space.told_ns == (None, 4, 3, 2, 1)
    rows = replay(space, "local", seed=0, budget=Budget(cost_ns=1e9, measurements=5))
    assert sorted(rows) == [0, 1, 2, 3, 4]
