from __future__ import annotations

import itertools
from collections import Counter

import pytest

from autotune.records import Config
from autotune.space import Constraint, Parameter, Space


def _ordered(a, b, c):
    return None if a <= b <= c else f"{a}, {b} and {c} fall"


def _thin(b, d):
    return "b and d differ" if (b + d) % 3 == 0 else None


def _space(*, free=1):
    """A space of which no two levels have equally many valid values below them."""
    names = ("a", "b", "c", "d")
    knobs = (Parameter(name, tuple(range(4))) for name in names)
    rest = (Parameter(f"free{i}", tuple(range(10))) for i in range(free))
    one = Parameter("only", (7,))
    rules = (Constraint("ordered", _ordered), Constraint("thin", _thin))
    return Space((*knobs, one, *rest), rules)


@pytest.mark.parametrize("seed", range(3))
def test_a_sample_holds_distinct_valid_configs_in_the_order_of_the_space(seed):
    space = _space()
    place = {config: i for i, config in enumerate(space)}
    places = [place[config] for config in space.sample(50, seed)]
    assert len(places) == 50
    assert places == sorted(set(places))


def test_every_valid_config_is_drawn_equally_often():
    space = _space(free=0)
    drawn = Counter(space.sample(1, seed)[0] for seed in range(40 * space.count()))
    expected = 40
    chi_square = sum((drawn[config] - expected) ** 2 / expected for config in space)
    freedom = space.count() - 1
    assert abs(chi_square - freedom) < 4 * (2 * freedom) ** 0.5


def test_every_pair_is_drawn_equally_often():
    space = Space((Parameter("a", (0, 1, 2)), Parameter("b", (0, 1))))
    pairs = Counter(tuple(space.sample(2, seed)) for seed in range(1500))
    assert pairs.keys() == set(itertools.combinations(space, 2))
    chi_square = sum((count - 100) ** 2 / 100 for count in pairs.values())
    assert chi_square < 14 + 4 * 28**0.5


def test_a_sample_follows_from_its_seed():
    assert _space().sample(20, 3) == _space().sample(20, 3) != _space().sample(20, 4)


def test_a_sample_of_more_than_there_are_is_everything():
    space = _space()
    assert space.sample(10**6) == list(space)
    assert space.sample(0) == []


def test_a_space_without_a_valid_config_has_an_empty_sample():
    space = Space((Parameter("a", (1, 2)),), (Constraint("never", lambda a: f"{a}"),))
    assert space.count() == 0
    assert space.sample(5) == []


def test_a_space_that_no_machine_word_counts_is_counted_and_drawn_from():
    space = _space(free=30)
    assert space.count() == _space(free=0).count() * 10**30
    sample = space.sample(100, 1)
    assert len(set(sample)) == 100
    assert all(space.broken(config) is None for config in sample)
    assert {config["free0"] for config in sample} == set(range(10))


def test_more_prefixes_than_are_remembered_are_counted_right():
    names = tuple("pqrst")
    knobs = tuple(Parameter(name, tuple(range(9))) for name in names)
    rule = Constraint(
        "odd", lambda **values: "odd" if sum(values.values()) % 2 else None, uses=names
    )
    space = Space(knobs, (rule,))
    assert space.count() == (9**5 + 1) // 2
    sample = space.sample(300, 5)
    assert len(set(sample)) == 300
    assert all(space.broken(config) is None for config in sample)


def test_a_rule_is_not_asked_about_what_an_earlier_rule_removes():
    def divides(tile, step):
        return None if tile % step == 0 else f"{step} does not divide {tile}"

    space = Space(
        (Parameter("tile", (4, 6)), Parameter("step", (0, 2, 4))),
        (Constraint("some", lambda step: None if step else "none"), Constraint("even", divides)),
    )
    assert space.count() == 3
    assert space.census().removed == {"some": 2, "even": 1}


def test_a_parameter_without_a_choice_changes_no_order():
    one, knob = Parameter("one", (5,)), Parameter("knob", (1, 2, 3))
    rule = Constraint("less", lambda knob, one: None if knob < one - 2 else "too much")
    assert list(Space((knob, one), (rule,))) == [Config(knob=1, one=5), Config(knob=2, one=5)]
