from __future__ import annotations

import math

import pytest

from autotune.records import Policy
from autotune.timing import cut_short, stop_above_ns

POLICY = Policy(stop_factor=2.0)


@pytest.mark.parametrize(
    ("best_ns", "above_ns"), [(None, math.inf), (math.inf, math.inf), (math.nan, math.inf), (5, 10)]
)
def test_a_candidate_is_given_up_above_a_multiple_of_the_best_and_never_without_one(
    best_ns, above_ns
):
    assert stop_above_ns(POLICY, best_ns) == above_ns
    assert stop_above_ns(POLICY.replace(stop_factor=0.0), best_ns) == math.inf


SLOW = (21.0, 20.5, 22.0, 21.0, 20.0, 21.0, 23.0)


def test_samples_are_cut_short_as_soon_as_a_few_are_all_too_slow():
    assert cut_short(SLOW, 20.0) == SLOW[:3]
    assert cut_short(SLOW, 20.5) is None  # to be equal is not to be slower


def test_one_fast_sample_among_the_first_takes_more_to_be_sure():
    assert cut_short((1.0, *SLOW, *SLOW), 20.0 - 1e-9) == (1.0, *SLOW, SLOW[0])


@pytest.mark.parametrize("samples", [(), (9.0,), (9.0, 9.0), (9.0, 9.0, 9.0)])
def test_what_ends_before_it_could_be_stopped_is_whole(samples):
    assert cut_short(samples, 1.0) is None
    assert cut_short(SLOW, math.inf) is None
