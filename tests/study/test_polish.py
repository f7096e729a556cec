"""The last trials of a search go to what lies next to its best."""

from __future__ import annotations

from autotune.records import Config, Status
from autotune.search import make_searcher
from autotune.space import Parameter, Space
from autotune.study.polish import ONE_IN, Polished

SPACE = Space([Parameter("a", tuple(range(30))), Parameter("b", tuple(range(30)))])
VALID = list(SPACE)


def searcher(trials):
    plain = make_searcher("random", space=SPACE, valid=VALID, seed=0)
    return Polished(plain, SPACE, VALID, trials=trials)


def slowness(config):
    return 100.0 + abs(config["a"] - 7) + abs(config["b"] - 20)


def tell(search, config, status=Status.OK):
    search.tell(config, status, slowness(config) if status is Status.OK else None)


def run(search, trials):
    asked = []
    for _ in range(trials):
        asked.append(search.ask())
        tell(search, asked[-1])
    return asked


def apart(one, other):
    return sum(one[name] != other[name] for name in one)


def test_the_last_trials_lie_next_to_the_best_and_no_config_comes_twice():
    trials = 100
    asked = run(searcher(trials), trials)
    assert len(set(asked)) == trials
    first = trials - trials // ONE_IN
    for at in range(first, trials):
        best = min(asked[:at], key=slowness)
        assert apart(asked[at], best) == 1
    alone = make_searcher("random", space=SPACE, valid=VALID, seed=0)
    assert asked[:first] == [alone.ask() for _ in range(first)]


def test_it_goes_on_from_what_it_is_told_as_if_never_stopped():
    trials = 100
    whole = run(searcher(trials), trials)
    for done in (50, 95):
        resumed = searcher(trials)
        for config in whole[:done]:
            tell(resumed, config)
        assert run(resumed, trials - done)[-5:] == whole[-5:]


def test_what_failed_has_no_neighbours_that_are_worth_a_trial():
    search = searcher(10)
    wrong, right = Config(a=0, b=0), Config(a=9, b=9)
    tell(search, wrong, Status.INCORRECT)
    tell(search, right)
    for config in VALID[100:107]:
        search.tell(config, Status.OK, 1e6)
    assert apart(search.ask(), right) == 1


def test_once_all_neighbours_are_tried_the_search_goes_on_to_its_end():
    small = Space([Parameter("a", (0, 1, 2)), Parameter("b", (0, 1, 2))])
    valid = [config for config in small if config["a"] != config["b"]]
    plain = make_searcher("random", space=small, valid=valid, seed=0)
    search = Polished(plain, small, valid, trials=100)
    asked = run(search, len(valid))
    assert set(asked) == set(valid)
    assert search.ask() is None
