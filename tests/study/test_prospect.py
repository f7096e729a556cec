"""A study may end when a gain is unlikely, here on the recording that ships."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from autotune.device import open_device
from autotune.records import QUICK, Limits, Status, load_kernel
from autotune.store import Store
from autotune.study import StudySpec, run_study
from autotune.study.events import Reason, Silent

GEMM = load_kernel("gemm")
MOST = 250
TAILS, SQUARE, FLAT, LARGE = (
    (GEMM.problem_type.parse({"m": m, "n": n, "k": k}),)
    for m, n, k in ((300, 1000, 1112), (2048,) * 3, (512, 4096, 4096), (4096,) * 3)
)


class Heard(Silent):
    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


@pytest.fixture
def tune(tmp_path):
    """Return a function that replays a study and gives its report and its notes."""

    def study(**changes):
        spec = StudySpec(
            name="s",
            kernel_ref="gemm",
            kernel=GEMM,
            policy=QUICK,
            **{"trials": MOST, "prior": False, "problems": TAILS, **changes},
        )
        heard = Heard()
        with (
            closing(open_device("recording:h200", limits=Limits())) as device,
            Store.open(f"sqlite:///{tmp_path}/s.db") as store,
        ):
            report = run_study(spec, device=device, store=store, observer=heard).problems[-1]
        return report, [note for note in heard.notes if "chance" in note or "cannot" in note]

    return study


def test_it_ends_once_it_has_the_best_and_says_what_it_estimates(tune):
    report, notes = tune(stop_chance=0.2)
    assert report.reason is Reason.UNLIKELY
    assert report.ran < MOST
    assert report.best.median_ns == 5086.0  # the fastest of 2,026
    assert f"after {report.ran} trials the chance of a gain over 1 % is" in notes[-1]


def test_run_again_it_does_nothing(tune):
    first, _ = tune(stop_chance=0.2)
    again, _ = tune(stop_chance=0.2)
    assert (again.ran, again.reason) == (0, Reason.FINISHED_BEFORE)
    assert again.total == first.total


def test_a_larger_gain_is_sooner_unlikely(tune):
    coarse, _ = tune(stop_chance=0.2, stop_gain=0.2)
    fine, _ = tune(stop_chance=0.2)
    assert 0 < coarse.total < fine.total


def test_unless_it_is_asked_to_it_makes_every_trial(tune):
    report, notes = tune(trials=150)
    assert (report.ran, report.reason, notes) == (150, Reason.BUDGET, [])


def test_it_stays_ended_when_winners_of_other_problems_join(tune):
    problems = (*LARGE, *FLAT, *SQUARE)
    soon = {"stop_chance": 0.9, "stop_gain": 0.5, "problems": problems}  # few are tried
    alone, _ = tune(**soon)
    joined, _ = tune(**soon, cross=4)
    again, _ = tune(**soon, cross=4)
    assert alone.total < joined.total <= alone.total + 8
    assert (again.ran, again.total) == (0, joined.total)


def test_what_failed_is_tried_again_however_unlikely_a_gain_is(tune, tmp_path):
    tune(trials=16)
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection, connection:
        connection.execute("UPDATE trial SET status = 'crashed' WHERE number BETWEEN 1 AND 8")
    report, _ = tune(stop_chance=0.999, stop_gain=1.0, retry_failed=True)
    assert report.ran == 8
    assert report.statuses[Status.CRASHED] == 0
    assert report.total == 16


def test_a_sampler_that_cannot_tell_says_so(tune):
    report, notes = tune(stop_chance=0.9, sampler="random", trials=9)
    assert report.ran == 9
    assert notes == [f"{report.problem}: random cannot tell when a gain is unlikely: it goes on"]
