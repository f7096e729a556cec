from __future__ import annotations

import logging
import threading
import uuid

from autotune.device.lock import DeviceLock


def test_the_second_study_waits_for_the_first_and_says_so(caplog):
    name = str(uuid.uuid4())
    first, second = DeviceLock(name, "cuda:0"), DeviceLock(name, "cuda:0")
    first.acquire()
    first.acquire()  # holding it already is no reason to wait
    entered = threading.Event()
    with caplog.at_level(logging.WARNING):
        thread = threading.Thread(target=lambda: (second.acquire(), entered.set()))
        thread.start()
        assert not entered.wait(0.3)
        first.release()
        assert entered.wait(10)
        thread.join()
    second.release()
    assert "cuda:0 is in use by another study: waiting for it" in caplog.text


def test_other_devices_do_not_wait():
    one, other = DeviceLock(str(uuid.uuid4()), "cuda:0"), DeviceLock(str(uuid.uuid4()), "cuda:1")
    one.acquire()
    other.acquire()
    one.release()
    other.release()
