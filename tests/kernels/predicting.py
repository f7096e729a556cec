"""A kernel whose model holds the last twin to be the fastest, and will not speak of the first."""

from __future__ import annotations

from pathlib import Path

from autotune.records import load_kernel


class Predicting(type(load_kernel(f"{Path(__file__).with_name('unsound.py')}:Unsound"))):
    name = "predicting"

    def estimate(self, problem, config, target):
        return {0: None, 1: 2000.0, 2: 1000}[config["twin"]]
