from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.errors import InvalidInput
from autotune.records import Policy
from autotune.timing import make_plan, set_count
from autotune.timing.plan import MOST_SETS

H200_L2 = 60 << 20
MIB = 1 << 20


@given(st.integers(1, 4096 * MIB), st.integers(1 << 16, 256 * MIB))
def test_cold_passes_three_caches_between_two_uses_of_a_set(set_bytes, l2_bytes):
    sets = set_count(set_bytes, l2_bytes, "cold")
    assert (sets - 1) * set_bytes > 3 * l2_bytes or sets == MOST_SETS


def test_a_tiny_problem_does_not_fill_the_memory_with_its_sets():
    assert set_count(6, H200_L2, "cold") == MOST_SETS


def test_cold_wastes_no_memory_on_large_problems():
    assert set_count(3 * 4096 * 4096 * 2, H200_L2, "cold") == 3
    assert set_count(3 * 16384 * 16384 * 2, H200_L2, "cold") == 2


def test_hot_uses_one_set():
    assert set_count(1, H200_L2, "hot") == 1


def test_an_unknown_cache_state_is_refused():
    with pytest.raises(InvalidInput, match="cold, hot"):
        set_count(1, 1, "warm")


def test_a_launch_longer_than_a_sample_is_timed_alone():
    plan = make_plan(1.5e6, sets=3, policy=Policy(sample_us=1000))
    assert (plan.launches, plan.graph) == (1, False)


@given(st.floats(100, 9e5), st.integers(1, 2000))
def test_a_batch_lasts_at_least_a_sample_and_a_graph_uses_every_set_alike(launch_ns, sets):
    policy = Policy()
    plan = make_plan(launch_ns, sets=sets, policy=policy)
    assert plan.launches * launch_ns >= policy.sample_us * 1e3 * 0.999
    if plan.graph:
        assert plan.launches % sets == 0
    if launch_ns < 20_000:
        assert plan.graph
