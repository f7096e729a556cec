"""Every key of a table is documented, and no other."""

from __future__ import annotations

import json
import re
from pathlib import Path

from autotune.dispatch import Table
from autotune.table import Place, Preference, build_table
from autotune.table.certified import ROLES, certified

DOCS = Path(__file__).parents[2] / "docs" / "table.md"
FREE = {
    "policy",
    "problem",
    "config",
    "weights",
    "units",
    "exact",
}  # whose keys are a kernel's or a policy's own

CERTIFICATE = {
    "certified_at": "2026-02-03T04:05:06Z",
    "framework": "autotune 0.1.0",
    "problems": ["count=1024,dtype=fp32"],
    "draws": 5,
    "repeats": 12,
    "sanitizer": "absent",
    "source_digest": "e" * 32,
    "toolchain": {"compiler": "nvrtc", "version": "13.0"},
    "driver": "580.01",
}
FOREST = {
    "measures": [{"kind": "tiles", "units": {"count": 128}}],
    "trees": [
        {
            "exact": {"dtype": "fp32"},
            "steps": [{"measure": 0, "at_most": 8, "next": 1}, {"entry": 0}, {"entry": 0}],
        }
    ],
}
SUMMARY = {name: CERTIFICATE[name] for name in ("certified_at", "framework", "sanitizer")}


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
    document = build_table(book.store, prefer=Preference.parse("time")).document
    places = [
        Place(name, role, at)
        for name, kernel in document["kernels"].items()
        for role in ROLES
        for at in range(len(kernel[role]))
    ]
    document = certified(document, dict.fromkeys(places, CERTIFICATE), SUMMARY)
    for kernel in document["kernels"].values():
        kernel["forest"] = FOREST
    Table.parse(json.dumps(document))
    schema = DOCS.read_text().partition("## Schema")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", schema, re.MULTILINE)
    documented = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    written = set(keys_of(document))
    assert documented | {"compiler", "version"} == written
