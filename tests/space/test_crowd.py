from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from autotune.records import Config
from autotune.space import Constraint, Crowd, Parameter, Space

NAMES = ("way", "tile", "part")
CONFIGS = st.builds(
    Config,
    st.dictionaries(st.sampled_from((*NAMES, "other")), st.integers(0, 4), max_size=4)
    | st.fixed_dictionaries({name: st.integers(0, 3) for name in NAMES}),
)


def _space(most):
    """Return a space with a rule for one way only, and one that an earlier rule guards."""
    room = Constraint("room", lambda tile: None if tile <= most else "much")
    return Space(
        (Parameter("way", (0, 1)), Parameter("tile", (0, 1, 2, 3)), Parameter("part", (1, 2, 3))),
        (
            Constraint("some", lambda tile: None if tile else "no tile"),
            room.only_where("way", [1]),
            Constraint("whole", lambda part, tile: f"{part}" if part % tile else None),
        ),
    )


@given(st.lists(CONFIGS, max_size=12), st.lists(st.integers(0, 3), min_size=1, max_size=3))
def test_a_crowd_keeps_what_the_space_holds(configs, bounds):
    crowd = Crowd(configs)
    for space in map(_space, bounds):
        assert crowd.within(space) == [config for config in configs if config in space]


def test_each_rule_is_asked_once_for_all_that_it_cannot_tell_apart():
    asked = []

    def rule(tile):
        asked.append(tile)

    tile, part = Parameter("tile", (1, 2)), Parameter("part", (1, 2, 3))
    space = Space((tile, part), (Constraint("any", rule),))
    configs = [Config(tile=tile, part=part) for tile in (1, 2) for part in (1, 2, 3)]
    assert Crowd(configs).within(space) == configs
    assert asked == [1, 2]
