"""The prediction of a stream's time, held against what any device must obey."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.records.targets import TARGETS
from kernel_space.rates import rates_of
from kernel_space.stream import Stream
from kernel_space.stream.problem import StreamProblem

STREAM = Stream()
H200 = TARGETS["sm_90a"]
LONG = StreamProblem(2**28)
CONFIGS = st.sampled_from(list(STREAM.space(LONG, H200))[::29])
COUNTS = st.integers(0, 2**30)


@settings(max_examples=200, deadline=None)
@given(count=COUNTS, more=COUNTS, config=CONFIGS)
def test_a_longer_array_never_takes_less_time_nor_beats_the_memory(count, more, config):
    shorter, longer = StreamProblem(count), StreamProblem(count + more)
    time_ns = STREAM.estimate(longer, config, H200)
    assert time_ns >= STREAM.estimate(shorter, config, H200)
    assert time_ns > longer.moved_bytes / rates_of(H200).memory_bytes_per_ns


@settings(max_examples=100, deadline=None)
@given(config=CONFIGS.filter(lambda config: config["stages"] > 1))
def test_more_tiles_on_their_way_never_take_more_time(config):
    fewer = config.replace(stages=config["stages"] - 1)
    assert STREAM.estimate(LONG, config, H200) <= STREAM.estimate(LONG, fewer, H200)


def test_tiny_tiles_of_few_threads_leave_the_memory_idle():
    times = STREAM.estimates(LONG, STREAM.space(LONG, H200), H200)
    slowest = max(times, key=times.get)
    assert slowest["threads"] * slowest["thread_bytes"] == 64 * 4
    assert max(times.values()) > 10 * min(times.values())


def test_a_device_whose_rates_are_unknown_has_no_prediction():
    host = replace(H200, arch="x86_64")
    assert STREAM.estimate(LONG, STREAM.default(LONG, H200), host) is None
