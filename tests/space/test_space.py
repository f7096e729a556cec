from __future__ import annotations

import functools
import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.errors import InvalidInput
from autotune.records import Config
from autotune.space import Constraint, Parameter, Space

TILE = Parameter("tile", (32, 64, 128))
WARP = Parameter("warp", (16, 32, 64))
LOADS = Parameter("loads", ("sync", "async"), ordered=False)


def _fits(tile, warp):
    return None if warp <= tile else f"a warp of {warp} is wider than the tile's {tile}"


def _no_wide_async(loads, tile):
    return "async is for small tiles" if loads == "async" and tile > 64 else None


SPACE = Space(
    (TILE, WARP, LOADS),
    (Constraint("warp_tile", _fits), Constraint("async", _no_wide_async)),
)


@st.composite
def _spaces(draw):
    """Spaces whose constraints forbid arbitrary combinations of one to three parameters."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    parameters = tuple(Parameter(f"p{i}", tuple(range(n))) for i, n in enumerate(sizes))
    constraints = []
    for number in range(draw(st.integers(0, 3))):
        used = draw(st.permutations(parameters))[: draw(st.integers(1, 3))]
        product = list(itertools.product(*(p.values for p in used)))
        forbidden = draw(st.sets(st.sampled_from(product)))
        constraints.append(_forbid(f"rule{number}", [p.name for p in used], forbidden))
    return Space(parameters, tuple(constraints))


def _forbid(name, uses, forbidden):
    constraint = Constraint(
        name, lambda **values: "forbidden" if tuple(values[n] for n in uses) in forbidden else None
    )
    object.__setattr__(constraint, "uses", tuple(uses))
    return constraint


def _product(space):
    names = [p.name for p in space.parameters]
    return [
        Config(dict(zip(names, values, strict=True)))
        for values in itertools.product(*(p.values for p in space.parameters))
    ]


@settings(max_examples=60, deadline=None)
@given(space=_spaces())
def test_enumeration_is_the_product_without_what_breaks_a_rule(space):
    assert list(space) == [config for config in _product(space) if space.broken(config) is None]


@settings(max_examples=60, deadline=None)
@given(space=_spaces())
def test_census_counts_each_config_once_under_the_rule_that_it_breaks_first(space):
    census = space.census()
    broken = Counter(reason[0] for config in _product(space) if (reason := space.broken(config)))
    assert census.removed == broken
    assert census.valid + sum(census.removed.values()) == census.total == space.size
    assert census.example.keys() == census.removed.keys()


@settings(max_examples=40, deadline=None)
@given(space=_spaces(), data=st.data())
def test_restricting_a_space_keeps_its_valid_configs_with_the_allowed_values(space, data):
    parameter = data.draw(st.sampled_from(space.parameters))
    allowed = data.draw(st.lists(st.sampled_from(parameter.values), min_size=1))
    expected = [config for config in space if config[parameter.name] in allowed]
    assert list(space.restricted({parameter.name: allowed})) == expected


def test_census_gives_a_reason_in_words_with_numbers():
    census = SPACE.census()
    assert census.example["warp_tile"] == "a warp of 64 is wider than the tile's 32"
    assert census.removed == {"warp_tile": 2, "async": 3}


def test_broken_names_the_rule_and_the_reason():
    config = Config(tile=128, warp=16, loads="async")
    assert SPACE.broken(config) == ("async", "async is for small tiles")
    assert SPACE.broken(config.replace(loads="sync")) is None


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (Config(tile=96, warp=16, loads="sync"), "tile=96 is not one of 32, 64, 128"),
        (Config(tile=64, warp=16), "it names no loads, one of sync, async"),
        (Config(tile=64, warp=16, loads="sync", swizzle=1), "swizzle is not a parameter"),
    ],
    ids=["impossible", "missing", "unknown"],
)
def test_a_config_of_another_space_breaks_the_rule_values(config, words):
    rule, reason = SPACE.broken(config)
    assert rule == "values"
    assert words in reason


@pytest.mark.parametrize(
    ("allowed", "words"),
    [
        ({"tiles": [32]}, "unknown parameter 'tiles'; allowed: tile, warp, loads"),
        ({"tile": [96]}, "tile=96 is not a value of this kernel; allowed: 32, 64, 128"),
        ({"tile": []}, "no value left for 'tile'"),
    ],
    ids=["name", "value", "empty"],
)
def test_a_restriction_that_cannot_be_met_says_what_is_allowed(allowed, words):
    with pytest.raises(InvalidInput, match=words):
        SPACE.restricted(allowed)


def test_a_restricted_space_keeps_order_rules_and_descriptions():
    cut = SPACE.restricted({"tile": [64, 32]})
    assert cut.parameters[0] == Parameter("tile", (32, 64))
    assert cut.parameters[2].ordered is False
    assert cut.broken(Config(tile=32, warp=64, loads="sync")) == (
        "warp_tile",
        "a warp of 64 is wider than the tile's 32",
    )


def test_a_rule_is_asked_once_for_each_combination_that_it_uses():
    asked = []

    def even(tile):
        asked.append(tile)
        return None if tile % 2 == 0 else f"{tile} is odd"

    others = tuple(Parameter(f"p{i}", (0, 1, 2)) for i in range(4))
    space = Space((*others, Parameter("tile", (1, 2, 3))), (Constraint("even", even),))
    assert len(list(space)) == 3**4
    assert asked == [1, 2, 3]


@pytest.mark.parametrize(
    "build",
    [
        lambda: Parameter("tile", ()),
        lambda: Parameter("tile", (32, 32)),
        lambda: Space((TILE, TILE)),
        lambda: Space((TILE,), (Constraint("warp_tile", _fits),)),
        lambda: Space((TILE,), (Constraint("never", lambda: None),)),
    ],
    ids=["no values", "repeated value", "repeated name", "unknown name", "uses nothing"],
)
def test_a_space_that_makes_no_sense_is_refused_when_it_is_built(build):
    with pytest.raises(ValueError, match=r"tile|never|share a name"):
        build()


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (lambda tile: None if 64 % (tile - 32) else "no", "tile=32 raises ZeroDivisionError"),
        (lambda tile: tile > 32, "returns False: it must return why the rule is broken"),
    ],
)
def test_a_rule_that_cannot_be_asked_is_refused_by_name(rule, words):
    with pytest.raises(InvalidInput, match=f"constraint 'odd' for {words}|constraint .*{words}"):
        list(Space((TILE,), (Constraint("odd", rule),)))


@pytest.mark.parametrize(
    ("name", "values"), [("", (1,)), ("a\nb", (1,)), ("a", (1.5,)), ("a", (True,)), ("a", (None,))]
)
def test_a_parameter_that_no_config_could_hold_is_refused(name, values):
    with pytest.raises((TypeError, ValueError), match="parameter"):
        Parameter(name, values)


def test_a_rule_that_wraps_another_uses_what_that_uses():
    def rule(tile, part):
        return None if tile > part else "too small"

    @functools.wraps(rule)
    def told(*values, **named):
        return rule(*values, **named)

    assert Constraint("part", told).uses == Constraint("part", rule).uses == ("tile", "part")
    assert Constraint("part", functools.partial(rule, 2)).uses == ("part",)
