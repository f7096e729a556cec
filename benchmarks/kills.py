"""Kill -9 the coordinator of a study at random moments, and resume until it is finished.

A row that another process has read before the kill must be there after it, no config may be
measured twice, every study must come to its end, and nothing that it started may live on.

    python benchmarks/kills.py --kills 200
"""

from __future__ import annotations

import argparse
import logging
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from faults_process import tuning
from results_file import write_json

TRIALS = 10
KILLS_OF_ONE = 8  # studies are let go on to their end after so many
ORPHANED_S = 5.0
PACKAGES = ("numpy", "sqlalchemy", "optuna")
STUDY = f"""
name = "kills"
kernel = "host_matmul"
[search]
sampler = "random"
trials = {TRIALS}
[policy]
preset = "quick"
budget_ms = 1.0
warmup_ms = 0.1
[space]
tile_m = [4, 8, 16]
tile_n = [16, 32, 64]
[problems]
shapes = [[24, 20, 16]]
"""

COLUMNS = "study_id, number, config_id, status, message, samples_ns, finished_at"
Row = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """One run of the coordinator, which was killed unless it ended before.

    Attributes:
        study: Counts the studies from 0.
        killed: False if it had ended, or was let go on to its end.
        after_s: When it was killed, in s after its start, or how long it took.
        rows_before: Rows that another process read right before.
        rows_after: Rows in the end.
        lost: Rows that were read before and are not there, or not the same.
        duplicates: Rows of a config or a number that another row has.
        orphans: Processes that lived on.
        whole: True if the database is sound, and the study complete unless it was killed.
    """

    study: int
    killed: bool
    after_s: float
    rows_before: int
    rows_after: int
    lost: int
    duplicates: int
    orphans: int
    whole: bool

    @property
    def harmless(self) -> bool:
        """True if nothing came to harm."""
        return self.whole and not (self.lost or self.duplicates or self.orphans)


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill as often as asked; return 0 if no kill did harm."""
    asked = _parser().parse_args(arguments)
    logging.disable(logging.WARNING)
    found: list[Kill] = []
    began = time.monotonic()
    for kill in kills(asked.kills, seed=asked.seed):
        found.append(kill)
        if not kill.harmless or len(found) % 20 == 0:
            print(f"{'  ' if kill.harmless else '! '}{len(found):4}  {kill}")
    print(summary(found, time.monotonic() - began))
    if asked.json is not None:
        about = {"device": "host", "seed": asked.seed, "trials": TRIALS}
        write_json(asked.json, [asdict(kill) for kill in found], packages=PACKAGES, about=about)
    return int(not all(kill.harmless for kill in found))


def kills(count: int, *, seed: int) -> Iterator[Kill]:
    """Kill coordinators ``count`` times, and yield each of their runs, the unharmed ones too."""
    chance = random.Random(seed)  # noqa: S311 - moments are no secret
    done, study = 0, 0
    took_s: deque[float] = deque(maxlen=4)  # runs that nobody killed
    while done < count:
        with tempfile.TemporaryDirectory(prefix="kills-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            (folder / "study.toml").write_text(STUDY)
            goal = min(KILLS_OF_ONE, count - done) if took_s else 0
            for _ in range(goal):
                kill = _run(folder, study, limit_s=chance.uniform(0.0, max(took_s)))
                yield kill
                done += kill.killed
                if not kill.killed:
                    break
            else:
                kill = _run(folder, study, limit_s=None)
                yield kill
            took_s.append(kill.after_s)
            study += 1


def summary(found: Sequence[Kill], seconds: float) -> str:
    """Return the last line."""
    killed = [kill for kill in found if kill.killed]
    amid = sum(0 < kill.rows_after < TRIALS for kill in killed)
    return (
        f"{len(killed)} kills, {amid} of them between the first row and the last: "
        f"{sum(kill.lost for kill in found)} rows lost, "
        f"{sum(kill.duplicates for kill in found)} duplicates, "
        f"{sum(kill.orphans for kill in found)} processes left, "
        f"{sum(not kill.whole for kill in found)} databases or studies not whole; "
        f"{len(found) - len(killed)} runs completed; {seconds:.0f} s"
    )


def _run(folder: Path, study: int, *, limit_s: float | None) -> Kill:
    """Start or resume the study, and kill it after ``limit_s`` unless it has ended."""
    database, began = folder / "results.db", time.monotonic()
    own = {"AUTOTUNE_CACHE": str(folder / "cache")}
    with tuning(folder / "study.toml", database, environment=own) as process:
        deadline = None if limit_s is None else began + limit_s
        killed = process.until(lambda: deadline is not None and time.monotonic() >= deadline)
        before = _rows(database)
        if killed:
            process.stop(signal.SIGKILL)
        after_s = time.monotonic() - began
        # It may have ended between the last look and the kill.
        killed = process.wait() == -signal.SIGKILL
        left = _copy(database)
        after, orphans = _rows(left), process.orphans(ORPHANED_S)
        complete = process.wait() == 0 and len(after) == TRIALS
    return Kill(
        study=study,
        killed=killed,
        after_s=round(after_s, 3),
        rows_before=len(before),
        rows_after=len(after),
        lost=len(set(before) - set(after)),
        duplicates=_duplicates(after),
        orphans=len(orphans),
        whole=_sound(left) and (killed or complete),
    )


def _rows(database: Path) -> list[Row]:
    """Return every trial as a process that knows nothing of autotune reads it."""
    if not database.exists():
        return []
    with closing(_reader(database)) as reader:
        if not reader.execute("SELECT 1 FROM sqlite_master WHERE name = 'trial'").fetchall():
            return []  # the schema is not there yet
        return reader.execute(f"SELECT {COLUMNS} FROM trial ORDER BY id").fetchall()  # noqa: S608 - of this file


def _duplicates(rows: Sequence[Row]) -> int:
    """Return how many rows share their study and number, or their study and config."""
    return sum(len(rows) - len({(row[0], row[which]) for row in rows}) for which in (1, 2))


def _copy(database: Path) -> Path:
    """Copy what a kill has left: the next run must repair it by itself."""
    folder = database.with_name("left")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file in database.parent.glob(f"{database.name}*"):
        if not file.name.endswith("-shm"):  # an index into the log, made anew
            shutil.copy(file, folder)
    return folder / database.name


def _sound(database: Path) -> bool:
    if not database.exists():
        return True  # it was killed before there was anything to keep
    with closing(_reader(database)) as reader:
        checked = reader.execute("PRAGMA integrity_check").fetchall()
        return checked == [("ok",)] and not reader.execute("PRAGMA foreign_key_check").fetchall()


def _reader(database: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{database}?mode=rw", uri=True, timeout=60.0)


def _parser() -> argparse.ArgumentParser:
    about, _, _ = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--kills", type=int, default=20, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the rows there")
    return parser


if __name__ == "__main__":
    sys.exit(main())
