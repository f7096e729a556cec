"""What a binary is made of, and the keys that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autotune.records import SourceUnit, digest, digest_bytes
from autotune.toolchain.compiler import Compiler
from autotune.toolchain.headers import header_digests
from autotune.toolchain.sources import scan

KEY_VERSION = 2  # raise it when the same recipe would give another image or other resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that can change a binary's bytes."""

    compiler: Compiler
    unit: SourceUnit
    arch: str

    def ingredients(self) -> dict[str, Any]:
        """Return the recipe as plain JSON, with the files as they are now.

        Raises:
            InvalidInput: A source is missing, or what it needs cannot be keyed.
            ToolchainBroken: There is no compiler.
        """
        unit, sources = self.unit, scan(self.unit)
        toolchain = self.compiler.toolchain
        return {
            "version": KEY_VERSION,
            "compiler": [toolchain.compiler, toolchain.version],
            "arch": self.arch,
            "options": list(self.compiler.options(unit, self.arch)),
            "entry": unit.entry,
            "header": [unit.header_name, digest_bytes(unit.header.encode())],
            "sources": [list(part) for part in sources.parts],
            "system": dict(self.compiler.system_headers(sources)),
        }


def source_digest(unit: SourceUnit) -> str:
    """Return 32 hexadecimal digits over the main file and every header that it includes.

    Headers of the CUDA toolkit count by their contents, those of a C++ compiler by their names
    (its version is in the toolchain). The generated header does not count, nor does what it
    includes of the toolkit, so that all configs of a kernel share one digest: the keys of their
    binaries cover both.

    Raises:
        InvalidInput: A source is missing, or an include cannot be keyed.
    """
    sources = scan(unit)
    system = [name for name in sources.system if name not in sources.chosen]
    known = header_digests(system) if unit.language == "cuda" else {}
    return digest(
        {
            "version": KEY_VERSION,
            "sources": sources.parts,
            "system": {name: known.get(name, "") for name in system},
        }
    )
