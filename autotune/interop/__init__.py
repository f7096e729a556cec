"""Files of other tuners: read them into the result database, and write it as they would."""

from __future__ import annotations

from autotune.interop.exporting import FORMATS, export_results
from autotune.interop.importing import Imported, Known, import_files

__all__ = ["FORMATS", "Imported", "Known", "export_results", "import_files"]
