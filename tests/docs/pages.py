"""Read the blocks of a page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
EVERY = [README, *sorted((ROOT / "docs").glob("*.md"))]
ELSEWHERE = {"table.md"}  # its examples need tables that tests/table and tests/launcher make
PAGES = [page for page in EVERY if page.name not in ELSEWHERE]

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"(?:#|//) (\w+\.(?:toml|py|cpp))$")


class Block(NamedTuple):
    language: str
    text: str

    @property
    def file(self) -> str | None:
        """The name in a first line such as ``# first.toml``."""
        match = _FILE.match(self.text.partition("\n")[0])
        return match[1] if match else None

    @property
    def commands(self) -> list[str]:
        lines = self.text.splitlines()
        return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def blocks(page: Path) -> list[Block]:
    return [Block(*match) for match in _BLOCK.findall(page.read_text(encoding="utf-8"))]


def prose(page: Path) -> str:
    """Return the page without its blocks."""
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))
