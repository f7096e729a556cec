"""The command line: what a person types and what scripts call."""

from __future__ import annotations

from autotune.cli.app import main

__all__ = ["main"]
