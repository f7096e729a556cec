"""Launch what a table chooses on arrays that are already on a GPU."""

from __future__ import annotations

from autotune.launcher.dispatcher import Dispatcher

__all__ = ["Dispatcher"]
