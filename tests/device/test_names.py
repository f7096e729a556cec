from __future__ import annotations

import shutil
import subprocess
import sys

import pytest
from recorded import CONTEXT, TRIALS, record

from autotune.device import names, open_device
from autotune.errors import DeviceUnavailable, StoreError
from autotune.records import Limits


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "cuda:-1", "recording:", ""])
def test_a_name_that_is_none_lists_those_that_are(name):
    with pytest.raises(DeviceUnavailable, match="devices are auto, cuda:N, host"):
        open_device(name, limits=Limits())


@pytest.mark.parametrize(("name", "meant"), [("cpu", "host"), ("gpu", "cuda:0")])
def test_a_name_that_people_try_is_answered_with_the_right_one(name, meant):
    with pytest.raises(DeviceUnavailable) as refused:
        open_device(name, limits=Limits())
    assert refused.value.hint == f"did you mean --device {meant}?"


def test_cuda_is_the_first_gpu(monkeypatch):
    opened = []
    monkeypatch.setattr(names, "_cuda", lambda index, limits: opened.append(index))
    open_device("cuda", limits=Limits())
    assert opened == [0]


def test_a_gpu_that_is_not_there_is_named():
    with pytest.raises(DeviceUnavailable, match=r"no GPU 99|CuPy is not installed"):
        open_device("cuda:99", limits=Limits())


def test_a_recording_that_is_no_database_is_refused(tmp_path):
    text = tmp_path / "notes.sqlite"
    text.write_text("not a database, but long enough to look at " * 40)
    with pytest.raises(StoreError):
        open_device(f"recording:{text}", limits=Limits())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.sqlite"]
    with pytest.raises(DeviceUnavailable, match="no recording 'absent'"):
        open_device("recording:absent", limits=Limits())


def test_auto_without_gpu_and_recording_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setattr(names, "_RECORDINGS", tmp_path)
    with pytest.raises(DeviceUnavailable, match="no GPU and no recording here"):
        open_device("auto", limits=Limits())


def test_auto_without_a_gpu_is_the_shipped_recording(monkeypatch, tmp_path):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    package = tmp_path / "package"
    package.mkdir()
    monkeypatch.setattr(names, "_RECORDINGS", package)
    record(tmp_path / "made.sqlite", (CONTEXT, TRIALS)).close()
    for name in ("a100", "h200"):  # that of an H200 is preferred once it is there
        shutil.copy(tmp_path / "made.sqlite", package / f"{name}.sqlite")
        device = open_device("auto", limits=Limits())
        assert device.name == f"recording:{name}"
        device.close()
    assert sorted(path.name for path in package.iterdir()) == ["a100.sqlite", "h200.sqlite"]


def test_a_lane_starts_without_the_database_and_the_search():
    heavy = ["sqlalchemy", "alembic", "optuna", "pandas", "cupy", "scipy"]
    script = f"import sys, autotune.device.bench; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
