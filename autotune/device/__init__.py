"""Devices: a GPU, the host's C++ compiler, or a recording, behind one protocol."""

from __future__ import annotations

from autotune.device.names import open_device, recordings
from autotune.device.protocol import Device

__all__ = ["Device", "open_device", "recordings"]
