"""Rows as a pandas data frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from autotune.store.rows import TrialRow

if TYPE_CHECKING:
    import pandas as pd


def to_dataframe(rows: Iterable[TrialRow]) -> pd.DataFrame:
    """Return one line for each row; problem and config fields have columns of their own.

    Columns are those of ``TrialRow.as_dict``, with ``problem.m`` or ``config.stages`` for the
    fields of problems and configs. Durations are in ns.
    """
    import pandas as pd

    return pd.DataFrame([_line(row.as_dict()) for row in rows])


def _line(columns: dict[str, Any]) -> dict[str, Any]:
    line: dict[str, Any] = {}
    for name, value in columns.items():
        if isinstance(value, dict):
            line.update({f"{name}.{inner}": each for inner, each in value.items()})
        else:
            line[name] = value
    return line
