from __future__ import annotations

import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
import store_samples as samples

from autotune.errors import SchemaOutOfDate, StoreError
from autotune.store import Store, check, copy_file, current, default_url, head, upgrade


def files_beside(path):
    return sorted(each.name for each in path.parent.iterdir())


@pytest.fixture
def recorded(url, path):
    """A closed database with one trial."""
    with Store.open(url) as store:
        study = store.begin_study("first", **samples.STUDY)
        store.record(study, samples.context(), samples.ok(0))
    return path


def test_a_new_database_is_in_wal_and_checks_foreign_keys(path, url):
    with Store.open(url) as store, closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        pragmas = pragmas_of(store)
    assert pragmas == {"foreign_keys": 1, "synchronous": 1}


def pragmas_of(store):
    with store._writing() as connection:
        return {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("foreign_keys", "synchronous")
        }


def test_a_bare_path_is_an_sqlite_file(path):
    with Store.open(str(path)) as store:
        assert store.url == f"sqlite:///{path}"
    assert current(str(path)) == head()


@pytest.mark.parametrize("name", ["100% sure?.db", "a#b &c=d.db", "naïve 日本.db"])
def test_any_file_name_works(tmp_path, name):
    with Store.open(str(tmp_path / name)) as store:
        store.begin_study("first", **samples.STUDY)
    with Store.open(str(tmp_path / name), read_only=True) as store:
        assert len(store.studies()) == 1
    assert (tmp_path / name).is_file()


def test_the_default_follows_the_environment_and_its_folder_is_made(monkeypatch, tmp_path):
    monkeypatch.setenv("AUTOTUNE_DB", "sqlite:///elsewhere.db")
    assert default_url() == "sqlite:///elsewhere.db"
    monkeypatch.delenv("AUTOTUNE_DB")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    Store.open(default_url()).close()
    assert (tmp_path / "data" / "autotune" / "autotune.db").is_file()


def test_an_empty_file_becomes_a_database(path, url):
    path.touch()
    with Store.open(url) as store:
        assert store.studies() == []


@pytest.mark.usefixtures("recorded")
def test_read_only_refuses_to_write(url):
    with Store.open(url, read_only=True) as store:
        assert len(store.rows()) == 1
        with pytest.raises(StoreError, match="opened read-only"):
            store.begin_study("second", **samples.STUDY)


@pytest.mark.usefixtures("study")
def test_reading_connections_cannot_write_even_if_asked(store):
    with pytest.raises(StoreError, match="read-only"):
        store._read(lambda connection: connection.exec_driver_sql("DELETE FROM study"))
    assert len(store.studies()) == 1


def test_reading_leaves_nothing_beside_the_file(recorded, url):
    before = files_beside(recorded)
    with Store.open(url, read_only=True) as store:
        store.rows()
    assert files_beside(recorded) == before


def test_an_immutable_file_is_read_with_no_file_beside_it(recorded, tmp_path):
    packaged = tmp_path / "package" / "recording.db"
    packaged.parent.mkdir()
    shutil.copy(recorded, packaged)
    content = packaged.read_bytes()
    with Store.open(str(packaged), read_only=True, immutable=True) as store:
        assert len(store.rows()) == 1
        assert files_beside(packaged) == ["recording.db"]
    assert (files_beside(packaged), packaged.read_bytes()) == (["recording.db"], content)


def test_an_immutable_file_with_a_log_is_read_with_its_log(url):
    with Store.open(url) as writer:
        study = writer.begin_study("first", **samples.STUDY)
        writer.record(study, samples.context(), samples.ok(0))
        with Store.open(url, read_only=True, immutable=True) as reader:
            assert len(reader.rows()) == 1


def test_a_copy_holds_everything_and_is_not_in_wal(store, study, path, tmp_path):
    store.record(study, samples.context(), samples.ok(0))
    copied = copy_file(path, tmp_path / "copy.db")
    with closing(sqlite3.connect(copied)) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    with Store.open(str(copied)) as other:
        assert other.rows() == store.rows()
        other.begin_study("second", **samples.STUDY)
    with closing(sqlite3.connect(copied)) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_database_out_of_wal_gets_there_while_another_program_writes(recorded, tmp_path):
    copied = copy_file(recorded, tmp_path / "copy.db")
    with (
        closing(sqlite3.connect(copied, isolation_level=None, check_same_thread=False)) as other,
        Store.open(str(copied)) as store,
    ):
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.5, other.execute, ("COMMIT",))
        release.start()
        store.begin_study("second", **samples.STUDY)
        release.join()
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def refusal(url, *, read_only=False):
    with pytest.raises((StoreError, SchemaOutOfDate)) as raised:
        Store.open(url, read_only=read_only).close()
    assert "\n" not in raised.value.message
    assert raised.value.hint
    return raised.value


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_is_no_database(path, url, read_only):
    path.write_text("kernel,time\ngemm,12\n" * 100)
    error = refusal(url, read_only=read_only)
    assert error.message == f"{url}: not an SQLite database"
    assert path.read_text() == "kernel,time\ngemm,12\n" * 100


def test_a_folder(tmp_path):
    assert "is a folder" in refusal(f"sqlite:///{tmp_path}").message
    assert "is a folder" in refusal(f"sqlite:///{tmp_path}", read_only=True).message


def test_a_missing_folder(tmp_path):
    error = refusal(f"sqlite:///{tmp_path}/no/such/results.db")
    assert f"the folder {tmp_path}/no/such does not exist" in error.message
    assert not (tmp_path / "no").exists()


def test_a_missing_file_is_not_made_by_reading(path, url):
    error = refusal(url, read_only=True)
    assert error.message == f"there is no database at {url}"
    for read in (current, check):
        with pytest.raises(StoreError, match="there is no database"):
            read(url)
    assert not path.exists()


def test_a_database_of_someone_else_holds_no_results(path, url):
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE bookmarks (url TEXT)")
    assert "holds no results" in refusal(url, read_only=True).message


def test_tables_of_someone_else_with_our_names_are_left_alone(path, url):
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE device (serial TEXT)")
    assert "has tables that autotune did not make: device" in refusal(url).message
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT name FROM sqlite_master").fetchall() == [("device",)]


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_schema(recorded, url, read_only):
    with closing(sqlite3.connect(recorded)) as raw, raw:
        raw.execute("UPDATE autotune_alembic_version SET version_num = '9999'")
    error = refusal(url, read_only=read_only)
    assert isinstance(error, SchemaOutOfDate)
    assert "has schema 9999, newer than this version of autotune" in error.message
    with pytest.raises(SchemaOutOfDate, match="newer"):
        upgrade(url)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("sqlite://", "in memory"),
        ("sqlite:///:memory:", "in memory"),
        ("://", "not a database URL"),
        ("postgresql://host:port/name", "not a database URL"),
        ("nosuch://host/name", "no database is called 'nosuch'"),
    ],
)
def test_urls_that_cannot_be_used(url, message):
    assert message in refusal(url).message


def test_passwords_are_never_shown():
    error = refusal("nosuch://me:s3cret@host/name")
    assert "s3cret" not in str(error)


def test_a_lock_that_is_never_given_back(store, path, monkeypatch):
    monkeypatch.setattr("autotune.store.engine.BUSY_S", 0.2)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked by another process") as raised:
            store.begin_study("first", **samples.STUDY)
        assert raised.value.hint
        other.execute("ROLLBACK")
    store.begin_study("first", **samples.STUDY)


def test_the_migrations_folder_is_no_package():
    assert not (Path(__file__).parents[2] / "alembic" / "__init__.py").exists()


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("trial", "samples_ns", "[1,"),
        ("trial", "status", "fine"),
        ("trial", "finished_at", "yesterday"),
        ("config", "fields", "[]]"),
        ("policy", "fields", "[7]"),
        ("device", "target", "{}"),
        ("problem", "fields", "null"),
    ],
)
def test_a_column_that_was_damaged_is_a_damaged_database(recorded, url, table, column, value):
    with closing(sqlite3.connect(recorded, isolation_level=None)) as raw:
        raw.execute("PRAGMA ignore_check_constraints = ON")
        raw.execute(f"UPDATE {table} SET {column} = ?", (value,))
    with Store.open(url) as store, pytest.raises(StoreError, match="damaged: a column") as caught:
        store.rows()
    assert "\n" not in caught.value.message
