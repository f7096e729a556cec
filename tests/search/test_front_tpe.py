"""A search for several goals: it finds what no other config beats in all of them."""

from __future__ import annotations

import pytest

from autotune.errors import InvalidInput
from autotune.records import Status, nondominated
from autotune.search import chosen, make_searcher
from autotune.space import Parameter, Space

SPACE = Space(tuple(Parameter(name, tuple(range(1, 9))) for name in "abcd"))
VALID = list(SPACE)
FRONT = 8  # a + b is 9 on it, c and d are 1


def _values(config):
    """Two goals that pull apart along a, beside two parameters that only cost."""
    waste = 3.0 * (config["c"] - 1 + config["d"] - 1) + 3.0 * abs(config["a"] + config["b"] - 9)
    return 1000.0 * 2 ** (config["a"] + waste), 9.0 - config["a"] + waste


def _found(name, seed, trials=150):
    searcher = make_searcher(name, space=SPACE, valid=VALID, seed=seed, goals=2)
    points = []
    for _ in range(trials):
        config = searcher.ask()
        time_ns, further = _values(config)
        points.append((time_ns, further))
        searcher.tell(config, Status.OK, time_ns, [further])
    best = {_values(VALID[at]) for at in nondominated([*map(_values, VALID)])}
    assert len(best) == FRONT
    return len(best & set(points))


def test_it_finds_most_of_a_front_of_which_chance_finds_hardly_any():
    assert _found("tpe", seed=0) >= FRONT / 2
    assert sum(_found("random", seed) for seed in range(5)) < FRONT / 2


def test_what_lacks_a_goal_counts_as_failed():
    def asked(outcome):
        searcher = make_searcher("tpe", space=SPACE, valid=VALID, seed=1, goals=2)
        configs = []
        for _ in range(40):
            configs.append(searcher.ask())
            searcher.tell(configs[-1], *outcome(configs[-1]))
        return configs

    def failing(config):
        time_ns, further = _values(config)
        return (Status.CRASHED, None) if config["d"] > 4 else (Status.OK, time_ns, [further])

    def lacking(config):
        time_ns, further = _values(config)
        return Status.OK, time_ns, [None if config["d"] > 4 else further]

    assert asked(lacking) == asked(failing)


def test_auto_takes_what_knows_several_goals():
    assert chosen("auto", valid=100, trials=10, goals=2) == "tpe"
    assert chosen("auto", valid=10, trials=10, goals=2) == "exhaustive"


@pytest.mark.parametrize("name", ["gp", "local"])
def test_a_sampler_that_knows_time_alone_is_refused(name):
    with pytest.raises(InvalidInput, match=f"{name} has one goal, time; with several, allowed: au"):
        make_searcher(name, space=SPACE, valid=VALID, seed=0, goals=2)
