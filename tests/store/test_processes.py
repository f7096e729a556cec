from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
import store_samples as samples

from autotune.errors import StoreError
from autotune.store import Store

PROCESSES = 8
ROWS = 40  # of each


def writer(url, study, count, **options):
    script = str(Path(__file__).with_name("writer_process.py"))
    return subprocess.Popen(
        [sys.executable, script, url, study, str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


class Watcher(threading.Thread):
    """Reads all the while, and once holds the write lock as a person at a prompt would.

    An error in its thread fails the test: warnings are errors.
    """

    def __init__(self, path, url):
        super().__init__()
        self.path, self.url = path, url
        self.stop = threading.Event()
        self.reads = 0

    def run(self):
        while not self.stop.is_set():
            with Store.open(self.url, read_only=True) as store:
                store.best()
                store.studies()
            self.reads += 1
            time.sleep(0.02)

    def hold_the_write_lock(self, seconds):
        with closing(sqlite3.connect(self.path, isolation_level=None, timeout=60)) as raw:
            raw.execute("BEGIN IMMEDIATE")
            time.sleep(seconds)
            while self.reads < 2 and self.is_alive():  # a writer keeps no reader waiting
                time.sleep(0.02)
            raw.execute("COMMIT")


def test_eight_writers_a_reader_and_a_held_lock(path, url):
    writers = [writer(url, f"study {i}", ROWS) for i in range(PROCESSES)]  # all start cold
    assert writers[0].stdout.readline() == "0\n"
    watcher = Watcher(path, url)
    watcher.start()
    watcher.hold_the_write_lock(3)
    ended = [(process.communicate()[1], process.returncode) for process in writers]
    watcher.stop.set()
    watcher.join()
    assert ended == [("", 0)] * PROCESSES
    assert watcher.reads > 1
    with Store.open(url, read_only=True) as store:
        found = [(row.study, row.trial.number) for row in store.rows()]
    assert len(found) == len(set(found)) == PROCESSES * ROWS


def test_killed_at_once_and_nothing_is_lost(url):
    process = writer(url, "first", 100)
    for _ in range(57):
        said = int(process.stdout.readline())
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    with Store.open(url) as store:
        study = store.begin_study("first", **samples.STUDY)
        numbers = [trial.number for trial in store.trials(study, samples.context())]
        assert numbers == list(range(len(numbers)))
        assert len(numbers) > said >= 56
        if len(numbers) < 100:
            store.record(study, samples.context(), samples.ok(len(numbers)))


def test_a_file_size_limit_stops_the_study_and_earlier_rows_stay(url):
    limit = 2_000_000

    def confine():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    process = writer(url, "first", 5000, preexec_fn=confine)
    out, err = process.communicate()
    assert process.returncode == 1
    assert "StoreError" in err
    assert "the disk is full or a size limit is reached" in err
    said = len(out.splitlines())
    with Store.open(url, read_only=True) as store:
        assert [row.trial.number for row in store.rows()] == list(range(said))
    assert said > 40


def record_for_ever(store, study, written):
    """Record trials until the store refuses; ``written`` holds those that it took."""
    while True:
        number = len(written)
        written.append(store.record(study, samples.context(), samples.ok(number)))


def limited(store, extra_pages):
    """Let the writer's connection use only ``extra_pages`` more pages: SQLite's own full disk."""
    with store._writer.connect() as connection:
        raw = connection.connection.dbapi_connection
        [pages] = raw.execute("PRAGMA page_count").fetchone()
        raw.execute(f"PRAGMA max_page_count = {pages + extra_pages}")


def test_a_full_disk_is_said_and_the_study_goes_on_when_there_is_room(store, study):
    written = []
    limited(store, 8)
    with pytest.raises(StoreError, match="disk full") as raised:
        record_for_ever(store, study, written)
    assert "every earlier row is safe" in raised.value.hint
    assert written
    assert store.trials(study, samples.context()) == written
    limited(store, 100)
    written.append(store.record(study, samples.context(), samples.ok(len(written))))
    assert store.trials(study, samples.context()) == written


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=768k", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("a small file system can only be mounted by root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_really_full_disk(small_disk):
    url = f"sqlite:///{small_disk}/results.db"
    with Store.open(url) as store:
        study = store.begin_study("first", **samples.STUDY)
        written = []
        with pytest.raises(StoreError, match="disk full"):
            record_for_ever(store, study, written)
        assert written
        assert store.trials(study, samples.context()) == written
    with Store.open(url, read_only=True) as store:
        assert [row.trial for row in store.rows()] == written


def test_a_disk_too_full_for_a_new_database(small_disk):
    with (small_disk / "filler").open("wb") as filler, pytest.raises(OSError, match="No space"):
        filler.write(bytes(1 << 20))
    with pytest.raises(StoreError, match="disk full"):
        Store.open(f"sqlite:///{small_disk}/results.db")
