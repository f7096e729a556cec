"""Write a table and say what is in it, and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autotune.report import console
from autotune.report.units import counted
from autotune.store import Store
from autotune.table import build_table, write_table


def write_and_tell(
    path: Path,
    store: Store,
    studies: Sequence[str],
    *,
    device: str | None = None,
    unverified: bool = False,
) -> None:
    """Export to ``path``; say on stderr how much it holds and what was left out.

    Raises:
        NoValidConfig: No row may be offered; nothing is written.
        InvalidInput: No such study, or rows that do not go into one table.
    """
    table = build_table(store, studies, device=device, unverified=unverified)
    write_table(table, path)
    messages = console.messages()
    for line in table.left_out:
        messages.print(f"left out: {line}")
    messages.print(f"wrote {path}: {counted(table.entries, 'problem')}")
