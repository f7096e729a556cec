"""The coordinator's loop over the host's own compiler: real candidates, real failures."""

from __future__ import annotations

import dataclasses
import threading

import pytest
from hosted import GOOD, ONE_OF_EACH, Counting, spec

from autotune.device import open_device
from autotune.errors import InvalidInput, ToolchainBroken
from autotune.records import QUICK, Limits, Status, load_kernel
from autotune.store import Store
from autotune.study import Reason, loop, run_study


def rows(store):
    return store.rows()


def test_each_failure_costs_one_row_and_only_a_right_config_wins(host, store):
    each = spec(trials=100, space=ONE_OF_EACH)
    report = run_study(each, device=host, store=store).problems[0]
    assert report.reason is Reason.EXHAUSTED
    assert report.total == report.ran == len(rows(store)) == 12
    assert report.best is not None
    assert report.best.config["fault"] == "none"
    expected = {
        Status.OK: 1,
        Status.COMPILE_ERROR: 1,
        Status.INCORRECT: 6,
        Status.NONDETERMINISTIC: 1,
        Status.CRASHED: 2,
        Status.TIMEOUT: 1,
    }
    assert dict(report.statuses) == expected


def test_the_default_is_measured_first(host, store):
    report = run_study(spec(trials=2), device=host, store=store).problems[0]
    assert report.default is not None
    assert report.default.number == 0


def test_trials_are_a_total_and_a_finished_study_does_nothing(host, store):
    with pytest.raises(KeyboardInterrupt):
        run_study(spec(space=GOOD), device=host, store=store, observer=Counting(stop_after=1))
    assert len(rows(store)) == 1

    resumed = Counting()
    run_study(spec(space=GOOD), device=host, store=store, observer=resumed)
    assert len(resumed.seen) == 2
    assert sorted(trial.number for trial in (row.trial for row in rows(store))) == [0, 1, 2]

    again = run_study(spec(space=GOOD), device=host, store=store).problems[0]
    assert (again.ran, again.reason) == (0, Reason.FINISHED_BEFORE)
    assert again.best is not None


def test_a_space_that_shrinks_and_grows_keeps_what_was_measured(host, store):
    twins = {"fault": ["none"], "twin": [0, 1]}
    run_study(spec(space=twins), device=host, store=store)
    assert len(rows(store)) == 2

    grown = Counting()
    run_study(spec(space=GOOD), device=host, store=store, observer=grown)
    assert [trial.config["twin"] for trial in grown.seen] == [2]

    cut = Counting()
    report = run_study(
        spec(space={"fault": ["none"], "twin": [1]}), device=host, store=store, observer=cut
    ).problems[0]
    assert cut.seen == []
    assert report.total == 1


def test_what_failed_by_chance_is_tried_again_when_asked_and_what_was_wrong_is_not(host, store):
    some = spec(space={"fault": ["none", "half_of_k", "segfault", "hang"], "twin": [0]}, trials=4)
    run_study(some, device=host, store=store)
    before = {row.trial.config["fault"]: row.trial for row in rows(store)}

    untried = Counting()
    run_study(some, device=host, store=store, observer=untried)
    assert untried.seen == []

    retried = Counting()
    again = dataclasses.replace(some, retry_failed=True)
    report = run_study(again, device=host, store=store, observer=retried).problems[0]
    assert sorted(trial.config["fault"] for trial in retried.seen) == ["hang", "segfault"]
    assert (report.ran, report.total) == (2, 4)
    after = {row.trial.config["fault"]: row.trial for row in rows(store)}
    assert after.keys() == before.keys()
    assert {name for name in after if after[name] != before[name]} == {"hang", "segfault"}
    assert after["hang"].status is Status.TIMEOUT


def test_a_retry_that_is_interrupted_loses_no_row(host, store):
    some = spec(space={"fault": ["none", "segfault", "exit"], "twin": [0]}, trials=3)
    run_study(some, device=host, store=store)
    again = dataclasses.replace(some, retry_failed=True)
    with pytest.raises(KeyboardInterrupt):
        run_study(again, device=host, store=store, observer=Counting(stop_after=1))
    assert len(rows(store)) == 3


def test_a_retry_that_is_out_of_time_counts_what_it_did_not_come_to(host, store):
    some = spec(space={"fault": ["none", "segfault", "exit"], "twin": [0]}, trials=3)
    run_study(some, device=host, store=store)
    again = dataclasses.replace(some, retry_failed=True, time_budget_s=0.001)
    report = run_study(again, device=host, store=store).problems[0]
    assert report.reason is Reason.TIME
    assert report.total == report.statuses.total() == len(rows(store)) == 3


def test_another_policy_is_another_result(host, store):
    run_study(spec(space=GOOD), device=host, store=store)
    slower = Counting()
    run_study(
        spec(space=GOOD, policy=QUICK.replace(draws=2)),
        device=host,
        store=store,
        observer=slower,
    )
    assert len(slower.seen) == 3


def test_the_first_dozen_failing_alike_end_the_study(host, store):
    hopeless = spec(space={"fault": ["compile_error"]}, trials=100)
    with pytest.raises(ToolchainBroken, match=r"first 12 candidates all ended as compile_error"):
        run_study(hopeless, device=host, store=store)
    assert len(rows(store)) == 12


def test_a_time_budget_ends_the_study_between_two_trials(host, store):
    report = run_study(spec(trials=36, time_budget_s=0.001), device=host, store=store)
    assert report.problems[0].reason is Reason.TIME
    assert report.problems[0].total == len(rows(store))


class Thinking:
    """A searcher that chooses nothing until it is released."""

    def __init__(self):
        self.released, self.chose = threading.Event(), False

    def ask(self):
        self.chose = self.released.wait(60)

    def tell(self, *_):
        pass


def test_a_time_budget_does_not_wait_for_a_search_that_thinks(host, store, monkeypatch):
    searcher = Thinking()
    monkeypatch.setattr(loop, "make_searcher", lambda *_, **__: searcher)
    report = run_study(spec(time_budget_s=2.0), device=host, store=store).problems[0]
    assert not searcher.chose
    searcher.released.set()
    assert report.reason is Reason.TIME
    assert report.ran == report.total == len(rows(store)) < 2


def test_an_empty_problem_is_refused_before_any_work(host, store):
    kernel = load_kernel("host_matmul")
    empty = kernel.problem_type.parse({"m": 0, "n": 8, "k": 8})
    with pytest.raises(InvalidInput, match="there is nothing to tune"):
        run_study(
            spec(kernel_ref="host_matmul", kernel=kernel, space={}, problems=(empty,)),
            device=host,
            store=store,
        )
    assert rows(store) == []


def test_an_unknown_parameter_is_refused_before_any_work(host, store):
    with pytest.raises(InvalidInput, match="unknown parameter 'tiles'"):
        run_study(spec(space={"tiles": [1]}), device=host, store=store)
    assert rows(store) == []


def test_a_recording_answers_as_the_device_did(host, store, tmp_path):
    """A study on a recording tells the recorded outcomes, and marks its rows as replayed."""
    each = spec(trials=100, space=ONE_OF_EACH)
    run_study(each, device=host, store=store)
    recorded = {row.trial.config: row.trial for row in rows(store)}

    recording = open_device(f"recording:{tmp_path}/study.db", limits=Limits())
    with Store.open(f"sqlite:///{tmp_path}/replay.db") as replayed:
        report = run_study(each, device=recording, store=replayed).problems[0]
        assert report.reason is Reason.EXHAUSTED
        assert len(rows(replayed)) == len(recorded) == 12
        for row in rows(replayed):
            assert row.trial.status == recorded[row.trial.config].status
            assert row.trial.median_ns == recorded[row.trial.config].median_ns
            assert row.context.replayed_from
    recording.close()


def test_a_recording_of_failures_alone_is_no_broken_machine(host, store, tmp_path):
    hopeless = spec(space={"fault": ["compile_error"]}, trials=100)
    with pytest.raises(ToolchainBroken):
        run_study(hopeless, device=host, store=store)

    recording = open_device(f"recording:{tmp_path}/study.db", limits=Limits())
    with Store.open(f"sqlite:///{tmp_path}/replay.db") as replayed:
        report = run_study(hopeless, device=recording, store=replayed).problems[0]
        assert (report.ran, report.best) == (12, None)
    recording.close()
