"""What NVML says of a GPU, and what is made of it where it says nothing."""

from __future__ import annotations

import sys
from types import SimpleNamespace

from autotune.device.nvml import Nvml


class Refusal(Exception):
    pass


def driver_whose_clock_is(readings_mhz):
    """Return a stand-in for ``pynvml``: no machine without a GPU has a clock to read."""
    left = iter(readings_mhz)

    def clock(handle, kind):
        reading = next(left)
        if reading is None:
            raise Refusal
        return reading

    return SimpleNamespace(
        NVMLError=Refusal,
        NVML_CLOCK_SM=1,
        nvmlInit=lambda: None,
        nvmlDeviceGetHandleByPciBusId=lambda bus: bus,
        nvmlDeviceGetClockInfo=clock,
        nvmlDeviceGetTotalEnergyConsumption=lambda handle: clock(handle, "mJ"),
    )


def nvml_of(monkeypatch, readings):
    stand_in = driver_whose_clock_is(readings)
    stand_in.__spec__ = object()
    monkeypatch.setitem(sys.modules, "pynvml", stand_in)
    return Nvml("0000:00:00.0")


def slowed(monkeypatch, *readings_mhz):
    nvml = nvml_of(monkeypatch, readings_mhz)
    return [nvml.slowed() for _ in readings_mhz]


def test_energy_is_read_where_there_is_a_counter(monkeypatch):
    nvml = nvml_of(monkeypatch, [123_456_789, None])
    assert [nvml.energy_mj(), nvml.energy_mj()] == [123_456_789, None]


def test_a_clock_is_slowed_if_it_is_clearly_below_the_highest_that_was_seen(monkeypatch):
    assert slowed(monkeypatch, 1200, 1980, 1965, 1800, 1980) == [False, False, False, True, False]


def test_a_clock_that_cannot_be_read_slows_nothing(monkeypatch):
    assert slowed(monkeypatch, 1980, None, 1980) == [False, False, False]


def test_nothing_is_slowed_without_nvml(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert Nvml("0000:00:00.0").slowed() is False
