"""Measuring: one study at a time on a device, and what a hot one does to times."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from itertools import groupby
from pathlib import Path

import pytest
from doublings import large, run

from autotune.records import QUICK, STANDARD
from autotune.study import DriftSpec

HERE = Path(__file__).parent
NAMES = ("right", *(f"right:{number}" for number in range(1, 12)))
HOLDER = """
import time
from autotune.device.lock import DeviceLock
lock = DeviceLock("GPU-of-a-test", "cuda:0")
lock.acquire()
print("in", flush=True)
time.sleep(600)
"""
STUDY = f"""
import sys
sys.path[:0] = [{str(HERE)!r}]
from doublings import large, run
from autotune.device import open_device
from autotune.records import QUICK, Limits
from autotune.store import Store
device = open_device("cuda:0", limits=Limits())
with Store.open(sys.argv[1]) as store:
    run(device, store, *{NAMES!r}, name=sys.argv[2], **large(QUICK))
device.close()
"""


def started(script, *words, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", script, *words],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def test_a_device_is_free_again_once_its_owner_was_killed(tmp_path):
    first, second = None, None
    try:
        first = started(HOLDER, TMPDIR=str(tmp_path))
        assert first.stdout.readline() == "in\n"
        second = started(HOLDER, TMPDIR=str(tmp_path))
        assert not select.select([second.stdout], [], [], 2.0)[0]
        first.kill()
        assert second.stdout.readline() == "in\n"
    finally:
        for each in filter(None, (first, second)):
            each.kill()
            each.communicate()


@pytest.mark.gpu
def test_two_studies_take_turns_on_a_gpu_and_disturb_no_times(gpu, store, tmp_path):
    run(gpu, store, *NAMES, name="alone", **large(QUICK))
    gpu._lock.release()  # this process measures no more
    url = store.url
    both = [started(STUDY, url, name) for name in ("one", "two")]
    for each in both:
        each.communicate(timeout=240)
    assert [each.returncode for each in both] == [0, 0]
    medians = {}
    rows = sorted(store.rows(), key=lambda row: row.trial.finished_at)
    for row in rows:
        medians.setdefault(row.study, []).append(row.trial.median_ns)
    assert [study for study, _ in groupby(row.study for row in rows)] in (
        ["alone", "one", "two"],
        ["alone", "two", "one"],
    )
    usual = sorted(medians["alone"])[len(NAMES) // 2]
    for study in ("one", "two"):
        assert max(medians[study]) < 1.1 * usual


def burn(seconds):
    """Keep the GPU at full power."""
    import cupy

    a = cupy.ones((8192, 8192), dtype=cupy.float16)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for _ in range(20):
            a @ a
        cupy.cuda.Device().synchronize()


@pytest.mark.gpu
@pytest.mark.slow
def test_rows_of_a_hot_gpu_tell_its_clock_and_the_yardstick_its_slowness(gpu, store):
    how = {**large(STANDARD), "drift": DriftSpec(every=1)}
    run(gpu, store, *NAMES[:2], name="cool", **how)
    burn(20.0)
    run(gpu, store, *NAMES[:2], name="hot", **how)
    measured = {row.study: row.trial.measurement for row in store.rows()}
    assert all(each.sm_clock_mhz and each.temperature_c for each in measured.values())
    [context] = store.contexts()
    readings = store.readings(store.find_study("hot"), context.context)
    assert readings
    assert all(each.measurement.sm_clock_mhz for each in readings)
    assert measured["hot"].median_ns == pytest.approx(measured["cool"].median_ns, rel=0.03)
