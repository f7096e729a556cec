"""The same store on a database server. Point AUTOTUNE_TEST_POSTGRES at an empty database."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
import store_samples as samples
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from autotune.errors import StoreError
from autotune.store import Filter, Store, check, current, downgrade, head, migrate, upgrade
from autotune.store.models import Base

SERVER = os.environ.get("AUTOTUNE_TEST_POSTGRES", "")
pytestmark = pytest.mark.skipif(
    not SERVER, reason="AUTOTUNE_TEST_POSTGRES names no PostgreSQL database"
)


@pytest.fixture
def server():
    yield SERVER
    if current(SERVER) is not None:
        downgrade(SERVER, "base")


def test_trials_are_read_as_they_were_returned(server):
    with Store.open(server) as store:
        study = store.begin_study("first", **samples.STUDY)
        trials = [samples.ok(0, 1234.567), samples.failed(1, message="a\x00b"), samples.ok(2)]
        written = [store.record(study, samples.context(), trial) for trial in trials]
        assert store.trials(study, samples.context()) == written
    with Store.open(server, read_only=True) as store:
        assert [row.trial for row in store.rows()] == written
        assert [row.trial for row in store.best(Filter(problem={"m": 64}))] == [written[2]]
        assert [row.trial for row in store.failures(Filter(device="h200"))] == [written[1]]
        [stored] = store.contexts(Filter(studies=("first",)))
        assert list(store.answers(stored).values()) == written
        assert [(s.trials, s.ok) for s in store.studies()] == [(3, 2)]


def test_the_schema_is_that_of_the_models_and_round_trips(server):
    assert upgrade(server).before is None
    with Store.open(server) as store, store._reader.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": migrate.VERSION_TABLE, "compare_type": True}
        )
        assert compare_metadata(context, Base.metadata) == []
    downgrade(server, "base")
    assert upgrade(server).after == head()
    check(server)


def test_views_answer(server):
    with Store.open(server) as store:
        study = store.begin_study("first", **samples.STUDY)
        for number in range(3):
            store.record(study, samples.context(), samples.ok(number, 1000.0 - number))
        best = store._read(
            lambda connection: connection.execute(
                text("SELECT number, problem->>'m' FROM best_config")
            ).all()
        )
    assert best == [(2, "64")]


def test_readers_cannot_write(server):
    with (
        Store.open(server) as store,
        pytest.raises(StoreError, match="read-only transaction"),
    ):
        store._read(lambda connection: connection.execute(text("DELETE FROM study")))


def test_writers_that_start_cold_together(server):
    def write(name):
        with Store.open(server) as store:
            study = store.begin_study(name, **samples.STUDY)
            for number in range(20):
                store.record(study, samples.context(), samples.ok(number))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, "abcd"))
    with Store.open(server, read_only=True) as store:
        assert [(s.name, s.trials) for s in sorted(store.studies(), key=lambda s: s.name)] == [
            (name, 20) for name in "abcd"
        ]
        assert len(store.contexts()) == 1
