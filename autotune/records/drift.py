"""Drift: how a device changes while it measures, told by one config measured again and again."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from autotune.records.config import Config
from autotune.records.outcome import Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The yardstick of a search, measured once more.

    Attributes:
        after: How many trials of the search came before it.
        config: The yardstick: the kernel's default.
        measurement: What it took this time.
        finished_at: When.
    """

    after: int
    config: Config
    measurement: Measurement
    finished_at: datetime = field(default_factory=lambda: datetime.now(UTC))
