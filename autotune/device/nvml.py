"""What NVML says of a GPU: driver, UUID, clock, power, energy, temperature. It may be absent."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any, TypeVar

from autotune.device.backend import Telemetry

_Answer = TypeVar("_Answer")
FULL_CLOCK = 0.99  # of the highest that was seen: clocks go by steps of less than 1 %


class Nvml:
    """NVML's view of one GPU. Each question answers None where it cannot be answered.

    Args:
        pci_bus_id: Finds the GPU whatever ``CUDA_VISIBLE_DEVICES`` says: NVML counts all.
    """

    def __init__(self, pci_bus_id: str) -> None:
        self._nvml: Any = None
        self._handle: Any = None
        self._highest_mhz = 0
        if importlib.util.find_spec("pynvml") is None:
            return
        self._nvml = importlib.import_module("pynvml")
        if self._ask(lambda: self._nvml.nvmlInit() or True):
            self._handle = self._ask(
                lambda: self._nvml.nvmlDeviceGetHandleByPciBusId(pci_bus_id.encode())
            )

    def driver(self) -> str | None:
        """Return the version of the kernel driver."""
        return self._ask(lambda: _text(self._nvml.nvmlSystemGetDriverVersion()))

    def uuid(self) -> str | None:
        """Return the UUID of the card."""
        return self._ask(lambda: _text(self._nvml.nvmlDeviceGetUUID(self._handle)))

    def telemetry(self) -> Telemetry:
        """Read SM clock, board power and temperature now."""
        nvml, handle = self._nvml, self._handle
        milliwatts = self._ask(lambda: int(nvml.nvmlDeviceGetPowerUsage(handle)))
        return Telemetry(
            sm_clock_mhz=self._sm_clock_mhz(),
            power_w=None if milliwatts is None else milliwatts / 1000,
            temperature_c=self._ask(
                lambda: int(nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU))
            ),
        )

    def energy_mj(self) -> int | None:
        """Read the energy since the driver was loaded, in mJ; it moves every few tens of ms."""
        nvml, handle = self._nvml, self._handle
        return self._ask(lambda: int(nvml.nvmlDeviceGetTotalEnergyConsumption(handle)))

    def slowed(self) -> bool:
        """Return True if the SM clock is clearly below the highest that was seen."""
        now_mhz = self._sm_clock_mhz()
        if now_mhz is None:
            return False
        self._highest_mhz = max(self._highest_mhz, now_mhz)
        return now_mhz < FULL_CLOCK * self._highest_mhz

    def _sm_clock_mhz(self) -> int | None:
        nvml, handle = self._nvml, self._handle
        return self._ask(lambda: int(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)))

    def _ask(self, question: Callable[[], _Answer]) -> _Answer | None:
        if self._nvml is None:
            return None
        try:
            return question()
        except self._nvml.NVMLError:
            return None


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
