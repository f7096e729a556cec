"""Search: which config to measure next. The only room that knows Optuna.

Importing this package stays cheap: numpy and Optuna are loaded by ``make_searcher``.
"""

from __future__ import annotations

from autotune.search.registry import (
    FEWEST_ELSEWHERE,
    MODELS,
    OF_SEVERAL_GOALS,
    SAMPLERS,
    chosen,
    make_searcher,
)
from autotune.search.searcher import Searcher

__all__ = [
    "FEWEST_ELSEWHERE",
    "MODELS",
    "OF_SEVERAL_GOALS",
    "SAMPLERS",
    "Searcher",
    "chosen",
    "make_searcher",
]
