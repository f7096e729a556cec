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
        title: A line above the table.
        empty: What the table says when there are no rows.
        extra: Further members of the JSON.
    """

    kind: str
    rows: Sequence[Row]
    columns: Sequence[Column]
    title: str = ""
    empty: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One thing to show.

    Attributes:
        members: JSON-ready; what scripts get.
        lines: What people see: a label and a text each.
    """

    members: Row
    lines: Mapping[str, str]


def show(sheet: Sheet, layout: str) -> None:
    """Write ``sheet`` to stdout as ``table``, ``json`` or ``csv``."""
    match layout:
        case "json":
            _write_json({**sheet.extra, sheet.kind: list(sheet.rows)})
        case "csv":
            _write_csv(sheet.rows)
        case _:
            _print_table(sheet)


def show_record(record: Record, layout: str) -> None:
    """Write ``record`` to stdout as ``table``, ``json`` or ``csv``."""
    match layout:
        case "json":
            _write_json(record.members)
        case "csv":
            _write_csv([record.members])
        case _:
            _print_lines(record.lines)


def _write_json(members: Row) -> None:
    document = {"schema_version": JSON_SCHEMA, **members}
    sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")


def _write_csv(rows: Sequence[Row]) -> None:
    flat = [_flat(row) for row in rows]
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


def _print_table(sheet: Sheet) -> None:
    out = console.results()
    if sheet.title:
        out.print(Text(sheet.title, style="bold"))
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


def _print_lines(lines: Mapping[str, str]) -> None:
    grid = Table.grid(padding=(0, 2))
    for label, text in lines.items():
        grid.add_row(Text(label, style="bold"), Text(text))
    console.results().print(grid)
