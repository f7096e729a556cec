from __future__ import annotations

from statistics import median

import pytest

from autotune.records import Status
from autotune.search import make_searcher
from autotune.space import Constraint, Parameter, Space

SPACE = Space(
    (
        *(Parameter(name, (1, 2, 3, 4, 5, 6)) for name in ("m", "n", "k")),
        Parameter("copy", ("a", "b", "c"), ordered=False),
        Parameter("swizzle", ("x", "y"), ordered=False),
    ),
    (Constraint("area", lambda m, n: "too big" if m * n > 20 else None),),
)
VALID = list(SPACE)
SEEDS = range(3)


def _time_ns(config):
    bowl = (config["m"] - 4) ** 2 + (config["n"] - 3) ** 2 + (config["k"] - 5) ** 2
    return 1000.0 + 100 * bowl + 300 * (config["copy"] != "b") + 150 * (config["swizzle"] != "y")


def _found(name, seed, trials, outcome=lambda config: (Status.OK, _time_ns(config))):
    searcher = make_searcher(name, space=SPACE, valid=VALID, seed=seed)
    asked = []
    for _ in range(trials):
        asked.append(searcher.ask())
        searcher.tell(asked[-1], *outcome(asked[-1]))
    return asked


def test_exhaustive_keeps_the_order_of_the_space():
    assert _found("exhaustive", 1, 50) == VALID[:50]


def test_random_depends_on_the_seed_and_not_on_the_answers():
    fails = _found("random", 1, 50, lambda _: (Status.CRASHED, None))
    assert _found("random", 1, 50) == fails
    assert _found("random", 2, 50) != fails


@pytest.mark.parametrize("name", ["gp", "tpe", "local"])
def test_what_learns_gets_far_nearer_to_the_best_than_chance(name):
    def best(sampler):
        runs = [_found(sampler, seed, 60) for seed in SEEDS]
        return median(min(map(_time_ns, run)) for run in runs)

    assert best(name) - 1000 < (best("random") - 1000) / 2


@pytest.mark.parametrize("name", ["gp", "tpe"])
def test_a_model_turns_away_from_what_fails(name):
    def outcome(config):
        return (Status.RUNTIME_ERROR, None) if config["copy"] == "b" else (Status.OK, 2000.0)

    tried = [c for seed in SEEDS for c in _found(name, seed, 60, outcome)[30:]]
    chance = sum(c["copy"] == "b" for c in VALID) / len(VALID)
    assert sum(c["copy"] == "b" for c in tried) / len(tried) < chance / 2


@pytest.mark.parametrize("name", ["gp", "tpe"])
def test_a_model_finds_the_few_that_run_where_nearly_everything_fails(name):
    def runs(config):
        return config["copy"] == "c" and config["k"] >= 5

    def outcome(config):
        return (Status.OK, _time_ns(config)) if runs(config) else (Status.COMPILE_ERROR, None)

    def hits(name):
        return sum(runs(config) for seed in SEEDS for config in _found(name, seed, 40, outcome))

    assert hits(name) > 2 * hits("random")


@pytest.mark.parametrize("name", ["gp", "tpe"])
def test_a_model_spreads_a_batch_instead_of_filling_one_corner(name):
    searcher = make_searcher(name, space=SPACE, valid=VALID, seed=0)
    for config in VALID[::20]:
        searcher.tell(config, Status.OK, _time_ns(config))
    batch = [searcher.ask() for _ in range(12)]
    assert len(set(batch)) == 12
    assert len({(c["m"], c["n"], c["k"]) for c in batch}) > 4


def test_local_search_asks_the_neighbours_of_the_fastest():
    searcher = make_searcher("local", space=SPACE, valid=VALID, seed=0)
    centre = VALID[200]
    searcher.tell(centre, Status.OK, 1.0)
    neighbour = searcher.ask()
    assert sum(neighbour[name] != value for name, value in centre.items()) == 1


def test_local_search_restarts_elsewhere_once_the_neighbourhood_is_spent():
    space = Space((Parameter("x", tuple(range(100))),))
    searcher = make_searcher("local", space=space, valid=list(space), seed=0)
    asked = []
    for _ in range(30):
        config = searcher.ask()
        asked.append(config["x"])
        searcher.tell(config, Status.OK, 1000.0 + len(asked))  # the first stays the fastest
    near = [x for x in asked[1:] if abs(x - asked[0]) <= 2]
    assert sorted(near) == sorted(asked[1:5])
    assert max(asked) - min(asked) > 50


def _steps(one, other):
    """Return how far apart two configs are: levels on ordered axes, one for each other."""
    ordered = ("m", "n", "k")
    return sum(abs(one[x] - other[x]) if x in ordered else one[x] != other[x] for x in one)


@pytest.mark.parametrize("name", ["tpe", "local"])
def test_what_is_refined_is_never_what_was_stopped_early(name):
    """However low its bound: only a whole measurement shows that something is fast."""
    searcher = make_searcher(name, space=SPACE, valid=VALID, seed=0)
    fast, stopped = VALID[0], VALID[-1]
    for config in VALID[1:-1:12]:
        searcher.tell(config, Status.OK, 5000.0 + _time_ns(config))
    searcher.tell(fast, Status.OK, 1000.0)
    searcher.tell(stopped, Status.STOPPED_EARLY, 900.0)
    asked = [searcher.ask() for _ in range(4)]
    assert min(_steps(config, fast) for config in asked) == 1
    assert name == "tpe" or all(_steps(config, stopped) > 2 for config in asked)


@pytest.mark.parametrize("name", ["gp", "tpe"])
def test_a_model_turns_away_from_what_is_stopped_early_and_not_from_all_else(name):
    def outcome(config):
        slow = config["copy"] != "b"
        return (Status.STOPPED_EARLY, 3000.0) if slow else (Status.OK, _time_ns(config))

    tried = [c for seed in SEEDS for c in _found(name, seed, 30, outcome)[10:]]
    assert sum(c["copy"] == "b" for c in tried) / len(tried) > 2 / 3  # by chance 1 / 3


def test_tpe_finds_the_best_as_well_when_slow_ones_are_given_up():
    def stopping():
        best = float("inf")

        def outcome(config):
            nonlocal best
            time_ns = _time_ns(config)
            if time_ns > 1.5 * best:
                return Status.STOPPED_EARLY, 1.5 * best
            best = min(best, time_ns)
            return Status.OK, time_ns

        return outcome

    found = [min(map(_time_ns, _found("tpe", seed, 60, stopping()))) for seed in SEEDS]
    assert median(found) <= median(min(map(_time_ns, _found("tpe", seed, 60))) for seed in SEEDS)
