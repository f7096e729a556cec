from __future__ import annotations

import logging
import tempfile
import threading

import pytest
from patience import PATIENCE_S, until

from autotune.device.lock import DeviceLock


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch, tmp_path):
    """Leave no files of devices that do not exist where those of real ones are."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_the_second_study_waits_for_the_first_and_says_so(caplog):
    first, second = DeviceLock("GPU-0", "cuda:0"), DeviceLock("GPU-0", "cuda:0")
    first.acquire()
    first.acquire()  # holding it already is no reason to wait
    entered = threading.Event()
    with caplog.at_level(logging.WARNING):
        thread = threading.Thread(target=lambda: (second.acquire(), entered.set()))
        thread.start()
        until(lambda: "cuda:0 is in use by another study: waiting for it" in caplog.text)
        assert not entered.wait(0.3)
        first.release()
        thread.join(PATIENCE_S)
        assert entered.is_set()
    second.release()


def test_other_devices_do_not_wait():
    one, other = DeviceLock("GPU-0", "cuda:0"), DeviceLock("GPU-1", "cuda:1")
    one.acquire()
    other.acquire()
    one.release()
    other.release()
