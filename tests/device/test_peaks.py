from __future__ import annotations

import dataclasses

import pytest
from driving import BRISK, FAULTY, candidate

from autotune.device import open_device
from autotune.device.bench import serve_bench
from autotune.device.host import HostBackend
from autotune.device.messages import Job, Measure
from autotune.device.peaks import Peaks, impossible, peaks_of
from autotune.records import Cost, Limits, Status, Target

H200 = Target(
    arch="sm_90a",
    sm_count=132,
    shared_bytes_per_block=232_448,
    shared_bytes_per_sm=233_472,
    l2_bytes=60 << 20,
)
DRIVER = {"ClockRate": 1_980_000, "MemoryClockRate": 3_201_000, "GlobalMemoryBusWidth": 6144}
PEAKS = Peaks(flop_per_s=1e12, bytes_per_s=1e9)


def test_an_h200_has_the_peaks_of_its_data_sheet():
    peaks = peaks_of(H200, DRIVER)
    assert peaks.flop_per_s == pytest.approx(1.979e15 * 1980 / 1830, rel=0.001)  # 8-bit, at boost
    assert peaks.bytes_per_s == pytest.approx(4.8e12, rel=0.03)


@pytest.mark.parametrize("missing", DRIVER)
def test_what_the_driver_does_not_say_is_not_judged(missing):
    peaks = peaks_of(H200, {name: value for name, value in DRIVER.items() if name != missing})
    assert (peaks.flop_per_s is None) == (missing == "ClockRate")
    assert (peaks.bytes_per_s is None) == (missing != "ClockRate")


@pytest.mark.parametrize("arch", ["sm_999", "x86_64"])
def test_an_unknown_architecture_has_no_known_peak(arch):
    assert peaks_of(dataclasses.replace(H200, arch=arch), DRIVER).flop_per_s is None


@pytest.mark.parametrize(
    ("flop", "moved", "cold", "said"),
    [
        (1000, 0, True, None),  # just the peak
        (1001, 0, True, "1e+12 FLOP/s"),
        (0, 1, True, None),
        (0, 2, True, "2e+09 bytes/s"),
        (0, 2, False, None),  # from the cache that may be
        (0, 0, True, None),
    ],
)
def test_a_time_is_impossible_if_a_peak_would_be_passed(flop, moved, cold, said):
    why = impossible(1.0, Cost(flop=flop, bytes=moved), PEAKS, cold=cold)
    assert (why is None) if said is None else (said in why)


def test_where_no_peak_is_known_no_time_is_impossible():
    assert impossible(1e-9, Cost(flop=10**18, bytes=10**18), Peaks(), cold=True) is None


class Weak(HostBackend):
    """A host of which its kernel must have done more than is possible."""

    def __init__(self, peaks):
        super().__init__()
        self.peaks = peaks


@pytest.fixture(scope="module")
def host():
    opened = open_device("host", limits=Limits())
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("peaks", "cache", "size", "status"),
    [
        (Peaks(flop_per_s=1.0), "hot", 64, Status.BAD_MEASUREMENT),
        (Peaks(bytes_per_s=1.0), "cold", 64, Status.BAD_MEASUREMENT),
        (Peaks(bytes_per_s=1.0), "hot", 64, Status.OK),
        (Peaks(bytes_per_s=1.0), "cold", 1, Status.OK),  # all sets together fit the cache
        (Peaks(flop_per_s=1e18, bytes_per_s=1e18), "cold", 64, Status.OK),
    ],
)
def test_what_is_faster_than_its_device_is_a_bad_measurement(host, peaks, cache, size, status):
    made = candidate(host, problem={"m": size, "n": size, "k": size}, fault="none", twin=0)
    answer = serve_bench(Weak, peaks)
    job = Job(
        kernel_ref=FAULTY,
        problem=made.problem.as_dict(),
        target=made.target,
        policy=BRISK.replace(cache=cache),
    )
    assert answer(job) is None
    reply = answer(Measure(config=made.config, binary=host.build(made).result(60)))
    assert reply.outcome.status is status
    assert ("cost() says too much" in reply.outcome.message) == (status is not Status.OK)
