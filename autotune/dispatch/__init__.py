"""Read a table and choose: exact, else tree, else nearest, else default, and say why.

This room needs the standard library alone, so that an application can ship it.

Example:
    >>> table = Table.load("table.json")                              # doctest: +SKIP
    >>> table.lookup(m=4096, n=4096, k=4096, dtype="bf16", layout="nt")  # doctest: +SKIP
    Choice(kernel='gemm', config=…, source='exact', reason='measured for …', entry=…)
"""

from __future__ import annotations

from autotune.dispatch.finder import Considered, Finder
from autotune.dispatch.fit import Fit, Running, fit
from autotune.dispatch.records import (
    Certificate,
    Certified,
    Choice,
    Condition,
    Device,
    Entry,
    Evidence,
    Forest,
    KernelTable,
    Measure,
    MeasuredUnder,
    Regret,
    Step,
    Tree,
    broken_condition,
)
from autotune.dispatch.table import SCHEMA_VERSION, Table

__all__ = [
    "SCHEMA_VERSION",
    "Certificate",
    "Certified",
    "Choice",
    "Condition",
    "Considered",
    "Device",
    "Entry",
    "Evidence",
    "Finder",
    "Fit",
    "Forest",
    "KernelTable",
    "Measure",
    "MeasuredUnder",
    "Regret",
    "Running",
    "Step",
    "Table",
    "Tree",
    "broken_condition",
    "fit",
]
