from __future__ import annotations

import math

import numpy as np
import pytest

from autotune.errors import InvalidInput
from autotune.score.baseline import Baseline

NINE = [9, 1, 8, 2, 7, 3, 6, 4, 5]


def test_draws_until_half_way_and_nearly_there_are_those_of_the_definition(landscape):
    # Best 1, median 5. Half way is 3, of rank 6: 6 / (10 - 6) draws. 95 % of it is 1.2, rank 8.
    baseline = Baseline(landscape(NINE))
    assert baseline.draws(0.5) == 2
    assert baseline.draws(0.95) == 4


def test_random_search_is_expected_to_find_what_the_definition_says(landscape):
    # Ranks round(10 m / (m + 1)), the best 8 at most, of 9, 8, … 1.
    baseline = Baseline(landscape(NINE))
    assert [baseline.after(draws) for draws in (0, 1, 2, 3, 9)] == [9, 4, 2, 1, 1]


def test_the_window_is_counted_in_median_costs_of_all_configs_failures_too(landscape):
    costs = [10, 10, 10, 10, 10, 70, 70, 70, 70, 70, 70]
    baseline = Baseline(landscape([*NINE, None, None], costs))
    assert baseline.times_ns[0] == 2 * 70
    assert baseline.times_ns[-1] == 4 * 70
    assert len(baseline.times_ns) == 1000
    assert np.allclose(np.diff(baseline.times_ns), 140 / 999)


def test_what_is_expected_follows_the_time_in_whole_draws(landscape):
    baseline = Baseline(landscape(NINE))
    early = baseline.times_ns < 2.5
    assert set(baseline.expected_ns[early]) == {2}
    assert set(baseline.expected_ns[baseline.times_ns > 2.5]) == {1}


def test_ranks_lead_back_to_values(landscape):
    baseline = Baseline(landscape(NINE))
    assert baseline.ranks([9, 5, 1, math.inf]).tolist() == [0, 4, 8, 0]
    assert baseline.values(np.array([0, 3.6, 8])).tolist() == [9, 5, 1]


def test_equal_values_share_the_middle_of_their_ranks(landscape):
    baseline = Baseline(landscape([9, 8, 7, 6, 5, 5, 5, 4, 3, 2, 1]))
    assert baseline.ranks([5]).tolist() == [5]


def test_gains_count_from_random_search_to_the_best(landscape):
    baseline = Baseline(landscape(NINE))
    gains = baseline.gains(np.full(1000, 3.0))
    assert gains[0] == -1  # (2 - 3) / (2 - 1)
    assert math.isnan(gains[-1])  # random search is expected to have the best already


@pytest.mark.parametrize("values", [[5, 5, 5], [None, None], [1, 2], [7]])
def test_where_there_is_nothing_to_search_for_there_is_no_score(landscape, values):
    with pytest.raises(InvalidInput, match="made n=1 on up"):
        Baseline(landscape(values))
