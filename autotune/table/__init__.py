"""Choose the best of what was recorded and write it as a lookup table."""

from __future__ import annotations

from autotune.table.build import Export, build_table
from autotune.table.certified import Place, TableFile
from autotune.table.moment import now
from autotune.table.portfolio import Portfolio
from autotune.table.preferred import Preference
from autotune.table.write import write_table

__all__ = [
    "Export",
    "Place",
    "Portfolio",
    "Preference",
    "TableFile",
    "build_table",
    "now",
    "write_table",
]
