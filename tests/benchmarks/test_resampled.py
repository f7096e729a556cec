"""A recording whose noise is drawn anew: it times as a device does, and knows what is true."""

from __future__ import annotations

import argparse
import random
from contextlib import closing
from itertools import pairwise
from statistics import fmean, stdev

import flips
import pytest
import savings
from resampled import (
    DRIFT,
    FORGETS,
    Drift,
    ResampledDevice,
    Resampling,
    recorded_times,
    verifying_ns,
)
from resampled_study import ran

from autotune.records import QUICK, STANDARD, Candidate, Config, Problem, Status, load_kernel
from autotune.study import DriftSpec, FinalSpec, StudySpec
from autotune.timing import Plan
from autotune.verify import Exam

GEMM = load_kernel("gemm")


@pytest.fixture(scope="module")
def recorded():
    _, times = recorded_times("h200", GEMM)
    return times


@pytest.fixture
def device():
    with closing(ResampledDevice("h200", seed=0, drift=0.0)) as device:
        yield device


def of(device, problem: Problem, config: Config) -> Candidate:
    return Candidate(
        kernel_ref="gemm",
        problem=problem,
        config=config,
        target=device.identity.target,
        kernel=GEMM,
    )


def measured(device, problem, config, policy=STANDARD, best_ns=None):
    candidate = of(device, problem, config)
    return device.measure(candidate, device.build(candidate).result(), policy, best_ns=best_ns)


def test_the_median_of_a_candidate_is_the_recorded_one(device, recorded):
    problem, times = next(iter(recorded.items()))
    best = min(times, key=times.get)
    found = measured(device, problem, best)
    assert found.status is Status.OK
    assert found.measurement.median_ns == pytest.approx(times[best], rel=0.01)


def test_what_is_slow_is_stopped_and_costs_less(device, recorded):
    problem, times = next(iter(recorded.items()))
    best_ns, slowest = min(times.values()), max(times, key=times.get)
    measured(device, problem, slowest)
    whole = device.spent[problem].time_ns
    stopped = measured(device, problem, slowest, best_ns=best_ns)
    assert stopped.status is Status.STOPPED_EARLY
    assert device.spent[problem].stopped == 1
    assert device.spent[problem].time_ns < 1.5 * whole


def test_what_was_not_recorded_does_not_build(device, recorded):
    problem, times = next(iter(recorded.items()))
    absent = next(iter(times)).replace(stages=99)
    assert device.build(of(device, problem, absent)).result().status is Status.COMPILE_ERROR


def test_a_stopwatch_counts_every_launch_of_a_batch():
    stopwatch = Resampling([2.0], 1.5, random.Random(0))
    stopwatch.load(Plan(launches=4, graph=True))
    assert stopwatch.sample_ns(3) == [12.0] * 3
    assert stopwatch.spent_ns == 36.0


def test_neighbours_drift_together_and_those_far_apart_do_not():
    drift = Drift(0.01, seed=0)
    factors = [drift.step() for _ in range(20_000)]
    assert fmean(factors) == pytest.approx(1.0, abs=2e-3)
    assert stdev(factors) == pytest.approx(0.01, rel=0.1)
    steps = [abs(b - a) for a, b in pairwise(factors)]
    leaps = [abs(b - a) for a, b in zip(factors, factors[10 * FORGETS :], strict=False)]
    assert fmean(steps) < 0.5 * fmean(leaps)


def test_verification_is_counted_as_the_policy_asks_for_it():
    once = 2 + QUICK.repeats + 1
    assert verifying_ns(QUICK, 10.0) == 10 * once
    assert verifying_ns(QUICK.replace(draws=3), 10.0) == 10 * (once + 2)
    assert verifying_ns(QUICK.replace(verify=False), 10.0) == 0
    exam = Exam.of_many_launches(QUICK)
    assert verifying_ns(exam, 10.0) == 10 * (once + exam.launches)
    assert verifying_ns(exam, 1e9) == 1e9 * once + 1e6 * exam.patience_ms


def test_a_study_of_drawn_noise_holds_its_final_and_exports_its_winner(recorded):
    problem, times = next(iter(recorded.items()))
    near = sorted(times, key=times.get)[:3]
    fixed = {name: sorted({each[name] for each in near}) for name in near[0]}
    spec = StudySpec(
        name="small",
        kernel_ref="gemm",
        kernel=GEMM,
        problems=(problem,),
        trials=8,
        policy=STANDARD,
        space=fixed,
        final=FinalSpec(candidates=3, rounds=3),
        drift=DriftSpec(every=4),
    )
    arguments = argparse.Namespace(recording="h200", drift=DRIFT)
    with ran(spec, arguments, 1) as found:
        assert not any(row.context.replayed_from for row in found.store.rows())
        assert found.store.finals()
        told = flips.told(found, problem)
    assert told.exported in told.tied
    assert told.by_mean in times


def says(exported, *tied, by_mean, **more):
    known = {"finalists": {}, "tried": frozenset(), **more}
    return flips.Told(
        exported=exported, tied=frozenset({exported, *tied}), by_mean=by_mean, **known
    )


def test_a_flip_says_why_the_usual_winner_does_not_tie():
    a, b = Config(tile=1), Config(tile=2)
    assert says(b, a, by_mean=a).why_not(a) == ""
    assert says(b, by_mean=a).why_not(a) == "untried"
    assert says(b, by_mean=a, tried=frozenset({a})).why_not(a) == "absent"
    assert says(b, by_mean=a, tried=frozenset({a}), finalists={a: 3}).why_not(a) == "slower"


def test_runs_that_disagree_are_told_from_runs_that_tie():
    a, b = Config(tile=1), Config(tile=2)
    times = {a: 100.0, b: 102.0}
    agree = says(a, by_mean=a)
    ties = says(b, a, by_mean=b)
    flips_over = says(b, by_mean=a)
    problem = GEMM.problem_type.parse({"m": 8, "n": 8, "k": 8})
    row = flips.judged(problem, times, [agree, agree, ties, flips_over])
    assert (row["winners"], row["same"], row["same_or_tie"]) == (2, 0.5, 0.75)
    assert row["loss"] == pytest.approx(0.01)
    assert (row["by_mean_same"], row["by_mean_loss_worst"]) == (0.75, pytest.approx(0.02))


@pytest.mark.parametrize("arm", savings.ARMS)
def test_an_arm_does_without_what_its_name_does_not_say(arm):
    policy = savings.sampled(STANDARD, arm)
    assert bool(policy.stop_factor) == (arm in {"early stop", "both"})
    assert bool(policy.precision) == (arm in {"adaptive", "both"})
