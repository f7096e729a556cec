"""A study gives up what is clearly slower than its best, here on the recording that ships."""

from __future__ import annotations

from contextlib import closing

import pytest

from autotune.device import open_device
from autotune.records import QUICK, Limits, Status, load_kernel
from autotune.store import Store
from autotune.study import StudySpec, run_study

GEMM = load_kernel("gemm")
TRIALS = 40


@pytest.fixture
def replay(tmp_path):
    """Return a function that replays a study and gives its report, its rows and its winners."""

    def study(name, *, trials=TRIALS, **changes):
        spec = StudySpec(
            name="s",
            kernel_ref="gemm",
            kernel=GEMM,
            problems=(GEMM.problem_type.parse({"m": 1024, "n": 1024, "k": 1024}),),
            trials=trials,
            **changes,
        )
        with (
            closing(open_device("recording:h200", limits=Limits())) as device,
            Store.open(f"sqlite:///{tmp_path}/{name}.db") as store,
        ):
            report = run_study(spec, device=device, store=store).problems[0]
            return report, [row.trial for row in store.rows()], store.best()

    return study


def test_it_finds_the_same_best_with_fewer_samples(replay):
    order = {"sampler": "exhaustive", "prior": False}  # the same one, whatever is found
    whole, all_rows, _ = replay("whole", policy=QUICK.replace(stop_factor=0.0), **order)
    brief, rows, winners = replay("brief", policy=QUICK, **order)
    assert brief.best.config == whole.best.config
    assert winners[0].trial.config == whole.best.config
    assert Status.STOPPED_EARLY not in whole.statuses
    assert brief.statuses[Status.STOPPED_EARLY] > 0

    def samples(trials):
        return sum(len(t.measurement.samples_ns) for t in trials if t.measurement)

    assert samples(rows) < samples(all_rows)


def test_each_that_is_given_up_is_slower_than_the_best_before_it_and_says_so(replay):
    _, rows, _ = replay("rows", policy=QUICK, sampler="random")
    best_ns = float("inf")
    for trial in rows:
        if trial.status is Status.STOPPED_EARLY:
            assert trial.bound_ns > 1.5 * best_ns
            assert trial.median_ns is None
            assert trial.verified
            assert f"{trial.bound_ns / 1e3:.4g} µs or more" in trial.message
        best_ns = min(best_ns, trial.median_ns or best_ns)
    assert rows[0].status is Status.OK
    assert Status.STOPPED_EARLY in {trial.status for trial in rows}


def test_a_study_that_gave_some_up_goes_on_as_if_never_stopped(replay):
    _, whole, _ = replay("whole", policy=QUICK, sampler="tpe")
    replay("parts", policy=QUICK, sampler="tpe", trials=TRIALS // 2)
    _, parts, _ = replay("parts", policy=QUICK, sampler="tpe")
    assert [(t.config, t.status, t.measurement) for t in parts] == [
        (t.config, t.status, t.measurement) for t in whole
    ]
    assert Status.STOPPED_EARLY in {t.status for t in whole[: TRIALS // 2]}
