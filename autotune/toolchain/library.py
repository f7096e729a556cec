"""What stands for the binary of a library's routine: nothing is compiled, but it has a key."""

from __future__ import annotations

from autotune.records import Binary, Resources, SourceUnit, Toolchain, digest
from autotune.toolchain.recipe import source_digest

KEY_VERSION = 1  # raise it when the same library and source would compute otherwise


def library_binary(library: Toolchain, unit: SourceUnit) -> Binary:
    """Return a binary without a file, keyed by the library and by the source that calls it.

    Raises:
        InvalidInput: The source cannot be read.
    """
    made_of = {
        "version": KEY_VERSION,
        "library": [library.compiler, library.version],
        "entry": unit.entry,
        "header": [unit.header_name, unit.header],
        "source": source_digest(unit),
    }
    return Binary(
        key=digest(made_of),
        path="",
        entry=unit.entry,
        resources=Resources(),
        compile_ns=0,
        cached=True,
    )
