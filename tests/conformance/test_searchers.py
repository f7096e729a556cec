"""What every sampler promises, run over all of them."""

from __future__ import annotations

import math

import pytest

from autotune.records import Config, Status
from autotune.search import OF_SEVERAL_GOALS, SAMPLERS, make_searcher
from autotune.space import Constraint, Parameter, Space

SPACE = Space(
    (
        Parameter("tile", (16, 32, 64, 128)),
        Parameter("stages", (1, 2, 3, 4)),
        Parameter("loads", ("sync", "async", "bulk", "none"), ordered=False),
        Parameter("raster", ("along_m", "along_n"), ordered=False),
    ),
    (Constraint("stages", lambda tile, stages: "too big" if tile * stages > 256 else None),),
)
VALID = list(SPACE)
CUBE = Space(tuple(Parameter(name, (1, 2, 3, 4)) for name in "abc"))

SEVERAL_GOALS = {f"{name} for two goals": name for name in OF_SEVERAL_GOALS}

pytestmark = pytest.mark.parametrize("name", [*SAMPLERS, *SEVERAL_GOALS])


class OfTwoGoals:
    """A searcher that is told of a second goal with each time."""

    def __init__(self, searcher):
        self.ask, self.chance = searcher.ask, searcher.chance
        self._searcher = searcher

    def tell(self, config, status, time_ns):
        self._searcher.tell(config, status, time_ns, further=[float(config.get("stages", 1))])


def _time_ns(config: Config) -> float:
    return 1000.0 + 7 * abs(config["tile"] - 64) + 50 * abs(config["stages"] - 3)


def _run(searcher, trials, outcome=lambda config: (Status.OK, _time_ns(config))):
    asked = []
    for _ in range(trials):
        config = searcher.ask()
        if config is None:
            break
        asked.append(config)
        searcher.tell(config, *outcome(config))
    return asked


def _make(name, *, space=SPACE, valid=VALID, seed=3):
    if name not in SEVERAL_GOALS:
        return make_searcher(name, space=space, valid=valid, seed=seed)
    name = SEVERAL_GOALS[name]
    return OfTwoGoals(make_searcher(name, space=space, valid=valid, seed=seed, goals=2))


def test_64_points_give_64_distinct_configs_and_then_a_clean_end(name):
    searcher = _make(name, space=CUBE, valid=list(CUBE))
    asked = _run(searcher, 64, lambda config: (Status.OK, float(config["a"])))
    assert sorted(asked, key=str) == sorted(CUBE, key=str)
    assert searcher.ask() is None
    assert searcher.ask() is None


def test_configs_that_wait_for_their_answer_are_not_asked_again(name):
    searcher = _make(name)
    waiting = []
    while (config := searcher.ask()) is not None:
        waiting.append(config)
        if len(waiting) % 5 == 0:  # answers come late, and in another order
            for done in reversed(waiting[-5:]):
                searcher.tell(done, Status.OK, _time_ns(done))
    assert len(waiting) == len(set(waiting)) == len(VALID)
    assert set(waiting) == set(VALID)


def test_nothing_told_at_all_still_visits_every_config(name):
    searcher = _make(name)
    assert {searcher.ask() for _ in VALID} == set(VALID)
    assert searcher.ask() is None


def test_one_seed_gives_one_order(name):
    assert _run(_make(name), 40) == _run(_make(name), 40)


def test_a_searcher_told_the_rows_goes_on_as_if_never_interrupted(name):
    whole = _run(_make(name), 45)
    resumed = _make(name)
    for config in whole[:30]:
        resumed.tell(config, Status.OK, _time_ns(config))
    assert _run(resumed, 15) == whole[30:]


def test_history_is_not_asked_again_and_strangers_in_it_are_ignored(name):
    searcher = _make(name)
    removed_value = Config(tile=192, stages=1, loads="sync", raster="along_m")
    renamed = Config(tile=64, depth=1, loads="sync", raster="along_m")
    not_valid = Config(tile=128, stages=4, loads="sync", raster="along_m")
    for stranger in (removed_value, renamed, not_valid, Config()):
        searcher.tell(stranger, Status.OK, 1.0)
    for config in VALID[::2]:
        searcher.tell(config, Status.OK, _time_ns(config))
    assert set(_run(searcher, len(VALID))) == set(VALID[1::2])


@pytest.mark.parametrize("time_ns", [math.nan, math.inf, -math.inf, None])
def test_a_time_that_is_not_finite_is_a_failure_and_never_the_best(name, time_ns):
    def outcome(config):
        return (Status.OK, time_ns if config["loads"] == "none" else _time_ns(config))

    def failing(config):
        status = Status.CRASHED if config["loads"] == "none" else Status.OK
        return (status, _time_ns(config))

    assert _run(_make(name), 60, outcome) == _run(_make(name), 60, failing)


def _stopped(config):
    """Give up what is clearly slow, as a study does, with a bound that is below its time."""
    slow = _time_ns(config) > 1200.0
    return (Status.STOPPED_EARLY, 1100.0) if slow else (Status.OK, _time_ns(config))


def test_what_was_stopped_early_is_not_asked_again_and_ends_no_search(name):
    assert set(_run(_make(name), 999, _stopped)) == set(VALID)
    all_slow = _run(_make(name), 999, lambda _: (Status.STOPPED_EARLY, 1100.0))
    assert set(all_slow) == set(VALID)


def test_a_searcher_told_what_was_stopped_early_goes_on_as_if_never_interrupted(name):
    whole = _run(_make(name), 45, _stopped)
    resumed = _make(name)
    for config in whole[:30]:
        resumed.tell(config, *_stopped(config))
    assert _run(resumed, 15, _stopped) == whole[30:]


@pytest.mark.parametrize("bound_ns", [math.nan, math.inf, None])
def test_what_was_stopped_early_without_a_bound_is_a_failure(name, bound_ns):
    def outcome(status):
        return lambda config: (
            (status, bound_ns) if config["loads"] == "none" else (Status.OK, _time_ns(config))
        )

    asked = _run(_make(name), 60, outcome(Status.STOPPED_EARLY))
    assert asked == _run(_make(name), 60, outcome(Status.CRASHED))


def test_every_status_can_be_told(name):
    searcher = _make(name)
    statuses = [*Status] * 4
    asked = _run(searcher, len(statuses), lambda config: (statuses[len(str(config)) % 13], 5.0))
    assert len(set(asked)) == len(statuses)


def test_a_space_where_everything_fails_is_still_exhausted(name):
    assert len(set(_run(_make(name), 999, lambda _: (Status.COMPILE_ERROR, None)))) == len(VALID)


def test_a_config_told_twice_counts_once(name):
    once, twice = _make(name), _make(name)
    for searcher, times in ((once, 1), (twice, 2)):
        for config in VALID[:20]:
            for _ in range(times):
                searcher.tell(config, Status.OK, _time_ns(config))
    assert _run(once, 20) == _run(twice, 20)


@pytest.mark.parametrize("count", [0, 1])
def test_a_space_with_nothing_to_choose_ends_cleanly(name, count):
    searcher = _make(name, valid=VALID[:count])
    assert _run(searcher, 5) == VALID[:count]


def test_what_is_still_to_be_gained_is_a_chance_or_not_known(name):
    searcher = _make(name)
    assert searcher.chance(0.01) is None
    _run(searcher, len(VALID) - 1)
    chance = searcher.chance(0.01)
    assert chance is None or 0 <= chance <= 1


def test_asking_for_the_chance_changes_nothing(name):
    curious = _make(name)

    def outcome(config):
        curious.chance(0.01)
        return Status.OK, _time_ns(config)

    assert _run(curious, 40, outcome) == _run(_make(name), 40)


def test_once_every_config_is_told_no_chance_is_left(name):
    searcher = _make(name)
    _run(searcher, len(VALID))
    assert searcher.chance(0.01) in (None, 0)


@pytest.mark.parametrize("right", [1, 2, 40])
def test_nothing_is_unlikely_while_hardly_anything_ran_or_all_took_the_same(name, right):
    searcher = _make(name)
    outcomes = iter([(Status.OK, 100.0)] * right + [(Status.CRASHED, None)] * 40)
    _run(searcher, 40, lambda _: next(outcomes))
    assert searcher.chance(0.01) is None
