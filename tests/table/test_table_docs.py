"""Every key of a table is documented, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from autotune.table import build_table

DOCS = Path(__file__).parents[2] / "docs" / "table.md"
FREE = {"policy", "problem", "config"}  # whose keys are a kernel's or a policy's own


def keys_of(value, inside=""):
    if isinstance(value, list):
        for item in value:
            yield from keys_of(item, inside)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if inside in FREE:
                continue
            if inside not in ("kernels", "contexts"):
                yield key
            yield from keys_of(inner, key)


def test_the_documented_keys_are_the_keys(book):
    book.add(1024, width=8)
    schema = DOCS.read_text().partition("## Schema")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", schema, re.MULTILINE)
    documented = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    written = set(keys_of(build_table(book.store).document))
    assert documented | {"compiler", "version"} == written
