"""Faults of the result database, and of the disks that it and the binaries are on."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from unittest import mock

from faults_compiler import fresh_device
from faults_record import Fault, Impossible, Seen
from faults_study import FINISHED, REFUSED, Run, Site

from autotune.store import engine

NOBODY = 65534
MOUNT, UMOUNT = "/bin/mount", "/bin/umount"
BRIEFLY_S, LONG_S = 0.7, 30.0


def _midway(site: Site, harm: Callable[[], object], heal: Callable[[], object]) -> Seen:
    """Do harm after the second row; heal it once the run has ended, and go on."""
    met = site.tune(after=lambda count: harm() if count == 2 else None)
    heal()
    return site.seen([met, site.tune()], met.ended)


def _between(site: Site, harm: Callable[[], object], heal: Callable[[], object]) -> Seen:
    """Do harm while no study runs; run one, heal it, and go on."""
    part = site.tune(stop_after=2)
    harm()
    met = site.tune()
    heal()
    return site.seen([part, met, site.tune()], met.ended)


def _locked(site: Site, *, seconds: float, patience_s: float) -> Seen:
    with (
        mock.patch.object(engine, "BUSY_S", patience_s),
        closing(_connection(site, check_same_thread=False)) as other,
    ):
        unlock = threading.Timer(seconds, other.rollback)

        def lock() -> None:
            other.execute("BEGIN IMMEDIATE")
            unlock.start()

        return _midway(site, lock, lambda: (unlock.cancel(), other.rollback()))


def _full(site: Site) -> Seen:
    """Let no file of this process grow: what a full disk does to a database."""
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill() -> None:
        log = site.database.with_name(f"{site.database.name}-wal")
        resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, unlimited[1]))

    return _midway(site, fill, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, unlimited))


def _read_only(site: Site) -> Seen:
    part = site.tune(stop_after=2)
    with _as_nobody(site.folder):
        met = site.tune()
    return site.seen([part, met, site.tune()], met.ended)


def _sql(site: Site, harm: str, heal: str, *, midway: bool) -> Seen:
    put = _midway if midway else _between
    return put(site, partial(_execute, site, harm), partial(_execute, site, heal))


def _replaced(site: Site) -> Seen:
    """Put an older copy in its place, as a backup that is restored too early does."""

    def restore() -> None:
        copy = site.folder / "backup.db"
        with closing(_connection(site)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        for leftover in ("-wal", "-shm"):
            site.database.with_name(site.database.name + leftover).unlink(missing_ok=True)
        copy.replace(site.database)

    return _midway(site, restore, _nothing)


def _rival(site: Site) -> Seen:
    """Run the same study beside itself."""
    runs: list[Run] = []
    met = site.tune(after=lambda count: runs.append(site.tune()) if count == 2 else None)
    return site.seen([*runs, met, site.tune()], met.ended)


def _spoilt(site: Site, spoil: Callable[[Path], object]) -> Seen:
    """Spoil the file between two runs; restore a copy after the second."""
    copy = site.folder / "copy.db"

    def harm() -> None:
        shutil.copy(site.database, copy)
        spoil(site.database)

    return _between(site, harm, lambda: copy.replace(site.database))


def _damage_pages(database: Path) -> None:
    image = bytearray(database.read_bytes())
    image[4096:] = b"\xff" * (len(image) - 4096)
    database.write_bytes(image)


def _store(site: Site, cache: AbstractContextManager[object]) -> Seen:
    """Run with a store of binaries that is unusable while ``cache`` is entered."""
    with cache, fresh_device(site) as device:
        met = site.tune(device=device)
    return site.seen([met, site.tune()], met.ended)


def _store_is_a_file(site: Site) -> Seen:
    (site.folder / "cache").write_text("")
    return _store(site, nullcontext())


def _store_on(site: Site, *, disk: str) -> Seen:
    return _store(site, _disk(site.folder / "cache", disk))


@contextmanager
def _as_nobody(folder: Path) -> Iterator[None]:
    """Be a user who may not write ``folder`` or its files: root may write anything."""
    folder.chmod(0o755)
    if os.geteuid() != 0:
        raise Impossible("only root can be another user")
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def _disk(folder: Path, options: str) -> Iterator[None]:
    folder.mkdir()
    mount = [MOUNT, "-t", "tmpfs", "-o", options, "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        raise Impossible("only root can mount a disk, and not everywhere")
    try:
        yield
    finally:
        subprocess.run([UMOUNT, "-l", str(folder)], check=True)


def _connection(site: Site, **options: bool) -> sqlite3.Connection:
    return sqlite3.connect(site.database, isolation_level=None, **options)  # type: ignore[call-overload,no-any-return]


def _execute(site: Site, statement: str) -> None:
    with closing(_connection(site)) as connection:
        connection.execute(statement)


def _nothing() -> None:
    pass


def _database(name: str, expected: str, inject: Callable[[Site], Seen]) -> Fault:
    return Fault(name=f"database {name}", area="database", expected=expected, inject=inject)


def _files(name: str, inject: Callable[[Site], Seen]) -> Fault:
    return Fault(name=f"binaries' store {name}", area="files", expected=REFUSED, inject=inject)


_NEWER = "UPDATE autotune_alembic_version SET version_num = 'x' || version_num"
_AS_WAS = "UPDATE autotune_alembic_version SET version_num = substr(version_num, 2)"
_TRIGGER = "CREATE TRIGGER refuse BEFORE INSERT ON trial BEGIN SELECT RAISE(ABORT, 'no rows'); END"
FILES = [
    _database("locked briefly", FINISHED, partial(_locked, seconds=BRIEFLY_S, patience_s=60.0)),
    _database("locked for long", REFUSED, partial(_locked, seconds=LONG_S, patience_s=0.3)),
    _database("full", REFUSED, _full),
    _database("read-only", REFUSED, _read_only),
    _database("replaced", REFUSED, _replaced),
    _database("of a rival", REFUSED, _rival),
    _database(
        "refuses rows",
        REFUSED,
        partial(_sql, harm=_TRIGGER, heal="DROP TRIGGER refuse", midway=True),
    ),
    _database("of a newer schema", REFUSED, partial(_sql, harm=_NEWER, heal=_AS_WAS, midway=False)),
    _database(
        "is no database", REFUSED, partial(_spoilt, spoil=lambda path: path.write_text("x" * 9999))
    ),
    _database("damaged", REFUSED, partial(_spoilt, spoil=_damage_pages)),
    _database("cut short", REFUSED, partial(_spoilt, spoil=lambda path: os.truncate(path, 8192))),
    _files("is a file", _store_is_a_file),
    _files("read-only", partial(_store_on, disk="ro")),
    _files("full", partial(_store_on, disk="size=48k")),
]
