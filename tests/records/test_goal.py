from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.errors import InvalidInput
from autotune.records import Config, Resources, Status, Trial, goals_named, nondominated

VALUES = st.integers(min_value=0, max_value=5).map(float)  # few, so that many are equal
POINTS = st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=40)


def _beaten(points, at):
    mine = points[at]
    return any(
        all(a <= b for a, b in zip(other, mine, strict=True)) and other != mine for other in points
    )


@given(POINTS)
def test_a_front_is_what_no_other_point_beats(points):
    expected = [at for at in range(len(points)) if not _beaten(points, at)]

    assert sorted(nondominated(points)) == expected


@given(POINTS)
def test_a_front_has_the_least_of_the_first_value_first(points):
    firsts = [points[at][0] for at in nondominated(points)]

    assert firsts == sorted(firsts)
    assert firsts[:1] == [min(point[0] for point in points)] if points else not firsts


def test_equal_points_are_all_on_the_front():
    assert sorted(nondominated([(1.0, 2.0), (2.0, 1.0), (1.0, 2.0), (2.0, 2.0)])) == [0, 1, 2]


def test_goals_are_named_once_and_time_comes_first():
    names = [goal.name for goal in goals_named(["registers", "time", "registers"])]

    assert names == ["time", "registers"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["time", "speed"], "no goal named 'speed'; allowed: time, shared_memory"),
        (["registers"], "'time' must be one of them"),
        ([], "'time' must be one of them"),
    ],
)
def test_a_goal_that_is_none_is_refused(names, said):
    with pytest.raises(InvalidInput, match=said):
        goals_named(names)


def test_shared_memory_is_the_static_and_the_dynamic_one_or_not_known():
    trial = Trial(
        number=0,
        problem_key="",
        config=Config({"tile": 1}),
        status=Status.OK,
        resources=Resources(static_shared_bytes=100),
        dynamic_shared_bytes=28,
    )
    without = Trial(number=0, problem_key="", config=trial.config, status=Status.OK)

    shared_memory = goals_named(["time", "shared_memory"])[1]

    assert (shared_memory.value(trial), shared_memory.value(without)) == (128, None)
