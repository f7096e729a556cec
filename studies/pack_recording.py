"""Make what the studies ``record_*.toml`` left small enough to ship as a recording.

    python studies/pack_recording.py recorded.db autotune/recordings/h200.sqlite

The copy has every row. Times are rounded to 1 ns from 10 µs on and to 0.1 ns below, a ten
thousandth at most, power to 1 W. Keys of binaries, which lie in the store of the machine that
measured, are left out. The database itself stays as it is.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from autotune.errors import AutotuneError
from autotune.files import writable_target
from autotune.records import Measurement, canonical_json
from autotune.store import Store

COARSE_NS = 10_000.0


def main() -> None:
    """Write the copy and say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database", type=Path)
    parser.add_argument("recording", type=Path)
    asked = parser.parse_args()
    try:
        pack(asked.database, asked.recording)
    except AutotuneError as error:
        raise SystemExit(str(error)) from None
    print(f"{asked.recording}: {asked.recording.stat().st_size / 1e6:.1f} MB")


def pack(database: Path, recording: Path) -> None:
    """Copy ``database`` to ``recording``, rounded, whole or not at all.

    Raises:
        InvalidInput: ``recording`` cannot be a file.
        StoreError: ``database`` is no result database.
    """
    whole = writable_target(recording, what="recording")
    Store.open(str(database), read_only=True).close()  # SQLite would make one that is missing
    with tempfile.TemporaryDirectory(dir=whole.parent, prefix=".pack-") as folder:
        copy, packed = Path(folder, "copy"), Path(folder, "packed")
        with closing(sqlite3.connect(database)) as source:
            source.execute("VACUUM INTO ?", (str(copy),))
        with closing(sqlite3.connect(copy, isolation_level=None)) as target:
            _round(target)
            target.execute("VACUUM INTO ?", (str(packed),))
        packed.replace(whole)


def rounded(samples_ns: list[float]) -> list[float]:
    """Return samples in ns, rounded; whole numbers take less room."""
    return [round(each) if each >= COARSE_NS else round(each, 1) for each in samples_ns]


def _round(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN")
    timed = connection.execute("SELECT id, samples_ns FROM trial WHERE samples_ns IS NOT NULL")
    for trial, text in timed.fetchall():
        samples = rounded(json.loads(text))
        measured = Measurement(samples_ns=tuple(samples), launches_per_sample=1)
        connection.execute(
            "UPDATE trial SET samples_ns = ?, median_ns = ?, spread = ? WHERE id = ?",
            (canonical_json(samples), measured.median_ns, measured.spread, trial),
        )
    connection.execute("UPDATE trial SET binary_key = '', power_w = round(power_w)")
    connection.execute("COMMIT")


if __name__ == "__main__":
    main()
