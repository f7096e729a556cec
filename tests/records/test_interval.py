from __future__ import annotations

import random
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.records import Measurement
from autotune.records.interval import SURE_FROM, median_interval

TIMES = st.lists(st.floats(1.0, 1e9), min_size=1, max_size=40)
DRAWS = 2000


def _bell(draw):
    return draw.gauss(1000.0, 5.0)


def _skewed(draw):
    return 1000.0 + draw.expovariate(1 / 20.0)


def _two_clocks(draw):
    return draw.gauss(1000.0, 1.0) if draw.random() < 0.7 else draw.gauss(1100.0, 1.0)


TRUE_MEDIANS = {_bell: 1000.0, _skewed: 1000.0 + 20.0 * 0.693147, _two_clocks: 1000.566}


@pytest.mark.parametrize("shape", TRUE_MEDIANS)
@pytest.mark.parametrize("count", [6, 11, 31, 101])
def test_it_holds_the_true_median_as_often_as_it_says(shape, count):
    draw = random.Random(7)
    held = 0
    for _ in range(DRAWS):
        low, high = median_interval([shape(draw) for _ in range(count)])
        held += low <= TRUE_MEDIANS[shape] <= high
    assert held / DRAWS > 0.94  # 0.95 less two standard errors of 2,000 draws


@pytest.mark.parametrize(
    ("count", "rank"), [(5, 1), (6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (25, 8), (50, 18)]
)
def test_its_ends_have_the_ranks_of_the_published_tables(count, rank):
    samples = [float(i) for i in range(1, count + 1)]
    assert median_interval(samples) == (rank, count + 1 - rank)


@given(TIMES)
def test_it_holds_the_median_of_the_samples_and_stays_among_them(samples):
    low, high = median_interval(samples)
    assert min(samples) <= low <= median(samples) <= high <= max(samples)


@given(TIMES, st.randoms(use_true_random=False))
def test_it_does_not_depend_on_their_order(samples, random_):
    shuffled = samples.copy()
    random_.shuffle(shuffled)
    assert median_interval(shuffled) == median_interval(samples)


def test_one_wild_sample_among_many_does_not_widen_it():
    calm = [1000.0 + i % 5 for i in range(30)]
    assert Measurement(samples_ns=(*calm, 9e9)).interval_ns[1] <= 1004.0


def test_fewer_than_six_samples_span_it_all():
    assert Measurement(samples_ns=(3.0,)).interval_ns == (3.0, 3.0)
    assert Measurement(samples_ns=(5.0, 3.0, 9.0, 4.0, 4.0)[: SURE_FROM - 1]).interval_ns == (3, 9)
