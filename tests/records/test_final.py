from __future__ import annotations

import random

import pytest

from autotune.records import (
    Config,
    Finalist,
    Measurement,
    Resources,
    Status,
    Trial,
    leaders,
    tie_order,
    tied,
    tied_trials,
)


def finalist(name, *rounds_ns):
    return Finalist(config=Config(name=name), rounds_ns=rounds_ns)


def trial(name, *, samples_ns=(100.0, 100.0, 100.0), registers=64, stages=2):
    return Trial(
        number=0,
        problem_key="",
        config=Config(name=name, stages=stages),
        status=Status.OK,
        measurement=Measurement(samples_ns=samples_ns),
        resources=Resources(registers=registers),
    )


def names(configs):
    return [config["name"] for config in configs]


def test_who_is_slower_in_every_round_by_alike_is_slower_however_the_rounds_drift():
    drift = [0.0, 5.0, 12.0, 3.0, 20.0]  # far more than the two are apart
    fast = finalist("fast", *(100 + each for each in drift))
    slow = finalist("slow", *(101 + each + 0.01 * i for i, each in enumerate(drift)))
    assert names(leaders([slow, fast])) == ["fast"]


def test_who_wins_some_rounds_and_loses_others_ties():
    fast = finalist("fast", 100, 104, 99, 103, 100)
    other = finalist("other", 103, 100, 102, 101, 101)
    assert names(leaders([other, fast])) == ["fast", "other"]


def test_who_is_surely_behind_but_by_less_than_anyone_could_use_ties_and_does_not_lead():
    fast = finalist("fast", 100.0, 104.0, 99.0)
    close = finalist("close", 100.8, 104.8, 99.8)
    far = finalist("far", 101.2, 105.2, 100.2)
    assert names(leaders([far, close, fast])) == ["fast"]
    assert names(tied([far, close, fast])) == ["fast", "close"]


def test_who_went_out_before_the_last_round_neither_leads_nor_ties():
    out = finalist("out", 90.0, 100.0, 100.0)
    assert names(tied([out, finalist("through", 100.0, 100.0, 100.0, 100.0)])) == ["through"]


@pytest.mark.parametrize("rounds", [1, 2])
def test_too_few_rounds_decide_nothing(rounds):
    fast, slow = finalist("fast", *[100.0] * rounds), finalist("slow", *[900.0] * rounds)
    assert names(leaders([fast, slow])) == ["fast", "slow"]


def test_who_failed_in_the_final_does_not_lead_it():
    assert names(leaders([finalist("failed"), finalist("right", 5.0, 5.0, 5.0)])) == ["right"]
    assert leaders([finalist("failed")]) == ()
    assert leaders([]) == ()


def test_a_tie_goes_to_the_steadier_then_to_fewer_registers_then_to_fewer_stages():
    steady = trial("steady", registers=200, stages=4)
    loose = trial("loose", samples_ns=(90.0, 100.0, 110.0))
    lean = trial("lean", registers=32, stages=4)
    short = trial("short", registers=32, stages=3)
    ordered = sorted([loose, steady, lean, short], key=tie_order)
    assert names(each.config for each in ordered) == ["short", "lean", "steady", "loose"]


def test_equal_trials_are_told_apart_by_their_configs_alone():
    some = [trial(name) for name in "cab"]
    assert names(each.config for each in sorted(some, key=tie_order)) == ["a", "b", "c"]


def test_the_trials_of_the_leaders_come_in_the_order_of_their_tie():
    first, second = trial("first", registers=90), trial("second", registers=60)
    met = [Finalist(config=each.config, rounds_ns=(5.0, 6.0, 5.0)) for each in (first, second)]
    assert tied_trials(met, [first, second]) == [second, first]
    assert tied_trials(met, [first]) == [first]
    assert tied_trials([], [first]) == []


def test_a_leader_comes_before_what_only_ties_with_it_whatever_the_rule_of_a_tie_says():
    first, lean = trial("first", registers=90), trial("lean", registers=32)
    met = [
        Finalist(config=lean.config, rounds_ns=(100.5, 101.5, 100.5)),
        Finalist(config=first.config, rounds_ns=(100.0, 101.0, 100.0)),
    ]
    assert tied_trials(met, [lean, first]) == [first, lean]


def test_equals_are_held_apart_in_few_of_many_finals():
    """Three standard errors: of pairs that are alike, few are declared different."""
    draw = random.Random(0)
    apart = 0
    for _ in range(500):
        one, two = ([draw.gauss(100, 3) for _ in range(7)] for _ in range(2))
        apart += len(tied([finalist("one", *one), finalist("two", *two)])) == 1
    assert 0 < apart / 500 < 0.05
