"""Search a space that others recorded, where its file lies beside the repository."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from statistics import median

import pytest

from autotune.records import Config, Status
from autotune.search import make_searcher
from autotune.space import Parameter, Space

RECORDED = Path(__file__).parents[3] / "shared/data/benchmark_hub/convolution_A4000.json.gz"
CHOICES = {"read_only", "use_padding", "use_shmem"}
TRIALS = 60


@pytest.fixture(scope="module")
def recorded():
    if not RECORDED.is_file():
        pytest.skip(f"{RECORDED.name} is not beside the repository")
    with gzip.open(RECORDED) as file:
        cache = json.load(file)
    names = cache["tune_params_keys"]
    space = Space(
        tuple(Parameter(n, tuple(cache["tune_params"][n]), n not in CHOICES) for n in names)
    )
    return space, {
        Config({name: row[name] for name in names}): row["time"] for row in cache["cache"].values()
    }


def _best(recorded, name, seed):
    space, times = recorded
    searcher = make_searcher(name, space=space, valid=list(times), seed=seed)
    found = {}
    for _ in range(TRIALS):
        config = searcher.ask()
        failed = isinstance(times[config], str)
        searcher.tell(
            config,
            Status.RUNTIME_ERROR if failed else Status.OK,
            None if failed else times[config] * 1e6,
        )
        found[config] = times[config]
    assert len(found) == TRIALS
    return min(time for time in found.values() if not isinstance(time, str))


@pytest.mark.parametrize("name", ["tpe", "local"])
def test_a_recorded_space_is_searched_better_than_by_chance(recorded, name):
    found, by_chance = (
        median(_best(recorded, sampler, seed) for seed in range(5)) for sampler in (name, "random")
    )
    assert found < by_chance
