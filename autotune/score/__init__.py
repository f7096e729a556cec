"""Score: how good samplers are at finding what recordings hold."""

from __future__ import annotations

from autotune.score.judging import LOOKS, NEAR, Judged, interval_of
from autotune.score.kernel_tuner import PREFIX as KERNEL_TUNER
from autotune.score.landscape import Landscape
from autotune.score.reading import read_landscapes
from autotune.score.searching import ScoreSpec, score

__all__ = [
    "KERNEL_TUNER",
    "LOOKS",
    "NEAR",
    "Judged",
    "Landscape",
    "ScoreSpec",
    "interval_of",
    "read_landscapes",
    "score",
]
