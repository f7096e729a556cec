"""The cases of ``cases.toml`` as records."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One kind of fault.

    Attributes:
        number: Its number.
        group: Its group, a letter.
        never: What must not happen.
        tests: What shows that, as ``file::function`` below ``tests/``.
    """

    number: int
    group: str
    never: str
    tests: tuple[str, ...]


def read_cases() -> list[Case]:
    """Return every case, in the order of the file."""
    listed = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())["case"]
    return [Case(**{**fields, "tests": tuple(fields["tests"])}) for fields in listed]
