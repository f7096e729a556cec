"""Write a table: whole, or not at all."""

from __future__ import annotations

import json
import os
from typing import Any

from autotune.dispatch import Table
from autotune.files import write_whole
from autotune.table.build import Export


def write_table(export: Export, path: str | os.PathLike[str]) -> None:
    """Write ``export`` to ``path``, which names either the old table or the whole new one.

    Raises:
        InvalidInput: ``path`` is in no folder, or is something other than a file.
        AutotuneError: It cannot be written, for example because the disk is full.
    """
    write_document(export.document, path)


def write_document(document: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write what a table file says; as ``write_table``."""
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    Table.parse(text, os.fspath(path))  # what cannot be loaded is not written
    write_whole(path, text.encode(), what="table")
