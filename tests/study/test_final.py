"""Finals and yardsticks on the host's own compiler, and what a table makes of them."""

from __future__ import annotations

import dataclasses
import random
from contextlib import closing
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from hosted import FAULTY, GOOD, Counting, spec

from autotune.device import open_device
from autotune.records import (
    QUICK,
    Config,
    Failure,
    Finalist,
    Limits,
    Measurement,
    Outcome,
    Status,
    Trial,
    load_kernel,
    tied,
)
from autotune.study import DriftSpec, FinalSpec, Reason, Silent, final, run_study
from autotune.study.drift import Yardstick
from autotune.study.entrant import Contender
from autotune.study.final import contestants
from autotune.study.progress import Progress
from autotune.study.question import Question
from autotune.verify import Exam

MANY = {"fault": ["none"], "twin": [0, 1, 2, 3, 4, 5]}
SMALL = FinalSpec(candidates=3, rounds=4)
NO_FINAL = FinalSpec(candidates=0)


@pytest.fixture
def all_near(monkeypatch):
    """Let all configs meet: on a busy machine equal ones may lie far apart."""
    monkeypatch.setattr(final, "WITHIN", 1000.0)


class Told(Counting):
    def __init__(self):
        super().__init__()
        self.notes, self.rounds = [], 0

    def note(self, text):
        self.notes.append(text)

    def final_round(self, number, **_):
        self.rounds = number


def only_final(store):
    [found] = store.finals().values()
    return found


@pytest.mark.usefixtures("all_near")
def test_the_best_meet_again_and_what_cannot_be_told_apart_ties(host, store):
    told = Told()
    each = spec(space=MANY, trials=4, final=SMALL)
    report = run_study(each, device=host, store=store, observer=told).problems[0]
    finalists = only_final(store).finalists
    assert len(finalists) == SMALL.candidates
    assert max(len(finalist.rounds_ns) for finalist in finalists) <= SMALL.rounds
    assert report.best.config in {finalist.config for finalist in finalists}
    assert report.tied < len(finalists)
    assert 3 <= told.rounds <= SMALL.rounds


@pytest.mark.usefixtures("all_near")
def test_they_meet_once_and_again_when_there_are_new_trials(host, store):
    def run(trials):
        run_study(spec(space=MANY, trials=trials, final=SMALL), device=host, store=store)
        return only_final(store)

    first = run(4)
    assert run(4) == first
    assert run(5).finished_at > first.finished_at


@pytest.mark.usefixtures("all_near")
def test_a_final_that_an_interrupt_left_out_is_held_by_the_next_run(host, store):
    with pytest.raises(KeyboardInterrupt):
        run_study(spec(space=MANY, trials=4), device=host, store=store, observer=Counting(4))
    assert store.finals() == {}
    report = run_study(spec(space=MANY, trials=4), device=host, store=store).problems[0]
    assert (report.ran, report.reason) == (0, Reason.FINISHED_BEFORE)
    assert only_final(store).finalists


@pytest.fixture
def patient(monkeypatch):
    """Let a few hundred launches take as long as a busy machine needs."""
    hurried = Exam.of_many_launches

    def unhurried(policy):
        return dataclasses.replace(hurried(policy), launches=400, patience_ms=20e3)

    monkeypatch.setattr(Exam, "of_many_launches", unhurried)


@pytest.mark.usefixtures("all_near", "patient")
def test_what_is_seldom_wrong_leads_no_final(host, store):
    seldom = FAULTY.replace("FaultyMatmul", "SeldomWrong")
    each = spec(
        kernel_ref=seldom,
        kernel=load_kernel(seldom),
        space={"fault": ["seldom"]},
        policy=QUICK.replace(stop_factor=0.0),
    )
    report = run_study(each, device=host, store=store).problems[0]
    assert report.best is None
    assert store.finals() == {}
    wrong = {Status.NONDETERMINISTIC, Status.INCORRECT}  # a look may happen on the wrong launch
    assert {row.trial.status for row in store.rows()} <= wrong
    assert len(store.rows()) == report.total == 2
    assert run_study(each, device=host, store=store).problems[0].ran == 0


UNLUCKY = spec(space=GOOD, final=SMALL, policy=QUICK.replace(stop_factor=0.0))


@pytest.fixture
def unlucky(all_near, monkeypatch):
    """Let some twins show their fault in the final and never before."""

    def let(*twins):
        class Unlucky(Contender):
            def measure(self):
                super().measure()
                if self.candidate.config["twin"] in twins:
                    self.outcomes[-1] = Outcome(status=Status.INCORRECT, message="wrong at last")

        monkeypatch.setattr(final, "Contender", Unlucky)

    return let


def statuses(store):
    return {row.trial.config["twin"]: row.trial.status for row in store.rows()}


def test_what_the_final_itself_finds_wrong_has_its_row_say_so(host, store, unlucky):
    unlucky(1)
    told = Told()
    report = run_study(UNLUCKY, device=host, store=store, observer=told).problems[0]
    assert statuses(store) == {0: Status.OK, 1: Status.INCORRECT, 2: Status.OK}
    assert report.statuses == {Status.OK: 2, Status.INCORRECT: 1}
    assert {each.config["twin"] for each in only_final(store).finalists} == {0, 2}
    assert [note for note in told.notes if "wrong at last" in note]
    assert run_study(UNLUCKY, device=host, store=store).problems[0].ran == 0


def test_a_final_that_finds_all_wrong_is_none(host, store, unlucky):
    unlucky(0, 1, 2)
    report = run_study(UNLUCKY, device=host, store=store).problems[0]
    assert set(statuses(store).values()) == {Status.INCORRECT}
    assert (report.best, store.finals()) == (None, {})


def test_an_interrupt_between_a_row_and_what_takes_its_place_leaves_it(
    host, store, unlucky, monkeypatch
):
    unlucky(0, 1)
    insert = store._insert_trial

    def struck(connection, values):
        if values["status"] == Status.INCORRECT:
            raise KeyboardInterrupt
        return insert(connection, values)

    with monkeypatch.context() as patched:
        patched.setattr(store, "_insert_trial", struck)
        with pytest.raises(KeyboardInterrupt):
            run_study(UNLUCKY, device=host, store=store)
    assert set(statuses(store).values()) == {Status.OK}
    report = run_study(UNLUCKY, device=host, store=store).problems[0]
    assert (report.ran, report.best.config["twin"]) == (0, 2)
    assert report.statuses == {Status.OK: 1, Status.INCORRECT: 2}


def test_what_failed_in_a_final_is_the_best_of_no_study(host, store):
    each = spec(space=MANY, final=NO_FINAL)
    before = run_study(each, device=host, store=store).problems[0]
    question = Question(each, each.problems[0], host)
    progress = Progress(question, store, valid=question.space)
    progress.add_final([Finalist(config=config, rounds_ns=()) for config in progress.trials])
    after = run_study(each, device=host, store=store).problems[0]

    assert before.best is not None
    assert (after.best, after.tied, after.front) == (None, 0, 0)
    assert store.best() == []


@pytest.mark.parametrize(("late_ns", "best"), [(110.0, 2), (90.0, 3)])
def test_a_final_decides_also_once_there_are_new_trials(host, store, late_ns, best):
    each = spec(space=MANY)
    question = Question(each, each.problems[0], host)
    progress = Progress(question, store, valid=question.space)

    def add(twin, ns):
        measured = Outcome(status=Status.OK, measurement=Measurement(samples_ns=(ns,)))
        built = Failure(status=Status.OOM, message="of no binary")
        config = Config(fault="none", twin=twin)
        return progress.add(config, built=built, outcome=measured, device_ns=0)

    tried = [add(twin, ns) for twin, ns in enumerate((100.0, 101.0, 102.0))]
    rounds_ns = ((), (100.0,) * 3, (99.0,) * 3)
    pairs = zip(tried, rounds_ns, strict=True)
    progress.add_final([Finalist(config=trial.config, rounds_ns=ns) for trial, ns in pairs])
    assert progress.has_final()
    tried.append(add(3, late_ns))
    again = Progress(question, store, valid=question.space)
    assert not again.has_final()
    assert again.tied()[0] == store.best()[0].trial == tried[best]


def test_fewer_than_two_candidates_hold_none(host, store):
    run_study(spec(space=MANY, final=NO_FINAL), device=host, store=store)
    assert store.finals() == {}


def test_without_a_final_the_report_names_what_a_table_would_take(store):
    gemm = load_kernel("gemm")
    problem = gemm.problem_type.parse({"m": 4096, "n": 4096, "k": 4096})
    each = spec(kernel_ref="gemm", kernel=gemm, problems=(problem,), space={}, trials=60)
    with closing(open_device("recording:h200", limits=Limits())) as device:
        report = run_study(each, device=device, store=store).problems[0]
    [row] = store.best()
    times_ns = [ns for each in store.rows() if (ns := each.trial.median_ns) is not None]
    assert min(times_ns) < row.trial.median_ns, "a tie that the fastest does not win"
    assert (report.best, report.tied) == (row.trial, 1)


def test_the_yardstick_is_read_every_so_many_trials(host, store):
    each = spec(space=MANY, trials=5, final=NO_FINAL, drift=DriftSpec(every=2))
    run_study(each, device=host, store=store)
    [context] = store.contexts()
    readings = store.readings(store.find_study("study"), context.context)
    assert sorted({reading.after for reading in readings}) == [2, 4]
    assert {reading.config["twin"] for reading in readings} == {0}


def test_a_reading_counts_all_trials_before_it_also_those_that_the_space_has_lost(host, store):
    def run(twins, trials, every):
        each = spec(
            space={"fault": ["none"], "twin": twins},
            trials=trials,
            final=NO_FINAL,
            drift=DriftSpec(every=every),
        )
        run_study(each, device=host, store=store)

    run([0, 1, 2], 3, 0)
    run([0, 3, 4, 5], 4, 1)
    [context] = store.contexts()
    readings = store.readings(store.find_study("study"), context.context)
    assert {reading.after for reading in readings} == {4, 5, 6}


def trial(number, ns, status=Status.OK):
    return Trial(
        number=number,
        problem_key="",
        config=Config(number=number),
        status=status,
        measurement=Measurement(samples_ns=(ns,)),
        finished_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def numbers(trials):
    return [each.number for each in trials]


def test_whoever_is_within_five_percent_of_the_best_may_be_the_best():
    trials = [trial(0, 104.0), trial(1, 100.0), trial(2, 106.0), trial(3, 1.0, Status.INCORRECT)]
    assert numbers(contestants(trials, most=5, slowness=lambda _: 1.0)) == [1, 0]
    assert numbers(contestants(trials, most=1, slowness=lambda _: 1.0)) == [1]
    assert contestants([], most=5, slowness=lambda _: 1.0) == []


def test_what_was_measured_while_the_device_was_slow_gets_the_benefit_of_the_doubt():
    trials = [trial(0, 100.0), trial(1, 108.0), trial(2, 108.0)]
    slow_at = {1: 1.1, 2: 0.9}  # a fast moment takes nothing away
    met = contestants(trials, most=5, slowness=lambda each: slow_at.get(each.number, 1.0))
    assert numbers(met) == [1, 0]


def test_what_was_given_up_while_the_device_was_slow_gets_it_too():
    given_up = trial(1, 155.0, Status.STOPPED_EARLY)  # a bound: it took no less
    met = contestants([trial(0, 100.0), given_up], most=5, slowness=lambda _: 1.0)
    assert numbers(met) == [0]
    slow = {1: 1.6}
    met = contestants(
        [trial(0, 100.0), given_up], most=5, slowness=lambda each: slow.get(each.number, 1.0)
    )
    assert sorted(numbers(met)) == [0, 1]


class Racing:
    """A question in which every config takes what it says, under a clock that drifts."""

    def __init__(self, seed=0):
        self.device, self.draw, self.clock = self, random.Random(seed), 1.0

    def candidate(self, config):
        return SimpleNamespace(config=config)

    def build(self, candidate):
        return self

    def result(self):
        return None

    def measure(self, candidate, built):
        self.clock *= self.draw.gauss(1.0, 0.001)
        ns = candidate.config["ns"]
        if ns is None:
            return Outcome(status=Status.INCORRECT)
        measured = Measurement(samples_ns=(self.clock * ns,))
        return Outcome(status=Status.OK, measurement=measured)


def raced(*times_ns, rounds=9):
    configs = [Config(ns=ns) for ns in times_ns]
    field = final.hold_final(Racing(), configs, rounds=rounds, seed=0, observer=Silent())
    met = [final.finalist(each) for each in field]
    return {each.config["ns"]: len(each.rounds_ns) for each in met}, met


def test_who_is_clearly_slower_leaves_the_final_and_who_may_tie_stays_to_its_end():
    rounds, met = raced(100.0, 100.4, 103.0, 140.0)
    assert rounds[100.0] == rounds[100.4] == 9
    assert rounds[140.0] == 3
    assert rounds[103.0] < 9
    assert {config["ns"] for config in tied(met)} == {100.0, 100.4}


def test_a_final_ends_once_one_is_left():
    rounds, met = raced(100.0, 150.0, None)
    assert rounds == {100.0: 3, 150.0: 3, None: 0}
    assert [config["ns"] for config in tied(met)] == [100.0]
    assert raced(100.0, rounds=1)[0] == {100.0: 1}
    assert raced(None)[0] == {None: 0}


class Scripted:
    """A question whose default takes what a script says: a real device drifts when it likes."""

    def __init__(self, *times_ns):
        self.default = self.device = self
        self.config = Config(number=0)
        self._times_ns = iter(times_ns)

    def build(self, candidate):
        return self

    def result(self):
        return None

    def measure(self, candidate, built):
        ns = next(self._times_ns)
        if ns is None:
            return Outcome(status=Status.INCORRECT)
        return Outcome(status=Status.OK, measurement=Measurement(samples_ns=(ns,)))


def yardstick(*times_ns):
    kept = []
    stick = Yardstick(Scripted(*times_ns), every=10, limit=0.03, readings=(), keep=kept.append)
    return stick, kept


def test_an_excursion_is_read_again_and_casts_doubt_on_the_trials_around_it():
    stick, kept = yardstick(100.0, 101.0, 120.0, 121.0, 100.0, 99.0)
    read = [stick.after(trials) for trials in range(1, 51)]
    assert [each.after for each in kept] == [10, 20, 30, 30, 40, 50]
    assert [each.after for each in read if each and stick.is_excursion(each)] == [30]
    assert stick.slowness_at(trial(25, 1.0)) == pytest.approx(1.2, abs=0.02)
    assert stick.slowness_at(trial(35, 1.0)) == pytest.approx(1.2, abs=0.02)
    assert stick.slowness_at(trial(12, 1.0)) == pytest.approx(1.0, abs=0.02)
    assert stick.slowness_at(trial(55, 1.0)) == pytest.approx(1.0, abs=0.02)


def test_a_yardstick_that_fails_is_read_no_more():
    stick, kept = yardstick(100.0, None)
    assert [stick.after(trials) is not None for trials in (10, 20, 30)] == [True, False, False]
    assert len(kept) == 1
