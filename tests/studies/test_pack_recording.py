"""A recording that was packed says what its database says, in less room."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from contextlib import closing

import pack_recording
import pytest

from autotune.device import recordings
from autotune.errors import InvalidInput
from autotune.store import Store

RAW = "[5092.459,5096.131,5085.639]", "[163072.0049,163072.0051,164639.9945]"


@pytest.fixture
def database(tmp_path):
    """Return a database of some trials with times as a stopwatch gives them."""
    path = tmp_path / "recorded.db"
    shutil.copy(recordings()["h200"], path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM trial WHERE id > 200 OR samples_ns IS NULL")
        connection.execute("UPDATE trial SET samples_ns = ?, binary_key = 'key'", (RAW[0],))
        connection.execute("UPDATE trial SET samples_ns = ? WHERE id % 2", (RAW[1],))
    return path


def trials(path):
    with Store.open(str(path), read_only=True) as store:
        return [row.trial for row in store.rows()]


def test_times_are_rounded_and_all_else_is_as_it_was(database, tmp_path):
    before = trials(database)
    pack_recording.pack(database, tmp_path / "packed.sqlite")
    after = trials(tmp_path / "packed.sqlite")
    assert [each.config for each in after] == [each.config for each in before]
    assert {each.measurement.samples_ns for each in after} == {
        (5092.5, 5096.1, 5085.6),
        (163072, 163072, 164640),
    }
    assert {each.median_ns for each in after} == {5092.5, 163072}
    assert {each.binary_key for each in after} == {""}
    assert {each.binary_key for each in trials(database)} == {"key"}


def test_what_cannot_be_packed_leaves_all_as_it_was(tmp_path, monkeypatch):
    target = tmp_path / "packed.sqlite"
    target.write_bytes(b"whole")
    (tmp_path / "text.db").write_text("text")
    before = sorted(tmp_path.iterdir())
    for database, message in (("missing.db", "no database"), ("text.db", "not an SQLite")):
        monkeypatch.setattr(sys, "argv", ["pack", str(tmp_path / database), str(target)])
        with pytest.raises(SystemExit, match=message):
            pack_recording.main()
    assert sorted(tmp_path.iterdir()) == before
    assert target.read_bytes() == b"whole"


def test_a_folder_is_not_packed_into(database, tmp_path):
    with pytest.raises(InvalidInput, match="is there and is not a file"):
        pack_recording.pack(database, tmp_path)
