"""Write the header of a table, and beside it the headers that it includes."""

from __future__ import annotations

from pathlib import Path

from autotune.cpp.header import header_text
from autotune.dispatch.bundle import opened
from autotune.errors import InvalidInput
from autotune.files import write_whole

INCLUDE = Path(__file__).with_name("include")


def write_header(source: Path, folder: Path, *, name: str) -> tuple[Path, ...]:
    """Write ``name.hpp`` and ``autotune/*.hpp`` into ``folder``, each whole or not at all.

    Args:
        source: A table or a bundle. Only that of a bundle launches.
        folder: Where a compiler is told to look; it may hold other files.
        name: The namespace, and the file's name.

    Returns:
        The files, the one of the table last.

    Raises:
        InvalidTable: The table or bundle is not sound.
        InvalidInput: ``folder`` is none.
    """
    text = header_text(opened(source), name)
    ours = folder / "autotune"
    try:
        ours.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"folder {str(folder)!r} cannot be made: {error.strerror}") from None
    written = []
    for header in sorted((INCLUDE / "autotune").glob("*.hpp")):
        write_whole(ours / header.name, header.read_bytes(), what="header")
        written.append(ours / header.name)
    write_whole(folder / f"{name}.hpp", text.encode(), what="header")
    return (*written, folder / f"{name}.hpp")
