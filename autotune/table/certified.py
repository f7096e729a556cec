"""Certificates: what was verified again goes into the table, and what failed leaves it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from autotune.dispatch import SCHEMA_VERSION, Table
from autotune.errors import AutotuneError
from autotune.files import writable_target
from autotune.table.write import write_document

Json = dict[str, Any]
ROLES = ("entries", "defaults")


class Place(NamedTuple):
    """Where a config stands in a table: which kernel's, ``entries`` or ``defaults``, which one."""

    kernel: str
    role: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """A table file as it was read.

    Attributes:
        path: The file.
        table: What it says.
        content: Its bytes.
    """

    path: Path
    table: Table
    content: bytes

    @classmethod
    def open(cls, path: Path) -> TableFile:
        """Read a table that is to be written again.

        Raises:
            InvalidTable: It is no whole, sound table.
            InvalidInput: It could not be written again.
        """
        table = Table.load(path)
        writable_target(path, what="table")
        content = path.read_bytes()
        return cls(path=path, table=Table.parse(content, table.name), content=content)

    def certify(self, certificates: Mapping[Place, Json], summary: Json) -> None:
        """Write the configs that have a certificate, with it, and what is said of the whole table.

        Args:
            certificates: What is said of each config; one without leaves the table.
            summary: When, by what and by which sanitizer.

        Raises:
            AutotuneError: The file has changed since it was read, or cannot be written.
        """
        document = certified(json.loads(self.content), certificates, summary)
        if self.path.read_bytes() != self.content:
            raise AutotuneError(
                f"table {str(self.path)!r} has changed while it was being certified",
                hint="what is there now is untouched; certify it again",
            )
        write_document(document, self.path)


def certified(document: Json, certificates: Mapping[Place, Json], summary: Json) -> Json:
    """Return ``document`` with certificates, less every config that has none."""
    kernels, before = {}, 0
    for name, kernel in document["kernels"].items():
        before += sum(len(kernel[role]) for role in ROLES)
        kept = {role: _kept(kernel[role], name, role, certificates) for role in ROLES}
        used = {
            each["evidence"]["context"] for role in ROLES for each in kept[role] if each["evidence"]
        }
        contexts = {key: value for key, value in kernel["contexts"].items() if key in used}
        if any(kept.values()):
            kernels[name] = kernel | kept | {"contexts": contexts}
            if len(kept["entries"]) < len(kernel["entries"]):
                for key in ("regret", "forest"):  # they spoke of entries that are gone
                    kernels[name].pop(key, None)
    counts = {"configs": len(certificates), "removed": before - len(certificates)}
    return document | {
        "schema_version": SCHEMA_VERSION,
        "kernels": kernels,
        "certificate": summary | counts,
    }


def _kept(
    answers: list[Json], kernel: str, role: str, certificates: Mapping[Place, Json]
) -> list[Json]:
    places = (Place(kernel, role, at) for at in range(len(answers)))
    return [
        answer | {"certificate": certificates[place]}
        for place, answer in zip(places, answers, strict=True)
        if place in certificates
    ]
