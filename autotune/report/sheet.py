"""Rows to show, once: as a table for people, as JSON or CSV for scripts."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.text import Text

from autotune.report import console
from autotune.report.layout import Column, Row, lay_out, wrapped

__all__ = ["Column", "Record", "Row", "Sheet", "show", "show_record"]

JSON_SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Rows of one kind.

    Attributes:
        kind: What a row is, in the plural; the member of the JSON that holds the rows.
        rows: JSON-ready rows, with every field.
        columns: What the table for people shows of them.
        shown: Rows for people, where they see other ones than scripts do.
        title: A line above the table.
        empty: What the table says when there are no rows.
        extra: Further members of the JSON.
    """

    kind: str
    rows: Sequence[Row]
    columns: Sequence[Column]
    shown: Sequence[Row] | None = None
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
    edge = console.edge()
    if sheet.title:
        _print("\n".join(wrapped(sheet.title, edge, whole=True)), style="bold")
    rows = sheet.rows if sheet.shown is None else sheet.shown
    if not rows:
        console.messages().print(sheet.empty or f"no {sheet.kind}")
        return
    lines = lay_out(sheet.columns, rows, edge)
    if lines.caption:
        _print("\n".join(wrapped(lines.caption, edge, whole=True)))
    if lines.head:
        _print(lines.head, style="bold")
    _print("\n".join(lines.rows))


def _print_lines(lines: Mapping[str, str]) -> None:
    columns = (
        Column("", lambda row: row["label"]),
        Column("", lambda row: row["text"], folds=True),
    )
    rows = [{"label": label, "text": text} for label, text in lines.items()]
    _print("\n".join(lay_out(columns, rows, console.edge()).rows))


def _print(text: str, style: str = "") -> None:
    """Write ``text`` as it is: it has its lines already."""
    console.results().print(Text(text, style=style), soft_wrap=True)
