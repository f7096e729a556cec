"""Files that were published, where a folder of them is at hand: see the variable below."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from autotune.interop import export_results, import_files
from autotune.records import Status
from autotune.store import Filter

FOLDER = os.environ.get("AUTOTUNE_TEST_TUNER_FILES", "")
HUB = "benchmark_hub"
KERNEL_TUNER = "kernel_tuner/test"

FILES = {  # trials, ok, best and median in ms
    f"{HUB}/convolution_A4000.json.gz": (4362, 4201, 1.021171996, 3.305043995),
    f"{HUB}/convolution_A100_T4.json.gz": (4362, 4201, 0.554, 1.834),
    f"{HUB}/pnpoly_RTX_3090.json.gz": (4092, 3774, 8.714240170, 13.535019112),
    f"{HUB}/gemm_RTX_3090.json.gz": (17956, 17956, 5.657844, 14.578479),
    f"{HUB}/gemm_RTX_3060_laptop_unfinished.json.gz": (10000, 10000, 22.619691, 53.075475),
    f"{KERNEL_TUNER}/test_cache_file.json": (15, 15, 0.031757714, 0.041398856),
    f"{KERNEL_TUNER}/strategies/test_cache_file.json": (15, 15, 0.031757714, 0.041398856),
    f"{KERNEL_TUNER}/strategies/test_cache_time_energy.json": (15, 15, 2.976755001, 3.170297012),
    f"{KERNEL_TUNER}/synthetic_fp32_cache_NVIDIA_RTX_A4000.json": (10, 10, 76.957062, 108.801379),
    f"{KERNEL_TUNER}/test_T1_input.json": (0, 0, None, None),
    f"{KERNEL_TUNER}/test_cache_file_T1_input.json": (0, 0, None, None),
}
SLOW = {f"{HUB}/gemm_RTX_3090.json.gz", f"{HUB}/gemm_RTX_3060_laptop_unfinished.json.gz"}

pytestmark = pytest.mark.skipif(
    not FOLDER, reason="AUTOTUNE_TEST_TUNER_FILES names no folder of published files"
)


def document(path):
    content = path.read_bytes()
    return json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in FILES]
)
def test_a_published_file_says_what_its_authors_say(store, name):
    (told,) = import_files([Path(FOLDER) / name], store)
    trials, right, best_ms, median_ms = FILES[name]
    assert sum(told.statuses.values()) == trials
    assert told.statuses.get(Status.OK, 0) == right
    if best_ms is not None:
        assert told.best_ns / 1e6 == pytest.approx(best_ms, rel=1e-3)
        assert told.median_ns / 1e6 == pytest.approx(median_ms, rel=1e-3)


def test_failures_are_counted_by_kind(store):
    (told,) = import_files([Path(FOLDER) / HUB / "convolution_A4000.json.gz"], store)
    assert told.statuses == {Status.OK: 4201, Status.RUNTIME_ERROR: 155, Status.COMPILE_ERROR: 6}


@pytest.mark.parametrize(
    ("name", "layout", "rows"),
    [
        (f"{HUB}/convolution_A100_T4.json.gz", "t4", "results"),
        (f"{HUB}/pnpoly_RTX_3090.json.gz", "kernel-tuner", "cache"),
        (f"{KERNEL_TUNER}/strategies/test_cache_file.json", "kernel-tuner", "cache"),
    ],
)
def test_a_published_file_comes_back_to_the_last_digit(store, tmp_path, name, layout, rows):
    path = Path(FOLDER) / name
    list(import_files([path], store))
    export_results(tmp_path / "out.json", store, Filter(), layout=layout)
    given, back = document(path), document(tmp_path / "out.json")
    assert back[rows] == given[rows]
    assert given.keys() <= back.keys()
