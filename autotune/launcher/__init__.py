"""Launch what a table chooses on arrays that are already on a GPU."""

from __future__ import annotations

from autotune.launcher.launcher import Launcher

__all__ = ["Launcher"]
