"""The CUDA toolkit's own headers: where they are, and what they say.

Their *contents* enter the keys, not a version number: wheels and system packages are patched
without a new ``CUDART_VERSION``, and the runtime and CCCL may come from different releases.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from autotune.records import digest
from autotune.toolchain.sources import Scanner

ABSENT = "absent"


@cache
def cuda_header_dirs() -> tuple[Path, ...]:
    """Return the folders of the CUDA headers on this machine, or none."""
    try:
        from cuda.pathfinder import find_nvidia_header_directory
    except ImportError:
        return ()
    found = [find_nvidia_header_directory(name) for name in ("cudart", "cccl")]
    return tuple(dict.fromkeys(Path(folder) for folder in found if folder is not None))


def header_digests(names: Iterable[str]) -> dict[str, str]:
    """Return a digest of each header and of all that it includes, or ``absent``."""
    return {name: _closure(name, cuda_header_dirs()) for name in names}


@cache  # a toolkit does not change under a running process
def _closure(name: str, dirs: tuple[Path, ...]) -> str:
    path = next((folder / name for folder in dirs if (folder / name).is_file()), None)
    if path is None:
        return ABSENT
    scanner = Scanner(dirs, strict=False)
    scanner.enter(name, path)
    return digest(scanner.found().parts)
