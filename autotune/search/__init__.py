"""Search: which config to measure next. The only room that knows Optuna.

Importing this package stays cheap: numpy and Optuna are loaded by ``make_searcher``.
"""

from __future__ import annotations

from autotune.search.registry import SAMPLERS, make_searcher
from autotune.search.searcher import Searcher

__all__ = ["SAMPLERS", "Searcher", "make_searcher"]
