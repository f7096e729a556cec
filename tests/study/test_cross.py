"""What won on one problem is measured on the others, once."""

from __future__ import annotations

import dataclasses
from contextlib import closing

import pytest
from hosted import GOOD, Counting, spec

from autotune.device import open_device
from autotune.records import QUICK, Limits, Status, load_kernel
from autotune.store import Filter, Store
from autotune.study import DriftSpec, FinalSpec, Reason, StudySpec, run_study

PATIENT = QUICK.replace(stop_factor=0.0, budget_ms=1.0)


def crossed(**changes):
    each = spec(
        sampler="random",
        trials=1,
        space=GOOD,
        policy=PATIENT,
        final=FinalSpec(candidates=0),
        drift=DriftSpec(every=0),
    )
    more = [dataclasses.replace(each.problems[0], m=m) for m in (8, 12, 16)]
    return dataclasses.replace(each, **{"problems": tuple(more), **changes})


def trials_by_problem(store):
    found = {}
    for row in store.rows(Filter()):
        found.setdefault(str(row.context.problem), []).append(row.trial)
    return found


@pytest.fixture(scope="module")
def recorded(host, tmp_path_factory):
    """A database in which each problem knows another twin than the default."""
    path = tmp_path_factory.mktemp("recorded") / "study.db"
    with Store.open(f"sqlite:///{path}") as store:
        run_study(crossed(trials=3), device=host, store=store)
    return path


def test_winners_are_measured_on_the_others_and_nothing_twice(host, store):
    winners = set()
    for twin, problem in enumerate(crossed().problems):
        space = {"fault": ["none"], "twin": [twin]}
        alone = crossed(problems=(problem,), space=space)
        winners.add(run_study(alone, device=host, store=store).problems[0].best.config)
    report = run_study(crossed(cross=1), device=host, store=store)
    trials = trials_by_problem(store)
    for some in trials.values():
        assert winners <= {trial.config for trial in some}
        assert {trial.status for trial in some} == {Status.OK}
        assert [trial.number for trial in some] == list(range(len(some)))
    assert [found.total for found in report.problems] == [len(some) for some in trials.values()]
    again = run_study(crossed(cross=1), device=host, store=store)
    assert len(winners) == 3
    assert [found.ran for found in again.problems] == [0, 0, 0]
    assert trials_by_problem(store) == trials


def test_a_report_counts_what_was_measured_of_others_and_says_so(host, store):
    all_three = crossed(trials=3)
    run_study(
        dataclasses.replace(all_three, problems=all_three.problems[:1]), device=host, store=store
    )
    report = run_study(crossed(trials=1, cross=3), device=host, store=store)
    assert [(found.reason, found.ran, found.total) for found in report.problems] == [
        (Reason.FINISHED_BEFORE, 0, 3),
        (Reason.CROSSED, 3, 3),  # its default, and two that the first knew
        (Reason.CROSSED, 3, 3),
    ]


def test_a_problem_that_got_rows_holds_a_new_final_and_only_one(host, store):
    final = FinalSpec(candidates=9, rounds=1)
    run_study(crossed(trials=2, final=final), device=host, store=store)
    before = {c: f.finished_at for c, f in store.finals(()).items()}
    run_study(crossed(trials=2, final=final, cross=3), device=host, store=store)
    after = {c: f.finished_at for c, f in store.finals(()).items()}
    grown = [len(some) for some in trials_by_problem(store).values()]
    assert {c for c in after if after[c] != before.get(c)} or grown == [2, 2, 2]
    run_study(crossed(trials=2, final=final, cross=3), device=host, store=store)
    assert {c: f.finished_at for c, f in store.finals(()).items()} == after


def test_an_interrupt_before_it_leaves_it_to_the_next_run(host, store):
    with pytest.raises(KeyboardInterrupt):
        run_study(crossed(cross=1), device=host, store=store, observer=Counting(stop_after=2))
    assert len(trials_by_problem(store)) == 2
    run_study(crossed(cross=1), device=host, store=store)
    assert len(trials_by_problem(store)) == 3


def test_a_time_budget_leaves_it_to_the_next_run(host, store):
    run_study(crossed(cross=1, trials=2, time_budget_s=0.0), device=host, store=store)
    assert not trials_by_problem(store)


def test_a_recording_answers_what_it_has_and_the_rest_is_passed_over(recorded, store):
    with closing(open_device(f"recording:{recorded}", limits=Limits())) as device:
        run_study(crossed(trials=1, cross=1), device=device, store=store)
        once = trials_by_problem(store)
        run_study(crossed(trials=1, cross=1), device=device, store=store)
    with Store.open(f"sqlite:///{recorded}", read_only=True) as kept:
        known = trials_by_problem(kept)
    assert once.keys() == known.keys()
    for problem, some in once.items():
        assert {trial.config for trial in some} <= {trial.config for trial in known[problem]}
    assert trials_by_problem(store) == once


def test_the_shipped_recording_can_be_crossed(store):
    kernel = load_kernel("gemm")
    shapes = ((1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096))
    each = StudySpec(
        name="crossed",
        kernel_ref="gemm",
        kernel=kernel,
        problems=tuple(kernel.problem_type(*shape) for shape in shapes),
        trials=4,
        sampler="random",
        cross=2,
    )
    with closing(open_device("recording:h200", limits=Limits())) as device:
        report = run_study(each, device=device, store=store)
        assert sum(found.total for found in report.problems) > 12
        assert sum(found.ran for found in run_study(each, device=device, store=store).problems) == 0
    assert {status for found in report.problems for status in found.statuses} <= {
        Status.OK,
        Status.RESOURCES,
        Status.STOPPED_EARLY,
    }
