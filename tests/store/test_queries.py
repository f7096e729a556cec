from __future__ import annotations

import json
import sqlite3

import pytest
import store_samples as samples

from autotune.records import Finalist, Status
from autotune.store import Filter, to_dataframe


def numbers(rows):
    return [row.trial.number for row in rows]


@pytest.fixture
def filled(store, study):
    """Two problems, two devices, two studies, a failure, an unverified winner and a replay."""
    here, there = samples.context(), samples.context(128, device=samples.device("NVIDIA A100"))
    store.record(study, here, samples.ok(0, 900.0))
    store.record(study, here, samples.ok(1, 700.0))
    store.record(study, here, samples.ok(2, 500.0, verified=False))
    store.record(study, here, samples.failed(3))
    store.record(study, there, samples.ok(4, 300.0))
    second = store.begin_study("second", **samples.STUDY)
    store.record(second, here, samples.ok(5, 650.0))
    store.record(second, here, samples.failed(0, Status.CRASHED, "killed by SIGSEGV"))
    store.record(second, samples.context(replayed_from="h200"), samples.ok(6, 100.0))
    store.record(second, samples.context(256, replayed_from="h200"), samples.ok(7, 200.0))
    return store


def test_best_is_the_fastest_verified_trial_of_each_context(filled):
    assert numbers(filled.best()) == [4, 5, 7]
    assert numbers(filled.best(unverified=True)) == [2, 4, 7]


def test_best_shows_a_replay_with_its_origin_where_nothing_was_measured(filled):
    replay = filled.best(Filter(problem={"m": 256}))
    assert [(row.trial.number, row.context.replayed_from) for row in replay] == [(7, "h200")]
    assert numbers(filled.best(replayed=False)) == [4, 5]
    assert numbers(filled.best(replayed=True)) == [4, 5, 6, 7]


def test_best_of_one_study_knows_nothing_of_others(filled):
    assert numbers(filled.best(Filter(studies=("first",)))) == [1, 4]
    assert filled.best(Filter(studies=("unknown",))) == []


def test_of_equal_times_the_same_one_is_best_whatever_came_first(store, study):
    second = store.begin_study("second", **samples.STUDY)
    for name, order in ((study, (3, 1, 2)), (second, (2, 1, 3))):
        for number in order:
            store.record(name, samples.context(), samples.ok(number, 100.0))
    assert numbers(store.best(Filter(studies=("first",)))) == [1]
    assert numbers(store.best(Filter(studies=("second",)))) == [1]


def test_a_final_decides_what_is_best(store, study):
    slow, fast = samples.ok(0, 103.0), samples.ok(1, 100.0)
    for trial in (slow, fast):
        store.record(study, samples.context(), trial)
    assert numbers(store.best()) == [1]
    rounds = {slow.config: (99.0, 99.0, 99.0), fast.config: (101.0, 101.0, 101.0)}
    met = [Finalist(config=config, rounds_ns=ns) for config, ns in rounds.items()]
    store.record_final(study, samples.context(), met)
    assert numbers(store.best()) == [0]


def test_what_was_wrong_once_or_failed_a_final_is_never_best(store, study):
    once, always, slow = samples.ok(0, 100.0), samples.ok(1, 101.0), samples.ok(2, 102.0)
    for trial in (once, always, slow):
        store.record(study, samples.context(), trial)
    second = store.begin_study("second", **samples.STUDY)
    store.record(second, samples.context(), samples.failed(0, Status.INCORRECT, "1 is wrong"))
    assert numbers(store.best()) == [1]
    met = [
        Finalist(config=always.config, rounds_ns=()),
        Finalist(config=slow.config, rounds_ns=(9.0,)),
    ]
    store.record_final(study, samples.context(), met)
    assert numbers(store.best()) == [2]


def test_what_failed_a_final_hides_no_slower_row(store, study):
    failed, slow = samples.ok(0, 100.0), samples.ok(1, 120.0)
    for trial in (failed, slow):
        store.record(study, samples.context(), trial)
    met = [Finalist(config=failed.config, rounds_ns=())]
    store.record_final(study, samples.context(), met)
    assert numbers(store.best()) == [1]


def test_what_is_later_than_a_final_needs_to_beat_its_winner_alone(store, study):
    other, winner = samples.ok(0, 100.0), samples.ok(1, 120.0)
    for trial in (other, winner):
        store.record(study, samples.context(), trial)
    store.record_final(study, samples.context(), [Finalist(config=winner.config, rounds_ns=(9.0,))])
    store.record(study, samples.context(), samples.ok(2, 110.0))
    assert numbers(store.best()) == [2]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Filter(), [0, 1, 2, 3, 4, 5, 0, 6, 7]),
        (Filter(kernel="gemm", studies=("first",)), [0, 1, 2, 3, 4]),
        (Filter(kernel="gem"), []),
        (Filter(device="a100"), [4]),
        (Filter(device="NVIDIA A100"), [4]),
        (Filter(device=samples.device("NVIDIA A100").key[:12]), [4]),
        (Filter(device="cuda"), [0, 1, 2, 3, 4, 5, 0, 6, 7]),
        (Filter(device="%"), []),
        (Filter(problem={"m": 128}), [4]),
        (Filter(problem={"m": "128", "dtype": "bf16"}), [4]),
        (Filter(problem={"m": 128, "dtype": "fp16"}), []),
        (Filter(problem={"layout": "nn"}), []),
        (Filter(studies=("first", "second"), problem={"m": 256}), [7]),
    ],
    ids=str,
)
def test_filters(filled, wanted, expected):
    assert numbers(filled.rows(wanted)) == expected


def test_failures_say_why(filled):
    assert [(row.study, row.trial.message) for row in filled.failures()] == [
        ("first", "needs 300 KiB of shared memory"),
        ("second", "killed by SIGSEGV"),
    ]


def test_a_limit_keeps_the_newest_matches(filled):
    assert numbers(filled.rows(limit=2)) == [6, 7]
    assert numbers(filled.rows(Filter(studies=("first",)), limit=2)) == [3, 4]
    assert numbers(filled.rows(Filter(device="A100"), limit=5)) == [4]


def test_answers_give_the_newest_trial_of_each_config(filled):
    answers = filled.answers(filled.contexts()[0])
    assert {key: trial.status for key, trial in answers.items()} == {
        samples.config(0).key: Status.CRASHED,
        samples.config(1).key: Status.OK,
        samples.config(2).key: Status.OK,
        samples.config(3).key: Status.RESOURCES,
        samples.config(5).key: Status.OK,
    }


def test_contexts_come_back_as_they_were_recorded(filled):
    stored = filled.contexts(Filter(problem={"m": 64}))[0].context
    given = samples.context()
    assert stored.identity == given.identity
    assert (stored.device, stored.policy, stored.toolchain) == (
        given.device,
        given.policy,
        given.toolchain,
    )
    assert str(stored.problem) == str(given.problem) == "m=64,n=64,k=64,dtype=bf16"


def test_studies_are_summed_up(filled):
    filled.begin_study("empty", **samples.STUDY)
    summaries = [(s.name, s.contexts, s.trials, s.ok) for s in filled.studies()]
    assert summaries == [("first", 2, 5, 4), ("second", 3, 4, 3), ("empty", 0, 0, 0)]
    assert filled.studies()[2].last_at is None


def test_rows_are_ready_for_json(filled):
    [row] = filled.best(Filter(device="A100"))
    line = json.loads(json.dumps(row.as_dict()))
    assert line["problem"] == {"m": 128, "n": 64, "k": 64, "dtype": "bf16"}
    assert (line["median_ns"], line["samples"], line["registers"]) == (300.0, 11, 128)


def test_a_data_frame_has_a_column_for_each_field(filled):
    frame = to_dataframe(filled.rows())
    assert len(frame) == 9
    assert set(frame["problem.m"]) == {64, 128, 256}
    assert set(frame["config.stages"]) == {4}
    assert frame[frame["status"] == "ok"]["median_ns"].min() == 100.0
    assert to_dataframe([]).empty


@pytest.mark.usefixtures("filled")
def test_views_answer_in_plain_sqlite(path):
    raw = sqlite3.connect(path)
    flat = raw.execute(
        "SELECT count(*), sum(status = 'ok'), min(json_extract(problem, '$.m')) FROM trial_flat"
    ).fetchone()
    best = raw.execute(
        "SELECT study, number, median_ns, replayed_from FROM best_config ORDER BY trial_id"
    ).fetchall()
    raw.close()
    assert flat == (9, 7, 64)
    assert best == [
        ("first", 4, 300.0, ""),
        ("second", 5, 650.0, ""),
        ("second", 6, 100.0, "h200"),
        ("second", 7, 200.0, "h200"),
    ]
