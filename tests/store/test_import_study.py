from __future__ import annotations

import pytest
import store_samples as samples

from autotune.errors import StoreError
from autotune.records import Status


def _import(store, entries, name="other"):
    spec, context = samples.STUDY["spec"], samples.context()
    return store.import_study(name, spec=spec, sampler="none", context=context, entries=entries)


def test_a_whole_study_is_read_back_as_if_it_were_recorded_row_by_row(store):
    given = [samples.ok(number) for number in range(1200)] + [samples.failed(1200)]
    study = _import(store, [(trial, None) for trial in given])
    found = store.trials(study, samples.context())
    assert [trial.number for trial in found] == list(range(1201))
    assert [trial.config for trial in found] == [trial.config for trial in given]
    assert found[7].measurement == given[7].measurement
    assert found[-1].status is Status.RESOURCES
    assert (found[-1].measurement, found[-1].resources) == (None, None)


def test_notes_belong_to_their_trials(store):
    study = _import(store, [(samples.ok(0), None), (samples.ok(1), {"unit": "ms"})])
    other = _import(store, [(samples.ok(0), {"unit": "s"})], name="another")
    rows = {trial.number: trial.row_id for trial in store.trials(study, samples.context())}
    assert store.notes(study) == {rows[1]: {"unit": "ms"}}
    assert [*store.notes(other).values()] == [{"unit": "s"}]


def test_a_study_that_is_there_is_left_as_it_is(store):
    _import(store, [(samples.ok(0), None)])
    with pytest.raises(StoreError, match="has a study 'other' already"):
        _import(store, [(samples.ok(1), None)])
    assert len(store.rows()) == 1


def test_rows_that_cannot_be_written_leave_nothing_behind(store):
    def entries():
        yield from ((samples.ok(number), None) for number in range(600))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _import(store, entries())
    assert (store.studies(), store.rows(), store.contexts()) == ([], [], [])
