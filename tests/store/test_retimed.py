from __future__ import annotations

import store_samples as samples

from autotune.store import Store


def test_a_final_is_read_as_it_was_written_and_the_newest_speaks(url):
    with Store.open(url) as store:
        study = store.begin_study("first", **samples.STUDY)
        store.record(study, samples.context(), samples.ok(0))
        store.record_final(study, samples.context(), samples.final())
        newest = samples.final((5.0, 6.0), (7.0, 8.25))
        store.record_final(study, samples.context(), newest)
        store.record_final(study, samples.context(128), samples.final())
    with Store.open(url, read_only=True) as store:
        finals = store.finals()
        of = {each.context.problem.key: each.id for each in store.contexts()}
    assert list(finals[of[samples.context().problem.key]].finalists) == newest
    assert list(finals[of[samples.context(128).problem.key]].finalists) == samples.final()


def test_readings_are_those_of_one_study_in_one_context_oldest_first(url):
    with Store.open(url) as store:
        study = store.begin_study("first", **samples.STUDY)
        other = store.begin_study("second", **samples.STUDY)
        wanted = [samples.reading(after) for after in (0, 25)]
        for reading in wanted:
            store.record_reading(study, samples.context(), reading)
        store.record_reading(other, samples.context(), samples.reading(50))
        store.record_reading(study, samples.context(128), samples.reading(75))
        assert store.readings(study, samples.context()) == wanted
        assert store.readings(study, samples.context(256)) == []
