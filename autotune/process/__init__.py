"""Worker processes that may hang, crash or be killed at no cost to their owner."""

from __future__ import annotations

from autotune.process.worker import Died, TimedOut, Worker

__all__ = ["Died", "TimedOut", "Worker"]
