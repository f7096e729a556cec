from __future__ import annotations

import hashlib
import shutil
import sqlite3
from contextlib import closing

import pytest
import store_samples as samples
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from autotune.errors import SchemaOutOfDate, StoreError
from autotune.store import Store, check, current, downgrade, head, migrate, upgrade
from autotune.store.models import Base

NEXT_REVISION = '''
"""A later revision, as one may come: it rebuilds a table that others refer to."""

import sqlalchemy as sa
from alembic import op

revision = "next"
down_revision = {head!r}


def upgrade():
    with op.batch_alter_table("device", recreate="always") as batch:
        batch.add_column(sa.Column("nickname", sa.Text(), nullable=False, server_default=""))
    {also}


def downgrade():
    with op.batch_alter_table("device") as batch:
        batch.drop_column("nickname")
'''


def checksum(path):
    """Return the row count and a digest of the old columns of every table of ours."""
    found = {}
    with closing(sqlite3.connect(path)) as raw:
        for name, table in Base.metadata.tables.items():
            columns = ", ".join(f'"{column.name}"' for column in table.columns)
            rows = raw.execute(f"SELECT {columns} FROM {name} ORDER BY id").fetchall()
            found[name] = (len(rows), hashlib.sha256(repr(rows).encode()).hexdigest())
    return found


@pytest.fixture
def populated(url, path):
    """A closed database with rows in every table."""
    with Store.open(url) as store:
        study = store.begin_study("first", **samples.STUDY)
        for m in (64, 128):
            for number in range(5):
                store.record(study, samples.context(m), samples.ok(number))
            store.record(study, samples.context(m), samples.failed(5))
            store.record_final(study, samples.context(m), samples.final())
            store.record_reading(study, samples.context(m), samples.reading())
        entries = [(samples.ok(0), {"objectives": ["time"]})]
        spec, context = samples.STUDY["spec"], samples.context(256)
        store.import_study("other", spec=spec, sampler="none", context=context, entries=entries)
    assert all(count for count, _ in checksum(path).values())
    return path


@pytest.fixture
def later(monkeypatch, tmp_path):
    """Give the package one more revision, as if it had been upgraded."""

    def install(also="pass"):
        folder = tmp_path / "migrations"
        shutil.copytree(migrate.scripts_folder(), folder, ignore=shutil.ignore_patterns("__py*"))
        script = NEXT_REVISION.format(head=head(), also=also)
        (folder / "versions" / "next.py").write_text(script)
        monkeypatch.setattr(migrate, "scripts_folder", lambda: folder)

    return install


def test_models_are_what_migrations_make(store):
    with store._reader.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": migrate.VERSION_TABLE, "compare_type": True}
        )
        assert compare_metadata(context, Base.metadata) == []


@pytest.mark.usefixtures("store")
def test_constraint_names_of_models_are_what_migrations_make(path):
    with closing(sqlite3.connect(path)) as raw:
        schema = "\n".join(row[0] or "" for row in raw.execute("SELECT sql FROM sqlite_master"))
    for table in Base.metadata.tables.values():
        for constraint in table.constraints:
            assert f"CONSTRAINT {constraint.name} " in schema
    assert (
        schema.count("CONSTRAINT ")
        == schema.count("CONSTRAINT ck_")
        + schema.count("CONSTRAINT pk_")
        + schema.count("CONSTRAINT fk_")
        + schema.count("CONSTRAINT uq_")
        + 1
    )  # Alembic's own


@pytest.mark.usefixtures("populated")
def test_an_older_database_is_refused_until_it_is_upgraded(url, later):
    first = head()
    later()
    for read_only in (False, True):
        with pytest.raises(SchemaOutOfDate, match=f"has schema {first}") as raised:
            Store.open(url, read_only=read_only)
        assert raised.value.hint == f"autotune db upgrade --db {url}"
    with pytest.raises(SchemaOutOfDate):
        check(url)
    upgrade(url)
    check(url)
    with Store.open(url) as store:
        assert len(store.rows()) == 13


def test_an_upgrade_keeps_every_row_and_a_backup(populated, url, later):
    before, first = checksum(populated), head()
    later()
    done = upgrade(url)
    backup = populated.with_name(f"results.db.bak-{first}")
    assert (done.before, done.after, done.backup) == (first, "next", backup)
    assert current(url) == "next"
    assert checksum(populated) == checksum(backup) == before
    assert current(str(backup)) == first


@pytest.mark.usefixtures("populated")
def test_an_upgrade_twice_does_nothing_more(url):
    done = upgrade(url)
    assert (done.before, done.after, done.backup) == (head(), head(), None)


def test_there_and_back_again(populated, url, later):
    before, first = checksum(populated), head()
    later()
    upgrade(url)
    downgrade(url, first)
    assert (current(url), checksum(populated)) == (first, before)
    upgrade(url)
    assert (current(url), checksum(populated)) == ("next", before)


def test_an_upgrade_that_fails_changes_nothing(populated, url, later):
    before, first = checksum(populated), head()
    later(also="op.execute('INSERT INTO nowhere VALUES (1)')")
    with pytest.raises(StoreError, match="no such table: nowhere"):
        upgrade(url)
    assert (current(url), checksum(populated)) == (first, before)


def test_an_upgrade_that_would_orphan_rows_changes_nothing(populated, url, later):
    before, first = checksum(populated), head()
    later(also="op.execute('DELETE FROM device')")
    with pytest.raises(StoreError, match="missing rows of 'device'; nothing was changed"):
        upgrade(url)
    assert (current(url), checksum(populated)) == (first, before)


@pytest.mark.usefixtures("populated")
def test_downgrade_to_nothing_and_up_again(url, path):
    downgrade(url, "base")
    with closing(sqlite3.connect(path)) as raw:
        left = raw.execute("SELECT name FROM sqlite_master WHERE type <> 'index'").fetchall()
    assert left == [("autotune_alembic_version",)]
    assert upgrade(url).after == head()
    with Store.open(url) as store:
        assert store.rows() == []


def test_upgrade_makes_a_new_database(url):
    assert upgrade(url).before is None
    check(url)


def test_check_of_a_database_without_our_tables_says_what_to_do(path, url):
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE bookmarks (url TEXT)")
    assert current(url) is None
    with pytest.raises(SchemaOutOfDate, match="no tables of autotune yet") as raised:
        check(url)
    assert raised.value.hint == f"autotune db upgrade --db {url}"


def test_optuna_lives_in_the_same_file(url):
    optuna = pytest.importorskip("optuna")

    def their_trial():
        theirs = optuna.create_study(storage=url, study_name="theirs", load_if_exists=True)
        theirs.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
        return len(theirs.trials)

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    assert their_trial() == 1
    with Store.open(url) as store:
        study = store.begin_study("ours", **samples.STUDY)
        store.record(study, samples.context(), samples.ok(0))
    assert their_trial() == 2
    with Store.open(url) as store:
        assert len(store.rows()) == 1
    assert current(url) == head()
