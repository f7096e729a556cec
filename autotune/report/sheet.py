"""Rows to show, once: as a table for people, as JSON or CSV for scripts."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from autotune.report import console

JSON_SCHEMA = 1

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table for people.

    Attributes:
        title: Its heading.
        text: What a row shows in it.
        right: True to align numbers to the right.
        folds: True if long text may wrap; other columns keep their width.
    """

    title: str
    text: Callable[[Row], str]
    right: bool = False
    folds: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Rows of one kind.

    Attributes:
        kind: What a row is, in the plural; the member of the JSON that holds the rows.
        rows: JSON-ready rows, with every field.
        columns: What the table for people shows of them.
        empty: What the table says when there are no rows.
        extra: Further members of the JSON.
    """

    kind: str
    rows: Sequence[Row]
    columns: Sequence[Column]
    empty: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


def show(sheet: Sheet, layout: str) -> None:
    """Write ``sheet`` to stdout as ``table``, ``json`` or ``csv``."""
    {"table": _show_table, "json": _show_json, "csv": _show_csv}[layout](sheet)


def show_json(members: Mapping[str, Any]) -> None:
    """Write one JSON object to stdout, with the version of its schema."""
    document = {"schema_version": JSON_SCHEMA, **members}
    sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")


def _show_json(sheet: Sheet) -> None:
    show_json({**sheet.extra, sheet.kind: list(sheet.rows)})


def _show_csv(sheet: Sheet) -> None:
    flat = [_flat(row) for row in sheet.rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    sys.stdout.write(text.getvalue())


def _flat(row: Row, prefix: str = "") -> dict[str, Any]:
    """Return ``row`` with nested objects as dotted names and lists as JSON text."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{name}."))
        else:
            flat[prefix + name] = json.dumps(value) if isinstance(value, list) else value
    return flat


def _show_table(sheet: Sheet) -> None:
    out = console.results()
    if not sheet.rows:
        console.messages().print(sheet.empty or f"no {sheet.kind}")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in sheet.columns:
        table.add_column(
            Text(column.title),
            justify="right" if column.right else "left",
            no_wrap=not column.folds,
            overflow="fold",
        )
    for row in sheet.rows:
        table.add_row(*(Text(column.text(row)) for column in sheet.columns))
    out.print(table)
