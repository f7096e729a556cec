"""A search learns from what the database holds of its kernel, here on the recording that ships."""

from __future__ import annotations

from contextlib import closing

import pytest

from autotune.device import open_device
from autotune.records import QUICK, Limits, load_kernel
from autotune.store import Filter, Store
from autotune.study import StudySpec, run_study

GEMM = load_kernel("gemm")
SMALL, LARGE = {"m": 512, "n": 4096, "k": 4096}, {"m": 4096, "n": 4096, "k": 4096}
WIDE, NARROW = {"m": 4096, "n": 7168, "k": 2048}, {"m": 4096, "n": 2112, "k": 7168}


@pytest.fixture
def tune(tmp_path):
    """Return a function that replays a study and gives the configs that it tried, in order."""

    def study(name, *sizes, database="r", trials=30, **changes):
        problems = tuple(GEMM.problem_type.parse(size) for size in sizes)
        spec = StudySpec(
            name=name,
            kernel_ref="gemm",
            kernel=GEMM,
            problems=problems,
            trials=trials,
            **{"sampler": "gp", "prior": False, "policy": QUICK, **changes},
        )
        with (
            closing(open_device("recording:h200", limits=Limits())) as device,
            Store.open(f"sqlite:///{tmp_path}/{database}.db") as store,
        ):
            run_study(spec, device=device, store=store)
            rows = store.rows(Filter(studies=(name,), problem=sizes[-1]))
            return [row.trial for row in sorted(rows, key=lambda row: row.trial.number)]

    return study


def _until_near_the_best(trials, best_ns=154_219.0):
    near = (at for at, t in enumerate(trials) if t.median_ns and t.median_ns < 1.05 * best_ns)
    return next(near, len(trials))


def test_another_problem_of_the_study_leads_to_the_best(tune):
    cold = tune("cold", WIDE, NARROW, database="cold", warm_start=False)
    warm = tune("warm", WIDE, NARROW)
    assert _until_near_the_best(warm) < _until_near_the_best(cold) / 2


def test_another_study_of_the_same_problem_leads_there_at_once(tune):
    first = tune("first", LARGE, trials=60)
    best = min((t for t in first if t.median_ns), key=lambda t: t.median_ns)
    second = tune("second", LARGE, trials=8)
    assert best.config in [trial.config for trial in second]


def test_without_a_warm_start_nothing_is_learned_from_elsewhere(tune):
    alone = tune("alone", LARGE, database="alone")
    after = tune("after", SMALL, LARGE, warm_start=False)
    assert [t.config for t in after] == [t.config for t in alone]


def test_a_search_resumes_with_what_it_knew_when_it_began(tune):
    tune("before", SMALL, trials=60)
    parts = tune("parts", LARGE, trials=15)
    tune("later", LARGE, trials=40, seed=5)  # its rows are of no concern to the other
    resumed = tune("parts", LARGE)
    tune("before", SMALL, database="w", trials=60)
    whole = tune("parts", LARGE, database="w")
    assert [t.config for t in resumed[:15]] == [t.config for t in parts]
    assert [t.config for t in resumed] == [t.config for t in whole]


def test_what_is_measured_again_meanwhile_takes_nothing_from_what_it_knew(tune):
    tune("before", SMALL, trials=60)
    tune("parts", LARGE, trials=15)
    tune("again", SMALL, trials=60)  # the same configs: newer rows than the other's first
    resumed = tune("parts", LARGE)
    tune("before", SMALL, database="w", trials=60)
    whole = tune("parts", LARGE, database="w")
    assert [t.config for t in resumed] == [t.config for t in whole]
