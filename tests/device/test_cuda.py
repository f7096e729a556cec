from __future__ import annotations

import ctypes
import dataclasses
import itertools
import subprocess
import sys
import time
from pathlib import Path

import pytest
from driving import BRISK, SCALE, candidate, outcome

from autotune.device import open_device
from autotune.records import Limits, Status

pytestmark = pytest.mark.gpu

RUN_LIMIT_S = 2.0
THREADS = (32, 64, 128, 256, 512, 1024)
BAD = {
    "half": (Status.INCORRECT, "elements of y are wrong"),
    "overrun": (Status.INCORRECT, "wrote 4 bytes past the end of output y"),
    "spoil_input": (Status.INCORRECT, "wrote to its inputs"),
    "waver": (Status.NONDETERMINISTIC, "differs from run 1"),
    "out_of_bounds": (Status.RUNTIME_ERROR, "illegal memory access"),
    "misaligned": (Status.RUNTIME_ERROR, "misaligned address"),
    "trap": (Status.RUNTIME_ERROR, "cudaError"),
    "hang": (Status.TIMEOUT, "still running after 2 s"),
}


@pytest.fixture(scope="module")
def device():
    opened = open_device("cuda:0", limits=Limits(run_s=RUN_LIMIT_S))
    yield opened
    opened.close()


def made(device, fault="none", *, count=10_007, threads=128, shared_bytes=0):
    return candidate(
        device,
        ref=SCALE,
        problem={"count": count},
        fault=fault,
        threads=threads,
        shared_bytes=shared_bytes,
    )


def run(device, fault="none", **values):
    return outcome(device, made(device, fault, **values))


def test_the_gpu_says_what_it_is(device):
    identity = device.identity
    assert (identity.kind, device.name) == ("cuda", "cuda:0")
    assert identity.target.arch.startswith("sm_")
    assert identity.target.l2_bytes > 1 << 20
    assert identity.target.shared_bytes_per_block > 48 << 10
    assert identity.uuid


def test_a_right_candidate_is_timed_and_the_clock_noted(device):
    result = run(device)
    assert (result.status, result.message) == (Status.OK, "")
    assert result.measurement.launches_per_sample > 1
    assert result.measurement.sm_clock_mhz is None or result.measurement.sm_clock_mhz > 100
    assert result.measurement.temperature_c is None or 0 < result.measurement.temperature_c < 120


@pytest.mark.parametrize("fault", BAD)
def test_each_fault_is_one_row_and_the_next_candidate_is_ok(device, fault):
    status, message = BAD[fault]
    assert run(device).status is Status.OK
    result = run(device, fault)
    assert result.status is status
    assert message in result.message
    assert run(device, threads=256).status is Status.OK


@pytest.mark.slow
def test_poisoned_contexts_blame_the_right_candidate_in_any_order(device):
    """Two of six poison the context; whatever the order, the four others are ok."""
    faults = dict(
        zip(THREADS, ("none", "out_of_bounds", "none", "misaligned", "none", "none"), strict=True)
    )
    expected = {
        threads: Status.OK if fault == "none" else Status.RUNTIME_ERROR
        for threads, fault in faults.items()
    }
    for order in itertools.islice(itertools.permutations(THREADS), 0, None, 180):
        seen = {threads: run(device, faults[threads], threads=threads).status for threads in order}
        assert seen == expected, order


def test_a_hang_on_a_barrier_costs_one_row_and_its_limit(device):
    """Third of six waits for a phase that nobody completes."""
    without = [run(device, threads=each) for each in THREADS]
    began = time.monotonic()
    with_hang = [
        run(device, "hang" if place == 2 else "none", threads=each)
        for place, each in enumerate(THREADS)
    ]
    assert time.monotonic() - began < RUN_LIMIT_S + 60  # with the start of a new lane
    assert [each.status for each in with_hang] == [
        Status.TIMEOUT if place == 2 else Status.OK for place in range(6)
    ]
    for place in (3, 4, 5):
        ratio = with_hang[place].measurement.median_ns / without[place].measurement.median_ns
        assert 0.5 < ratio < 2.0  # a kernel that still ran beside it would show


def test_a_killed_lane_leaves_no_process(device):
    run(device)
    pid = device._lane.pid
    run(device, "hang")
    assert not Path(f"/proc/{pid}").exists()


def test_what_does_not_fit_never_runs(device):
    result = run(device, "hang", shared_bytes=1 << 20)
    assert result.status is Status.RESOURCES
    assert "shared memory" in result.message


def test_large_shared_memory_is_asked_for(device):
    assert run(device, shared_bytes=65536).status is Status.OK


def test_a_problem_larger_than_the_memory_is_oom_and_the_next_one_ok(device):
    too_many = device.identity.memory_bytes // 4
    assert run(device, count=too_many).status is Status.OOM
    assert run(device).status is Status.OK


def test_cold_is_slower_than_hot_where_the_cache_matters(device):
    """24 MiB fit the cache of any GPU that this runs on, and are read at its speed when hot."""
    policy = dataclasses.replace(
        BRISK, warmup_ms=5.0, min_samples=9, max_samples=25, budget_ms=50.0, sample_us=1000.0
    )
    candidate_ = made(device, count=3 << 20, threads=256)
    times = {
        cache: outcome(
            device, candidate_, dataclasses.replace(policy, cache=cache)
        ).measurement.median_ns
        for cache in ("cold", "hot")
    }
    assert times["cold"] > 1.05 * times["hot"]


def test_an_eighth_of_the_work_takes_less_time_than_the_memory_needs_for_all(device):
    """This kernel reaches 40 % of an H200's bandwidth, so that half the work would not do."""
    policy = BRISK.replace(cache="cold", verify=False)
    large = {"count": 1 << 26, "threads": 1024}
    result = outcome(device, made(device, "eighth", **large), policy)
    assert result.status is Status.BAD_MEASUREMENT
    assert "bytes/s" in result.message
    assert outcome(device, made(device, **large), policy).status is Status.OK


def test_the_driver_tells_what_the_peaks_follow_from():
    """In a process of its own, for this one must not get a context."""
    code = (
        "from autotune.device.cuda import CudaBackend; peaks = CudaBackend(0).peaks; "
        "print(peaks.flop_per_s, peaks.bytes_per_s)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    flop_per_s, bytes_per_s = map(float, ran.stdout.split())
    assert flop_per_s > 10 * bytes_per_s > 1e11


def test_a_study_on_this_device_makes_no_context_in_its_own_process(device):
    run(device)
    driver = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    driver.cuCtxGetCurrent(ctypes.byref(context))
    assert not context.value
