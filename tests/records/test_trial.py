from __future__ import annotations

import pytest

from autotune.records import Config, Measurement, Status, Trial

SLOW = Measurement(samples_ns=(2100.0, 2000.0, 2050.0))


def trial(status, measurement):
    return Trial(
        number=0, problem_key="p", config=Config(a=1), status=status, measurement=measurement
    )


def test_what_was_stopped_early_has_a_bound_and_no_median():
    stopped = trial(Status.STOPPED_EARLY, SLOW)
    assert (stopped.median_ns, stopped.bound_ns, stopped.known_ns) == (None, 2000.0, 2000.0)


def test_what_is_ok_has_a_median_and_no_bound():
    right = trial(Status.OK, SLOW)
    assert (right.median_ns, right.bound_ns, right.known_ns) == (2050.0, None, 2050.0)


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.OK, Status.STOPPED_EARLY}))
def test_of_a_failure_no_time_is_known(status):
    failed = trial(status, SLOW)
    assert (failed.median_ns, failed.bound_ns, failed.known_ns) == (None, None, None)
