"""The result database: schema, migrations, transactions and queries."""

from __future__ import annotations

from autotune.store.bulk import Entry, Note
from autotune.store.context import Context, StoredProblem
from autotune.store.copy import copy_file
from autotune.store.frame import to_dataframe
from autotune.store.front_rows import Front
from autotune.store.migrate import (
    Upgraded,
    check,
    current,
    downgrade,
    head,
    upgrade,
)
from autotune.store.rows import Filter, Final, StoredContext, StudySummary, TrialRow
from autotune.store.store import Store
from autotune.store.url import default_url

__all__ = [
    "Context",
    "Entry",
    "Filter",
    "Final",
    "Front",
    "Note",
    "Store",
    "StoredContext",
    "StoredProblem",
    "StudySummary",
    "TrialRow",
    "Upgraded",
    "check",
    "copy_file",
    "current",
    "default_url",
    "downgrade",
    "head",
    "to_dataframe",
    "upgrade",
]
