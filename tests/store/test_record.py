from __future__ import annotations

import dataclasses
import math
import sqlite3

import pytest
import store_samples as samples

from autotune.errors import StoreError
from autotune.records import QUICK, Measurement, Status, Toolchain
from autotune.store import Store


def test_a_trial_is_read_as_it_was_returned(store, study):
    written = [
        store.record(study, samples.context(), trial)
        for trial in (samples.ok(0), samples.ok(1, 1234.5678), samples.failed(2))
    ]
    assert store.trials(study, samples.context()) == written


def test_a_trial_is_returned_as_it_was_given_with_its_row(store, study):
    trial = samples.ok(0)
    assert store.record(study, samples.context(), trial) == dataclasses.replace(trial, row_id=1)


def test_a_trial_takes_the_place_of_an_earlier_one_of_its_config_or_leaves_it_alone(store, study):
    kept = store.record(study, samples.context(), samples.ok(0))
    old = store.record(study, samples.context(), samples.failed(1, Status.TIMEOUT))
    again = dataclasses.replace(samples.failed(2, Status.CRASHED), config=old.config)

    taken = dataclasses.replace(again, number=kept.number)
    with pytest.raises(StoreError, match="already has trial 0"):
        store.record(study, samples.context(), taken, replaces=old)
    assert store.trials(study, samples.context()) == [kept, old]

    new = store.record(study, samples.context(), again, replaces=old)
    assert store.trials(study, samples.context()) == [kept, new]


@pytest.mark.parametrize("status", [s for s in Status if s is not Status.OK])
def test_every_failure_is_a_row(store, study, status):
    written = store.record(study, samples.context(), samples.failed(0, status, "because"))
    assert (written.status, written.message, written.median_ns) == (status, "because", None)
    assert store.trials(study, samples.context()) == [written]


@pytest.mark.parametrize("sample", [math.nan, math.inf, -math.inf, 0.0, -5.0, 0.0001])
def test_samples_that_are_no_times_make_a_bad_measurement(store, study, path, sample):
    measurement = Measurement(samples_ns=(1000.0, sample, 1001.0))
    written = store.record(study, samples.context(), samples.ok(0, measurement=measurement))
    assert written.status is Status.BAD_MEASUREMENT
    assert written.message == f"sample 1 of 3 is {sample} ns"
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT median_ns, spread, samples_ns FROM trial").fetchall() == [
            (None, None, None)
        ]
    raw.close()


def test_ok_without_samples_is_a_bad_measurement(store, study):
    for number, measurement in enumerate((None, Measurement(samples_ns=()))):
        trial = samples.ok(number, measurement=measurement)
        assert store.record(study, samples.context(), trial).status is Status.BAD_MEASUREMENT


def test_power_that_is_not_a_number_is_unknown(store, study):
    measurement = Measurement(samples_ns=(1000.0,), power_w=math.nan)
    written = store.record(study, samples.context(), samples.ok(0, measurement=measurement))
    assert written.status is Status.OK
    assert written.measurement.power_w is None


def test_statistics_for_sql_are_those_of_the_samples(store, study, path):
    written = store.record(study, samples.context(), samples.ok(0, 4096.5))
    raw = sqlite3.connect(path)
    assert raw.execute("SELECT median_ns, spread FROM trial").fetchone() == (
        written.measurement.median_ns,
        written.measurement.spread,
    )
    raw.close()


@pytest.mark.parametrize(
    "message", ["line\x00 with NUL", "lone \udcff surrogate", "x" * 50_000, "naïve → 日本"]
)
def test_any_message_can_be_stored(store, study, message):
    written = store.record(study, samples.context(), samples.failed(0, message=message))
    assert store.trials(study, samples.context()) == [written]
    assert len(written.message) < 9000
    assert written.message[:3] == message[:3]


@pytest.mark.parametrize(
    "change",
    [
        {"kernel": "other"},
        {"kernel_ref": "file.py:Gemm"},
        {"source_digest": "00" * 16},
        {"problem": samples.MatmulProblem(64, dtype="fp16")},
        {"device": samples.device("NVIDIA A100")},
        {"device": samples.device(driver="590.0")},
        {"toolchain": Toolchain(compiler="nvrtc", version="13.1")},
        {"policy": dataclasses.replace(QUICK, verify=False)},
        {"replayed_from": "h200"},
    ],
    ids=str,
)
def test_a_change_of_anything_that_matters_is_another_context(store, study, change):
    store.record(study, samples.context(), samples.ok(0))
    other = samples.context(**change)
    assert store.trials(study, other) == []
    store.record(study, other, samples.ok(0, 5.0))
    assert len(store.trials(study, other)) == len(store.trials(study, samples.context())) == 1


def test_equal_cards_share_results(store, study):
    store.record(study, samples.context(), samples.ok(0))
    assert store.trials(study, samples.context(device=samples.device(uuid="GPU-2")))


def test_two_writers_of_one_study_are_told(store, study):
    store.record(study, samples.context(), samples.ok(0))
    with pytest.raises(StoreError, match="already has trial 0 or its config") as raised:
        store.record(study, samples.context(), samples.ok(0, config=samples.config(1)))
    assert "another process" in raised.value.hint
    with pytest.raises(StoreError, match="already has trial 1 or its config"):
        store.record(study, samples.context(), samples.ok(1, config=samples.config(0)))
    assert len(store.trials(study, samples.context())) == 1


def test_a_refused_trial_leaves_nothing_behind(store, study):
    store.record(study, samples.context(), samples.ok(0))
    with pytest.raises(StoreError, match="breaks a rule"):
        store.record(study, samples.context(128), samples.ok(-1, config=samples.config(9)))
    assert len(store.contexts()) == 1
    written = store.record(study, samples.context(128), samples.ok(0, config=samples.config(9)))
    assert store.trials(study, samples.context(128)) == [written]


def test_a_study_is_found_by_name_and_keeps_how_it_started(store, study):
    assert store.begin_study("first", spec={}, sampler="random", seed=0) == study
    assert store.begin_study("second", spec={}, sampler="random", seed=0) != study
    first = store.studies()[0]
    assert (first.spec, first.sampler, first.seed) == ({"kernel": "gemm"}, "tpe", 7)


def test_configs_are_shared_between_problems(store, study, path):
    for m in (64, 128, 256):
        store.record(study, samples.context(m), samples.ok(0))
    raw = sqlite3.connect(path)
    assert raw.execute("SELECT count(*) FROM config").fetchone() == (1,)
    raw.close()


def test_rows_outlive_the_store(url):
    with Store.open(url) as store:
        study = store.begin_study("first", **samples.STUDY)
        written = store.record(study, samples.context(), samples.ok(0))
    with Store.open(url) as store:
        assert store.begin_study("first", **samples.STUDY) == study
        assert store.trials(study, samples.context()) == [written]
