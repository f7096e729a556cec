from __future__ import annotations

import math

import pytest

from autotune.records import Failure, Policy, Status
from autotune.timing import Timing, time_launches


class SimulatedStopwatch:
    """A device whose launch takes ``launch_ns``, and whose host takes time to start a batch."""

    def __init__(self, launch_ns, start_ns=0.0, odd=()):
        self.launch_ns = launch_ns
        self.start_ns = start_ns
        self.odd = list(odd)
        self.plans = []
        self.taken = []

    def load(self, plan):
        self.plans.append(plan)

    def sample_ns(self, count):
        one = self.launch_ns * self.plans[-1].launches + self.start_ns
        batch = [self.odd.pop(0) if self.odd else one for _ in range(count)]
        self.taken.append(batch)
        return batch


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
    taken = [sample for batch in stopwatch.taken for sample in batch]
    assert sum(taken[:-count]) >= POLICY.warmup_ms * 1e6


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, 1e20])
@pytest.mark.parametrize("position", [1, 2, 5, 20])
def test_a_time_that_cannot_be_is_a_bad_measurement(bad, position):
    stopwatch = SimulatedStopwatch(2e6, odd=[2e6] * position + [bad])
    failure = time_launches(stopwatch, POLICY, sets=1)
    assert isinstance(failure, Failure)
    assert failure.status is Status.BAD_MEASUREMENT
    assert str(bad) in failure.message
