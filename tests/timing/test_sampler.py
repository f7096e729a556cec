from __future__ import annotations

import itertools
import math
import random

import pytest

from autotune.records import STANDARD, Failure, Measurement, Policy, Status
from autotune.timing import Timing, time_launches

STEADY = (1.0,) * 100_000


class SimulatedStopwatch:
    """A device whose launch takes ``launch_ns``, and whose host takes time to start a batch.

    ``pace`` gives what each further sample is slower by, ``pause`` what the first of a row is.
    """

    def __init__(self, launch_ns, start_ns=0.0, odd=(), pace=STEADY, pause=1.0):
        self.launch_ns = launch_ns
        self.start_ns = start_ns
        self.pace = iter(pace)
        self.pause = pause
        self.odd = list(odd)
        self.plans = []
        self.taken = []

    def load(self, plan):
        self.plans.append(plan)

    def sample_ns(self, count):
        one = self.launch_ns * self.plans[-1].launches + self.start_ns
        batch = [self.odd.pop(0) if self.odd else one * next(self.pace) for _ in range(count)]
        batch[0] *= self.pause
        self.taken.append(batch)
        return batch

    @property
    def all_taken(self):
        return [sample for batch in self.taken for sample in batch]


def noisy(scale, seed=0):
    draw = random.Random(seed)
    return (draw.gauss(1.0, scale) for _ in itertools.count())


def settling(after, slower=1.3):
    """Samples get faster until the clock has settled after so many of them."""
    return (max(1.0, slower - (slower - 1) * i / after) for i in itertools.count())


POLICY = Policy(warmup_ms=20, min_samples=5, max_samples=25, budget_ms=60, sample_us=1000)


@pytest.mark.parametrize("launch_ns", [2e3, 4e4, 3e5, 2e6, 5e7])
def test_the_time_of_one_launch_is_recovered(launch_ns):
    timing = time_launches(SimulatedStopwatch(launch_ns, start_ns=3e3), POLICY, sets=3)
    assert isinstance(timing, Timing)
    assert max(timing.samples_ns) == pytest.approx(launch_ns, rel=0.01)
    assert POLICY.min_samples <= len(timing.samples_ns) <= POLICY.max_samples


def test_a_fast_candidate_stops_at_the_most_samples():
    assert len(time_launches(SimulatedStopwatch(2e3), POLICY, sets=1).samples_ns) == 25


def test_a_slow_candidate_stops_at_the_fewest_samples():
    assert len(time_launches(SimulatedStopwatch(5e7), POLICY, sets=2).samples_ns) == 5


def test_sampling_keeps_to_its_budget():
    stopwatch = SimulatedStopwatch(6e6)
    assert len(time_launches(stopwatch, POLICY, sets=2).samples_ns) == 10


@pytest.mark.parametrize("launch_ns", [2e3, 4e4, 2e6])
def test_it_warms_up_for_as_long_as_asked(launch_ns):
    stopwatch = SimulatedStopwatch(launch_ns)
    count = len(time_launches(stopwatch, POLICY, sets=1).samples_ns)
    assert sum(stopwatch.all_taken[:-count]) >= POLICY.warmup_ms * 1e6


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, 1e20])
@pytest.mark.parametrize("position", [1, 2, 5, 20])
def test_a_time_that_cannot_be_is_a_bad_measurement(bad, position):
    stopwatch = SimulatedStopwatch(2e6, odd=[2e6] * position + [bad])
    failure = time_launches(stopwatch, POLICY, sets=1)
    assert isinstance(failure, Failure)
    assert failure.status is Status.BAD_MEASUREMENT
    assert str(bad) in failure.message


def test_the_first_sample_after_a_pause_is_not_kept():
    for policy in (POLICY, PRECISE):
        timing = time_launches(
            SimulatedStopwatch(2e6, pause=1.05, pace=noisy(0.003)), policy, sets=1
        )
        assert max(timing.samples_ns) < 2e6 * 1.03


PRECISE = POLICY.replace(precision=0.005, max_samples=201, budget_ms=1000.0)


def half_width(samples):
    low, high = Measurement(samples_ns=samples).interval_ns
    return (high - low) / 2 / Measurement(samples_ns=samples).median_ns


@pytest.mark.parametrize("scale", [0.0001, 0.003, 0.01, 0.02])
def test_sampling_goes_on_until_the_interval_is_narrow_enough_and_not_much_longer(scale):
    counts = []
    for seed in range(20):
        stopwatch = SimulatedStopwatch(1e6, pace=noisy(scale, seed))
        samples = time_launches(stopwatch, PRECISE, sets=1).samples_ns
        assert half_width(samples) <= PRECISE.precision
        counts.append(len(samples))
    needed = max(6, (1.96 * 1.2533 * scale / PRECISE.precision) ** 2)  # of a bell's median
    assert sorted(counts)[10] <= 2 * needed


def test_an_interval_that_stays_wide_ends_with_the_most_samples_or_the_budget():
    wild = time_launches(SimulatedStopwatch(1e6, pace=noisy(0.2)), PRECISE, sets=1)
    assert len(wild.samples_ns) == PRECISE.max_samples
    brief = PRECISE.replace(budget_ms=20.0)
    assert (
        len(time_launches(SimulatedStopwatch(1e6, pace=noisy(0.2)), brief, sets=1).samples_ns) < 23
    )


def test_to_look_often_costs_the_interval_little_of_its_confidence():
    """It is made for a fixed number of samples: to stop when it looks narrow favours misses."""
    held = 0
    for seed in range(1000):
        stopwatch = SimulatedStopwatch(1e6, pace=noisy(0.01, seed))
        samples = time_launches(stopwatch, PRECISE, sets=1).samples_ns
        low, high = Measurement(samples_ns=samples).interval_ns
        held += low <= 1e6 <= high
    assert held / 1000 > 0.9


@pytest.mark.parametrize("after", [40, 70])
def test_warming_up_goes_on_until_the_clock_has_settled(after):
    stopwatch = SimulatedStopwatch(1e6, pace=settling(after))
    samples = time_launches(stopwatch, PRECISE, sets=1).samples_ns
    assert max(samples) <= 1e6 * 1.01
    patient = SimulatedStopwatch(1e6, pace=settling(after))
    without = time_launches(patient, POLICY, sets=1).samples_ns
    assert max(without) > 1e6 * 1.01


def test_a_clock_that_never_settles_is_not_waited_for_for_ever():
    stopwatch = SimulatedStopwatch(1e6, pace=(1.0 + i / 50 for i in itertools.count()))
    count = len(time_launches(stopwatch, PRECISE, sets=1).samples_ns)
    assert sum(stopwatch.all_taken[:-count]) < 7 * PRECISE.warmup_ms * 1e6


def test_noise_is_not_taken_for_a_clock_that_settles():
    spent = []
    for seed in range(20):
        stopwatch = SimulatedStopwatch(1e6, pace=noisy(0.03, seed))
        time_launches(stopwatch, PRECISE.replace(min_samples=1, max_samples=1), sets=1)
        spent.append(sum(stopwatch.all_taken))
    assert sorted(spent)[10] < 1.6 * PRECISE.warmup_ms * 1e6


STOPPING = PRECISE.replace(stop_factor=1.5)


def timed(launch_ns, best_ns, policy=STOPPING, **device):
    stopwatch = SimulatedStopwatch(launch_ns, **device)
    return time_launches(stopwatch, policy, sets=1, best_ns=best_ns), stopwatch


@pytest.mark.parametrize("launch_ns", [1.6e6, 2e6, 4e6, 2e9])
def test_what_is_clearly_slower_than_the_best_costs_little(launch_ns):
    timing, stopwatch = timed(launch_ns, 1e6, pace=noisy(0.005))
    assert timing.stopped
    assert len(timing.samples_ns) <= 8
    assert min(timing.samples_ns) > 1.5e6
    assert len(stopwatch.all_taken) <= 3 + POLICY.warmup_ms * 1e6 / launch_ns + 12


def test_what_is_far_slower_is_not_even_warmed_up():
    for launch_ns in (8e3, 3e6):
        timing, stopwatch = timed(launch_ns, launch_ns / 10)
        assert timing.stopped
        assert timing.samples_ns == (launch_ns, launch_ns)
        assert sum(stopwatch.all_taken) < POLICY.warmup_ms * 1e6


@pytest.mark.parametrize("best_ns", [None, math.inf, math.nan, 1e6, 2e6 / 1.03])
def test_what_is_not_clearly_slower_is_measured_in_full(best_ns):
    launch_ns = 1e6 if best_ns == 1e6 else 2e6
    timing, _ = timed(launch_ns, best_ns, pace=noisy(0.0005))
    plain, _ = timed(launch_ns, None, pace=noisy(0.0005))
    assert not timing.stopped
    assert timing == plain


def test_a_factor_of_zero_stops_nothing():
    timing, _ = timed(1e9, 1.0, STOPPING.replace(stop_factor=0.0, min_samples=2))
    assert not timing.stopped


@pytest.mark.parametrize("position", [1, 2, 4, 20, 28, 29, 30])
def test_one_disturbed_sample_stops_nothing(position):
    timing, _ = timed(1e6, 1e6, odd=[1e6] * position + [50e6])
    assert not timing.stopped
    assert Measurement(samples_ns=timing.samples_ns).median_ns == 1e6


def test_a_cold_clock_stops_nothing_that_is_fast_once_it_is_warm():
    timing, _ = timed(1e6, 1e6, pace=settling(15, slower=2.2))
    assert not timing.stopped


SHORT_NS = 2e4  # of which a sample takes many


def test_what_is_too_slow_and_gets_no_faster_is_not_warmed_up():
    timing, stopwatch = timed(1.8 * SHORT_NS, SHORT_NS, pace=noisy(0.005))
    assert timing.stopped
    assert min(timing.samples_ns) > 1.5 * SHORT_NS
    assert sum(stopwatch.all_taken) < STOPPING.warmup_ms * 1e6 / 2


def test_to_give_up_what_is_too_slow_takes_no_longer_than_to_warm_it_up():
    timing, stopwatch = timed(1.8 * SHORT_NS, SHORT_NS, STANDARD, pace=noisy(0.005))
    assert timing.stopped
    assert sum(stopwatch.all_taken) <= STANDARD.warmup_ms * 1e6


@pytest.mark.parametrize("after", [10, 20, 40, 80])
def test_what_gets_faster_as_it_warms_up_is_not_given_up(after):
    """The slowest of these clocks takes 80 ms, four times the least warm-up, to settle."""
    timing, _ = timed(SHORT_NS, SHORT_NS, pace=settling(after, slower=2.0))
    assert not timing.stopped
    assert max(timing.samples_ns) < 1.02 * SHORT_NS


@pytest.mark.parametrize("times", [1.1, 1.2, 1.45])
@pytest.mark.parametrize("launch_ns", [SHORT_NS, 1e6, 3e6])
def test_who_hardly_wins_is_known_well_enough_from_few_samples(launch_ns, times):
    timing, stopwatch = timed(times * launch_ns, launch_ns, pace=noisy(0.01))
    _, unhurried = timed(times * launch_ns, None, pace=noisy(0.01))
    assert not timing.stopped
    assert 6 <= len(timing.samples_ns) <= 20
    assert Measurement(samples_ns=timing.samples_ns).interval_ns[0] > 1.03 * launch_ns
    found = Measurement(samples_ns=timing.samples_ns).median_ns
    assert found == pytest.approx(times * launch_ns, rel=0.02)
    assert sum(stopwatch.all_taken) < 0.8 * sum(unhurried.all_taken)


def test_who_is_behind_only_until_the_clock_has_settled_is_timed_in_full():
    for after in (10, 20, 40, 80):
        timing, _ = timed(SHORT_NS, SHORT_NS, pace=settling(after, slower=1.4))
        assert max(timing.samples_ns) < 1.02 * SHORT_NS


@pytest.mark.parametrize("without", [{"stop_factor": 0.0}, {"precision": 0.0}])
def test_a_policy_that_gives_nobody_up_or_wants_all_samples_takes_them(without):
    policy = STOPPING.replace(**without)
    timing, _ = timed(1.2e6, 1e6, policy, pace=noisy(0.005))
    plain, _ = timed(1.2e6, None, policy, pace=noisy(0.005))
    assert timing == plain


@pytest.mark.parametrize("most", [3, 6, 7])
def test_who_hardly_wins_has_no_more_samples_than_any_may_have(most):
    policy = STOPPING.replace(min_samples=3, max_samples=most)
    timing, _ = timed(1.2 * SHORT_NS, SHORT_NS, policy, pace=noisy(0.005))
    assert 3 <= len(timing.samples_ns) <= most


@pytest.mark.parametrize("times", [1.0, 1.01, 1.025])
def test_who_may_win_is_timed_as_if_nobody_were_ever_given_up(times):
    timing, stopwatch = timed(times * SHORT_NS, SHORT_NS, pace=noisy(0.005))
    alone, unhurried = timed(times * SHORT_NS, None, pace=noisy(0.005))
    assert stopwatch.taken == unhurried.taken
    assert timing == alone
