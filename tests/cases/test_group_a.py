"""Isolation, in whole studies: what a bad candidate costs, in any order, and never twice."""

from __future__ import annotations

from collections import Counter

import pytest
from doublings import OF, POLICY, Interrupting, hangs, kernel, run, statuses

from autotune.records import Status
from autotune.study import DriftSpec, FinalSpec, LadderSpec, Silent, run_ladder
from autotune.study import final as final_of_study

MOST_ATTEMPTS = 3
ON_HOST = {"kill": "crashed", "crash": "crashed", "hang": "timeout"}
ON_GPU = {"misaligned": "runtime_error", "out_of_bounds": "runtime_error", "hang": "timeout"}
ORDERS = [
    ("right", "{0}", "right:1", "{1}", "{2}", "right:2"),
    ("right", "{2}", "{0}", "right:1", "right:2", "{1}"),
]


def placed(order, fates):
    return [name.format(*fates) for name in order]


@pytest.fixture
def runs(monkeypatch, tmp_path):
    """Return by how many processes each candidate was run: those that start after this."""
    path = tmp_path / "runs"
    monkeypatch.setenv("DOUBLING_RUNS", str(path))
    return lambda: Counter(path.read_text().split())


@pytest.fixture
def fresh(host):
    """Return the device without a lane, so that the next one sees the environment of the test."""
    host._lane.close()
    yield host
    host._lane.close()


def in_any_order(device, store, order, fates, **how):
    candidates = placed(order, fates)
    [report] = run(device, store, *candidates, **how)
    assert statuses(store) == {name: fates.get(name, "ok") for name in candidates}
    assert report.best.config["candidate"].startswith("right")


def test_each_bad_candidate_is_one_row_wherever_it_comes(host, store):
    in_any_order(host, store, ORDERS[0], ON_HOST)


@pytest.mark.gpu
@pytest.mark.parametrize("order", ORDERS)
def test_each_bad_candidate_is_one_row_in_any_order_on_a_gpu(gpu, store, order):
    in_any_order(gpu, store, order, ON_GPU, language="cuda", counts=(10_007,))


@pytest.fixture
def hung(monkeypatch):
    """Return a list of the candidates that a device is from now on asked for and hangs with."""

    def noted(device):
        found, measure = [], device._lane.measure

        def noting(job, *, config, **how):
            if hangs(job.problem["count"], config):
                found.append(config["candidate"])
            return measure(job, config=config, **how)

        monkeypatch.setattr(device._lane, "measure", noting)
        return found

    return noted


def survives_a_winner_that_hangs_elsewhere(device, store, language, hung):
    """Tune for a shape that the candidate is right on and one that it hangs on; climb there."""
    names, waited = ("right", "hang_on_odd"), hung(device)
    even, odd = run(
        device,
        store,
        *names,
        counts=(1024, 1025),
        language=language,
        final=FinalSpec(candidates=2, rounds=3),
    )
    assert dict(even.statuses) == {Status.OK: 2}
    assert dict(odd.statuses) == {Status.OK: 1, Status.TIMEOUT: 1}
    assert odd.best.config["candidate"] == "right"
    of = kernel(names, language)
    ladder = LadderSpec(
        kernel_ref=OF[language][0],
        kernel=of,
        problem=of.problem_type(count=1025),
        policy=POLICY,
        rounds=2,
    )
    climbed = {step.rung.name: step.status for step in run_ladder(ladder, device=device).steps}
    assert climbed == {"right": Status.OK, "hang_on_odd": Status.TIMEOUT}
    assert waited == ["hang_on_odd"] * 2  # once for each command


def test_no_command_waits_for_a_winner_that_hangs_on_another_shape(host, store, hung):
    survives_a_winner_that_hangs_elsewhere(host, store, "c++", hung)


@pytest.mark.gpu
def test_no_command_waits_for_a_winner_that_hangs_on_another_shape_on_a_gpu(gpu, store, hung):
    survives_a_winner_that_hangs_elsewhere(gpu, store, "cuda", hung)


class Telling(Silent):
    """Tells a candidate to hang once the search is over and the final begins."""

    def __init__(self, path):
        self._path = path

    def final_round(self, number, **_):
        if number == 2:
            self._path.touch()


def test_a_winner_that_hangs_in_the_final_is_not_the_winner(fresh, store, monkeypatch, tmp_path):
    told = tmp_path / "hang"
    monkeypatch.setenv("DOUBLING_HANGS", str(told))
    monkeypatch.setattr(final_of_study, "WITHIN", 1000.0)  # a busy machine sets equals apart
    [report] = run(
        fresh,
        store,
        "right",
        "hang_when_told",
        final=FinalSpec(candidates=2, rounds=3),
        observer=Telling(told),
    )
    [met] = store.finals().values()
    assert {each.config["candidate"]: each.failed for each in met.finalists} == {
        "right": False,
        "hang_when_told": True,
    }
    assert report.best.config["candidate"] == "right"


def test_what_took_its_lane_along_is_not_tried_on_resume(fresh, store, runs):
    names = ("right", "hang", "kill", "right:1")
    with pytest.raises(KeyboardInterrupt):
        run(fresh, store, *names, observer=Interrupting("kill"))
    before = runs()
    assert before["hang"] == 1
    assert before["kill"] <= MOST_ATTEMPTS
    fresh._lane.close()  # a new process notes anew what it runs
    for ran in (1, 0):
        [report] = run(fresh, store, *names)
        assert (report.ran, report.total) == (ran, 4)
        assert runs() == before + Counter({"right:1": 1})


def test_a_default_that_hangs_is_paid_for_once_though_it_would_be_the_yardstick(fresh, store, runs):
    names = ("hang", "right", "right:1")
    [report] = run(fresh, store, *names, drift=DriftSpec(every=1))
    assert report.default.status is Status.TIMEOUT
    assert report.best is not None
    assert runs()["hang"] == 1
