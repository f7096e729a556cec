"""A table by preference: which row of each front it holds."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autotune.dispatch import Table
from autotune.errors import InvalidInput, NoValidConfig
from autotune.records import Finalist, Measurement, Resources, Status, Trial, load_kernel
from autotune.store import TrialRow
from autotune.store.chosen import clearly_faster
from autotune.table import Preference, build_table
from autotune.table.answered import Answered
from autotune.table.evidence import Evidence
from autotune.table.preferred import preferred

FRONT = ((1, 128, 1000.0, 9000), (2, 128, 1020.0, 6000), (4, 128, 1500.0, 2000))  # ns, bytes


@pytest.fixture
def front(book):
    for width, threads, ns, shared_bytes in FRONT:
        book.add(1024, width=width, threads=threads, ns=ns, shared_bytes=shared_bytes)
    return book


def _exported(book, text):
    return build_table(book.store, prefer=Preference.parse(text))


def _width(book, text):
    table = Table.parse(json.dumps(_exported(book, text).document))
    assert table.preference == text.replace(" ", "")
    return table.lookup(count=1024, dtype="fp32").config["width"]


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("time", 1),
        ("shared_memory<=8999", 2),
        ("shared_memory <= 2000", 4),
        ("time<=1000.0", 1),
        ("shared_memory", 4),
        ("shared_memory,time<=103%", 2),
        ("time<=103%,shared_memory", 2),
        ("shared_memory,time<=101%", 1),
        ("shared_memory<=300%,time<=1400", 2),
    ],
)
def test_it_holds_the_row_that_is_preferred(front, text, width):
    assert _width(front, text) == width


def test_an_entry_says_what_the_preference_costs(front):
    table = Table.parse(json.dumps(_exported(front, "shared_memory<=2000").document))

    assert table.lookup(count=1024, dtype="fp32").entry.evidence.loss == 0.5


def test_of_equals_the_final_decides(front):
    twin = front.add(1024, width=4, threads=256, ns=1499.0, shared_bytes=2000)
    study = front.store.find_study("s")
    context = front.store.contexts()[0].context
    slower = [1600.0, 1601.0, 1602.0, 1600.0, 1601.0]
    rounds = {twin.config: slower, twin.config.replace(threads=128): [1500.0] * 5}
    finalists = [Finalist(config=c, rounds_ns=tuple(ns)) for c, ns in rounds.items()]
    front.store.record_final(study, context, finalists)

    exported = _exported(front, "shared_memory<=2000")

    table = Table.parse(json.dumps(exported.document))
    assert table.lookup(count=1024, dtype="fp32").config["threads"] == 128


def test_of_those_that_are_as_fast_the_one_with_less_is_held(front):
    scattered = (1000.0, 980.0, 1020.0, 990.0, 1010.0)
    front.add(1024, width=8, samples=scattered, shared_bytes=7000)

    assert _width(front, "shared_memory<=9000") == 8


def test_of_those_that_tie_in_a_final_the_one_with_less_is_held(front):
    study, context = front.store.find_study("s"), front.store.contexts()[0].context
    configs = [row.trial.config for row in front.store.rows()]
    finalists = [Finalist(config=config, rounds_ns=(1000.0,) * 5) for config in configs[:2]]
    front.store.record_final(study, context, finalists)

    assert _width(front, "shared_memory<=9000") == 2
    assert _width(front, "time") == 1


def _trial_row(book, config, measured):
    ns, scatter, shared_bytes, registers = measured
    trial = Trial(
        number=0,
        problem_key=book.context.problem.key,
        config=config,
        status=Status.OK,
        measurement=Measurement(samples_ns=tuple(ns + scatter * at for at in (-1, -1, 0, 1, 1))),
        verified=True,
        resources=Resources(registers=registers),
        dynamic_shared_bytes=shared_bytes,
    )
    return TrialRow(study="s", context_id=1, context=book.context, trial=trial)


def _within(rows, preference):
    """Return the rows that keep all limits and, of one goal, take the least."""

    def amounts(goal):
        return {id(row): goal.value(row.trial) for row in rows}

    for limit in preference.limits:
        of = amounts(limit.goal)
        most = limit.most / 100 * min(of.values()) if limit.relative else limit.most
        rows = [row for row in rows if of[id(row)] <= most]
    if preference.goal.name != "time" and rows:
        of = amounts(preference.goal)
        rows = [row for row in rows if of[id(row)] == min(of.values())]
    return rows


@given(
    measured=st.lists(
        st.tuples(
            st.integers(1000, 1080).map(float),
            st.sampled_from((0.0, 3.0, 20.0, 90.0)),
            st.sampled_from((1000, 2000, 4000)),
            st.sampled_from((32, 64)),
        ),
        min_size=1,
        max_size=8,
    ),
    text=st.sampled_from(
        (
            "time",
            "shared_memory",
            "shared_memory<=2000",
            "shared_memory<=4000,registers<=64",
            "shared_memory,registers<=64",
            "registers,shared_memory<=200%",
        )
    ),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_no_other_row_dominates_the_one_that_is_held(book, measured, text):
    kernel, context = load_kernel(book.context.kernel_ref), book.context
    configs = kernel.space(context.problem, context.device.target).sample(8)
    rows = [_trial_row(book, *each) for each in zip(configs, measured, strict=False)]
    evidence = Evidence(kernel=kernel, problem=context.problem, context=context, rows=tuple(rows))
    preference = Preference.parse(text)

    answer = preferred(Answered.of(evidence, unverified=False), preference)

    eligible = _within(rows, preference)
    if not eligible:
        assert isinstance(answer, str)
        return
    held = answer.answer.row
    assert held in eligible
    assert not any(clearly_faster(row, held) for row in eligible)
    goals = [limit.goal for limit in preference.limits]
    for row in eligible:
        if not any(clearly_faster(other, row) for other in eligible):
            less = [goal.value(row.trial) - goal.value(held.trial) for goal in goals]
            assert max(less, default=0) > 0 or min(less, default=0) == 0


def test_a_faster_default_does_not_take_the_place_of_what_is_preferred(front):
    assert build_table(front.store).entries == 1
    assert _width(front, "shared_memory<=2000") == 4


def test_a_problem_of_which_no_row_does_is_left_out_and_told(front):
    front.add(2048, width=1, shared_bytes=9000)

    exported = _exported(front, "shared_memory<=2000,time<=1600")

    assert exported.entries == 1
    [line] = exported.left_out
    assert "count=2048,dtype=fp32: no row has shared_memory<=2000 (the least is 9000)" in line
    assert "and time<=1600 (the least is " in line


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("shared_memory<=10", "no row has shared_memory<=10"),
        ("energy", "no row tells energy"),
        ("error<=0.5", "no row tells error"),
    ],
)
def test_where_no_problem_has_a_row_nothing_is_exported(front, text, why):
    with pytest.raises(NoValidConfig, match=why):
        _exported(front, text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("speed<=1", "no goal named 'speed'; allowed: time, shared_memory"),
        ("", "no goal named ''"),
        ("time<=fast", "prefer 'time<=fast': no limit such as shared_memory<=65536"),
        ("time<=-1", "no limit such as"),
        ("time<=1e5", "no limit such as"),
        ("shared_memory,registers", "of one goal at most can the least be taken"),
    ],
)
def test_what_is_no_preference_is_refused(text, why):
    with pytest.raises(InvalidInput, match=why):
        Preference.parse(text)
