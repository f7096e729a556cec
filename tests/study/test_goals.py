"""Studies of more than one goal, here on the recording that ships."""

from __future__ import annotations

import dataclasses
import math
import sqlite3
from contextlib import closing

import hosted
import pytest

from autotune.device import open_device
from autotune.errors import InvalidInput
from autotune.records import QUICK, Limits, Status, load_kernel, undominated
from autotune.store import Store
from autotune.study import StudySpec, run_study
from autotune.study.question import Question
from autotune.study.spec import DriftSpec

GEMM = load_kernel("gemm")
PROBLEM = GEMM.problem_type.parse({"m": 1024, "n": 1024, "k": 1024})
BASE = StudySpec(
    name="two",
    kernel_ref="gemm",
    kernel=GEMM,
    problems=(PROBLEM,),
    goals=("time", "shared_memory"),
    trials=30,
    policy=QUICK,
)


class Heard(hosted.Counting):
    def __init__(self, stop_after=None):
        super().__init__(stop_after)
        self.notes = []

    def note(self, text):
        self.notes.append(text)


@pytest.fixture
def tune(tmp_path):
    """Return a function that replays a study; it gives the report, and what was heard."""

    def study(stop_after=None, **changes):
        heard = Heard(stop_after)
        with (
            closing(open_device("recording:h200", limits=Limits())) as device,
            Store.open(str(tmp_path / "s.db")) as store,
        ):
            spec = dataclasses.replace(BASE, **changes)
            return run_study(spec, device=device, store=store, observer=heard).problems[0], heard

    return study


def _every_trial():
    with closing(open_device("recording:h200", limits=Limits())) as device:
        question = Question(BASE, PROBLEM, device)
        for config in question.valid():
            candidate = question.candidate(config)
            built = device.build(candidate).result()
            outcome = question.measure(candidate, built)
            yield question.trial(0, config=config, built=built, outcome=outcome, device_ns=0)


def _area(trials, largest):
    """Return the share of the area that a front dominates, up to four times the least time."""
    points = sorted((math.log(t.median_ns), t.shared_bytes) for t in trials if t.median_ns)
    area, lowest = 0.0, largest[1]
    for log_ns, shared in points:
        if log_ns < largest[0] and shared < lowest:
            area += (largest[0] - log_ns) * (lowest - shared)
            lowest = shared
    return area


def test_it_finds_more_of_the_front_than_chance_does(tune):
    _, some = tune(trials=100)
    _, random = tune(sampler="random", trials=100, name="random")
    right = [trial for trial in _every_trial() if trial.median_ns]
    least = min(trial.median_ns for trial in right)
    largest = (math.log(4 * least), max(trial.shared_bytes for trial in right))
    whole = _area(right, largest)

    assert _area(some.seen, largest) > 0.9 * whole  # it is 0.94 here, by chance 0.83
    assert _area(some.seen, largest) > _area(random.seen, largest)
    assert "searches by tpe" in some.notes[0]


def test_its_front_is_that_of_its_rows(tune):
    report, heard = tune()
    right = [trial for trial in heard.seen if trial.status is Status.OK]

    assert report.front == len(undominated(right, BASE.seeks)) > 1
    assert report.best.median_ns == min(trial.median_ns for trial in right)


def test_an_interrupted_study_goes_on_with_its_goals(tune):
    _, whole = tune(name="whole")
    with pytest.raises(KeyboardInterrupt):
        tune(stop_after=17)
    _, rest = tune()

    assert [t.config for t in rest.seen] == [t.config for t in whole.seen][17:]


def test_what_is_slow_may_be_on_the_front_and_is_not_given_up(tune):
    _, alone = tune(goals=("time",), name="time")
    _, several = tune()

    assert Status.STOPPED_EARLY in {trial.status for trial in alone.seen}
    assert Status.STOPPED_EARLY not in {trial.status for trial in several.seen}


def test_a_goal_that_a_recording_does_not_tell_is_refused_before_a_row_is_written(tune, tmp_path):
    with pytest.raises(InvalidInput, match="goals: recording:h200 does not tell energy of m=1024"):
        tune(goals=("time", "energy"))

    with Store.open(str(tmp_path / "s.db")) as store:
        assert store.studies() == []


def test_such_a_goal_is_refused_of_a_study_that_goes_on_too(tune):
    tune(trials=4, goals=("time",))
    with pytest.raises(InvalidInput, match="goals: recording:h200 does not tell energy of m=1024"):
        tune(trials=8, goals=("time", "energy"))

    assert tune(trials=6)[0].total == 6


def test_rows_from_before_a_goal_was_kept_are_told_of(tune, tmp_path):
    tune(trials=12)
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection, connection:
        connection.execute("UPDATE trial SET dynamic_shared_bytes = NULL WHERE number < 5")
    report, heard = tune(trials=14)

    assert "5 trials of earlier runs do not tell all goals" in heard.notes[1]
    assert report.front <= 9


@pytest.fixture
def on_the_host(tmp_path):
    """Return a function that runs a small study there and gives its report and trials."""

    def study(**changes):
        heard = Heard()
        spec = hosted.spec(space=hosted.GOOD, **changes)
        with (
            closing(open_device("host", limits=Limits())) as device,
            Store.open(str(tmp_path / "s.db")) as store,
        ):
            return run_study(spec, device=device, store=store, observer=heard).problems[0], heard

    return study


def test_the_host_tells_the_error_of_each_candidate(on_the_host):
    goals = ("time", "error", "shared_memory")
    report, heard = on_the_host(goals=goals, policy=QUICK.replace(error=True))
    errors = {trial.measurement.error for trial in heard.seen}

    assert len(heard.seen) == 3
    assert len(errors) == 1  # they compute alike
    assert 0 < errors.pop() < 1
    times_ns = [trial.median_ns for trial in heard.seen]
    # They take no shared memory either: the fastest beats all that are not just as fast.
    assert report.front == times_ns.count(min(times_ns))


class Asked:
    """A device that remembers which policies it was asked to measure by."""

    def __init__(self, device):
        self._device = device
        self.policies = []

    def measure(self, candidate, binary, policy, **how):
        self.policies.append(policy)
        return self._device.measure(candidate, binary, policy, **how)

    def __getattr__(self, name):
        return getattr(self._device, name)


def test_what_is_measured_again_is_asked_for_its_time_alone(tmp_path):
    policy = QUICK.replace(error=True)
    spec = hosted.spec(
        goals=("time", "error"), policy=policy, space=hosted.GOOD, drift=DriftSpec(every=1)
    )
    with (
        closing(open_device("host", limits=Limits())) as device,
        Store.open(str(tmp_path / "s.db")) as store,
    ):
        run_study(spec, device=(asked := Asked(device)), store=store)

    assert asked.policies.count(policy) == spec.trials
    assert asked.policies.count(QUICK) >= spec.trials + 1  # the yardstick, and a final


def test_a_recording_of_such_a_study_tells_its_goals_again(on_the_host, tmp_path):
    goals = ("time", "error")
    measured, _ = on_the_host(goals=goals, policy=QUICK.replace(error=True))
    with (
        closing(open_device(f"recording:{tmp_path / 's.db'}", limits=Limits())) as device,
        Store.open(str(tmp_path / "again.db")) as store,
    ):
        spec = hosted.spec(goals=goals, space=hosted.GOOD)
        replayed = run_study(spec, device=device, store=store).problems[0]

    assert replayed.best.measurement.error == measured.best.measurement.error
    assert replayed.front == measured.front


def test_the_host_does_not_tell_energy(on_the_host):
    with pytest.raises(InvalidInput, match="goals: host does not tell energy of m=8"):
        on_the_host(goals=("time", "energy"), policy=QUICK.replace(energy_ms=1.0))


@pytest.mark.gpu
def test_a_gpu_tells_the_energy_of_a_launch(tmp_path):
    asked = QUICK.replace(energy_ms=200.0)
    spec = dataclasses.replace(BASE, goals=("time", "energy"), trials=3, policy=asked)
    heard = Heard()
    with (
        closing(open_device("cuda:0", limits=Limits())) as device,
        Store.open(str(tmp_path / "s.db")) as store,
    ):
        run_study(spec, device=device, store=store, observer=heard)

    right = [trial.measurement for trial in heard.seen if trial.status is Status.OK]
    watts = [each.energy_mj / (each.median_ns * 1e-6) for each in right]
    assert right
    assert all(30 < each < 2000 for each in watts), watts
