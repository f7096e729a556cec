"""The front of stored rows: which rows count, and which beat which."""

from __future__ import annotations

import dataclasses

import store_samples as samples
from hypothesis import given
from hypothesis import strategies as st

from autotune.records import Finalist, Resources, Status, goals_named
from autotune.store import Filter, TrialRow
from autotune.store.front_rows import fronts

BOTH = goals_named(["time", "shared_memory"])
VALUES = st.integers(min_value=1, max_value=6)


def row(number, median_ns, shared_bytes, **changes):
    changes = {"resources": Resources(static_shared_bytes=0), **changes}
    return samples.ok(number, median_ns, dynamic_shared_bytes=shared_bytes, **changes)


def numbers(front):
    return [row.trial.number for row in front.rows]


def test_it_holds_what_no_other_row_beats_the_fastest_first(store, study):
    for number, (ns, shared) in enumerate([(300.0, 1), (100.0, 9), (200.0, 9), (200.0, 4)]):
        store.record(study, samples.context(), row(number, ns, shared))
    store.record(study, samples.context(128), row(4, 50.0, 1))

    first, second = store.fronts(BOTH)

    assert (numbers(first), numbers(second)) == ([1, 3, 0], [4])
    assert store.fronts(BOTH, Filter(problem={"m": "128"})) == [second]


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=12))
def test_it_is_what_comparing_each_with_each_gives(points):
    context = samples.context()
    trials = (row(at, 100.0 * ns, shared, row_id=at) for at, (ns, shared) in enumerate(points))
    rows = [TrialRow(study="s", context_id=1, context=context, trial=each) for each in trials]
    [front] = fronts(rows, {}, BOTH)

    beaten = {
        at
        for at, (ns, shared) in enumerate(points)
        for other in points
        if other != (ns, shared) and other[0] <= ns and other[1] <= shared
    }
    assert {*numbers(front)} == {*range(len(points))} - beaten


def test_what_was_ever_wrong_or_never_verified_or_failed_a_final_is_not_on_it(store, study):
    other = store.begin_study("second", **samples.STUDY)
    wrong, unverified, failed = (
        row(0, 10.0, 1),
        row(1, 10.0, 2, verified=False),
        row(2, 10.0, 3),
    )
    for trial in (wrong, unverified, failed, row(3, 40.0, 9)):
        store.record(study, samples.context(), trial)
    store.record(other, samples.context(), samples.failed(0, Status.INCORRECT))
    field = [Finalist(config=failed.config, rounds_ns=()), *samples.final()[:1]]
    store.record_final(study, samples.context(), field)

    assert numbers(store.fronts(BOTH)[0]) == [3]
    assert numbers(store.fronts(BOTH, unverified=True)[0]) == [1]


def test_rows_that_do_not_tell_a_goal_are_counted(store, study):
    store.record(study, samples.context(), row(0, 10.0, None))
    store.record(study, samples.context(), row(1, 20.0, 5))
    quiet = dataclasses.replace(samples.ok(2).measurement, energy_mj=None)
    store.record(study, samples.context(), row(2, 30.0, 1, measurement=quiet))

    [front] = store.fronts(goals_named(["time", "shared_memory", "energy"]))

    assert numbers(front) == [1]
    assert front.silent == {"shared_memory": 1, "energy": 1}
