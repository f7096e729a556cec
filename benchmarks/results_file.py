"""A file of results: rows, and what they were measured with and when."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


def write_json(
    path: Path,
    rows: Sequence[Mapping[str, Any]],
    *,
    packages: Sequence[str],
    about: Mapping[str, Any],
) -> None:
    """Write the rows with their provenance.

    Args:
        path: The file.
        rows: One for each line that was printed.
        packages: Whose versions matter; those that are not installed are left out.
        about: What else there is to say of where the rows come from.
    """
    provenance = {
        **about,
        "python": platform.python_version(),
        "versions": {name: found for name in packages if (found := _version(name))},
        "date": datetime.now(UTC).date().isoformat(),
        "command": " ".join([f"python benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]]),
    }
    path.write_text(json.dumps({"provenance": provenance, "rows": rows}, indent=1) + "\n")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
