"""The store: one result database, opened."""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self, TypeVar

from sqlalchemy import URL, Connection, Engine, delete, insert, select
from sqlalchemy.exc import IntegrityError

from autotune.errors import StoreError
from autotune.records import MOST_APART, Finalist, Goal, Reading, Trial, described
from autotune.store import bulk, migrate, models, queries, retimed
from autotune.store.bulk import Entry, Note
from autotune.store.chosen import winners
from autotune.store.codec import moment, storable, trial_columns
from autotune.store.context import Context
from autotune.store.engine import reader_engine, writer_engine
from autotune.store.faults import translated
from autotune.store.front_rows import Front, fronts
from autotune.store.parts import config_id, context_id, find_context, made_id
from autotune.store.rows import EVERYTHING, Filter, Final, StoredContext, StudySummary, TrialRow
from autotune.store.url import parse_url, refuse_folder, require_file, shown, sqlite_path

_Answer = TypeVar("_Answer")


class Store:
    """A result database. Open one with ``Store.open``; close it, or use it in ``with``.

    Every call is one transaction. Reading never waits for a writer.
    """

    def __init__(self, url: URL, *, reader: Engine, writer: Engine | None) -> None:
        self._url = url
        self._reader = reader
        self._writer = writer
        self._context_ids: dict[tuple[str, ...], int] = {}
        self._config_ids: dict[str, int] = {}

    @classmethod
    def open(cls, url: str, *, read_only: bool = False, immutable: bool = False) -> Self:
        """Open a database; unless ``read_only``, make it first if it is new or empty.

        Args:
            url: An SQLAlchemy URL, or the path of an SQLite file.
            read_only: Refuse every write.
            immutable: Promise that the SQLite file does not change while it is open (a file
                of an installed package): no lock is taken, no file appears beside it.

        Raises:
            SchemaOutOfDate: It was written by an older or a newer version of this package.
            StoreError: There is no such database, or it cannot be opened.
        """
        parsed = parse_url(url)
        (require_file if read_only else refuse_folder)(parsed)
        reader = reader_engine(parsed, immutable=immutable and read_only)
        store = cls(parsed, reader=reader, writer=None if read_only else writer_engine(parsed))
        try:
            store._require_schema(url)
        except BaseException:
            store.close()
            raise
        return store

    @property
    def url(self) -> str:
        """The database's URL, its password hidden."""
        return shown(self._url)

    def close(self) -> None:
        """Close every connection."""
        for engine in (self._reader, self._writer):
            if engine is not None:
                engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # Writing

    def begin_study(self, name: str, *, spec: Mapping[str, Any], sampler: str, seed: int) -> int:
        """Return the id of the study called ``name``, and make it if there is none.

        A study that exists keeps the ``spec``, ``sampler`` and ``seed`` that it was started with.
        """
        with self._writing() as connection:
            found = self._study_named(connection, name)
            if found is not None:
                return found
            return self._insert_study(connection, name, spec=spec, sampler=sampler, seed=seed)

    def find_study(self, name: str) -> int | None:
        """Return the id of the study called ``name``, or None if there is none."""
        return self._read(lambda connection: self._study_named(connection, name))

    def record(
        self, study_id: int, context: Context, trial: Trial, *, replaces: Trial | None = None
    ) -> Trial:
        """Write one trial, at once and for good, and return it as it will be read.

        Its ``row_id`` is set. A measurement that is not made of positive numbers is stored
        as ``bad_measurement`` (see ``storable``), so go on with what is returned. The row of
        ``replaces``, an earlier trial of the same config, goes in the same transaction.

        Raises:
            StoreError: The row cannot be written; every earlier one is safe.
        """
        stored = storable(trial)
        identity, key = context.identity, stored.config.key
        with self._writing() as connection:
            in_context = self._context_ids.get(identity) or context_id(connection, context)
            of_config = self._config_ids.get(key) or config_id(connection, stored.config)
            values = {
                "study_id": study_id,
                "context_id": in_context,
                "config_id": of_config,
                **trial_columns(stored),
            }
            if replaces is not None:
                self._delete_trial(connection, replaces)
            row_id = self._insert_trial(connection, values)
        self._context_ids[identity] = in_context  # only now: a rollback takes new ids back
        self._config_ids[key] = of_config
        return dataclasses.replace(stored, problem_key=context.problem.key, row_id=row_id)

    def record_final(self, study_id: int, context: Context, finalists: Sequence[Finalist]) -> None:
        """Write one final of a study in one context, at once and for good."""
        with self._writing() as connection:
            place = self._place(connection, study_id, context)
            retimed.insert_final(connection, place, finalists, datetime.now(UTC))

    def record_reading(self, study_id: int, context: Context, reading: Reading) -> None:
        """Write one reading of a search's yardstick, at once and for good."""
        with self._writing() as connection:
            retimed.insert_reading(connection, self._place(connection, study_id, context), reading)

    def import_study(
        self,
        name: str,
        *,
        spec: Mapping[str, Any],
        sampler: str,
        context: Context | None,
        entries: Iterable[Entry],
    ) -> int:
        """Write a new study with all its trials in one context, or nothing; return its id.

        Args:
            name: Identity of the study.
            spec: What it was, ready for JSON.
            sampler: What chose its configs.
            context: What its trials share, or None for a study without any.
            entries: Trials with numbers and configs of their own, and what is noted of each.

        Raises:
            StoreError: There is a study of that name, or the rows cannot be written.
        """
        with self._writing() as connection:
            if self._study_named(connection, name) is not None:
                raise StoreError(f"{self.url} has a study {name!r} already")
            study_id = self._insert_study(connection, name, spec=spec, sampler=sampler, seed=0)
            if context is not None:
                bulk.insert_entries(connection, self._place(connection, study_id, context), entries)
        return study_id

    # Reading

    def notes(self, study_id: int) -> dict[int, Note]:
        """Return what is noted of the trials of one study, by ``row_id``."""
        return self._read(lambda connection: bulk.notes(connection, study_id))

    def final(self, study_id: int, context: Context) -> Final | None:
        """Return the newest final of one study in exactly this context, or None."""
        return self._read_place(study_id, context, retimed.final, None)

    def finals(self, studies: Sequence[str] = ()) -> dict[int, Final]:
        """Return the newest final of each context, by the context's id.

        Args:
            studies: Names of studies whose finals count; none means all.
        """
        return self._read(lambda connection: retimed.finals(connection, studies))

    def readings(self, study_id: int, context: Context) -> list[Reading]:
        """Return the readings of one study in exactly this context, oldest first."""
        return self._read_place(study_id, context, retimed.readings, [])

    def trials(self, study_id: int, context: Context) -> list[Trial]:
        """Return the trials of one study in exactly this context, by number."""

        def read(connection: Connection) -> list[Trial]:
            found = find_context(connection, context)
            if found is None:
                return []
            return queries.study_trials(connection, study_id, found, context.problem.key)

        return self._read(read)

    def studies(self) -> list[StudySummary]:
        """Return every study, oldest first."""
        return self._read(queries.studies)

    def contexts(self, wanted: Filter = EVERYTHING) -> list[StoredContext]:
        """Return the contexts that ``wanted`` matches, oldest first."""
        return self._read(lambda connection: queries.contexts(connection, wanted))

    def answers(self, stored: StoredContext, *, before: datetime | None = None) -> dict[str, Trial]:
        """Return the newest trial of each config in one context, failures too, by config key.

        Args:
            stored: The context.
            before: Only what was recorded by then counts, or everything.
        """
        return self._read(lambda connection: queries.answers(connection, stored, before))

    def best(
        self,
        wanted: Filter = EVERYTHING,
        *,
        unverified: bool = False,
        replayed: bool | None = None,
    ) -> list[TrialRow]:
        """Return the best trial of each context that ``wanted`` matches, as a table offers it.

        A final decides; without one the fastest wins, and what cannot be told from it by
        ``tie_order``.

        Args:
            wanted: Which contexts and studies to look at.
            unverified: Also consider results that were never checked.
            replayed: True also gives what a recording repeated, False leaves it out; None
                gives it only where the same context was never measured here.
                ``context.replayed_from`` tells which is which.
        """
        near = self._read(
            lambda connection: queries.contenders(
                connection, wanted, unverified=unverified, apart=MOST_APART
            )
        )
        found = winners(near, self.finals(wanted.studies))
        if replayed is True:
            return found
        measured = {row.context.identity for row in found if not row.context.replayed_from}
        return [
            row
            for row in found
            if not row.context.replayed_from
            or (replayed is None and row.context.measured.identity not in measured)
        ]

    def fronts(
        self, goals: Sequence[Goal], wanted: Filter = EVERYTHING, *, unverified: bool = False
    ) -> list[Front]:
        """Return the front of each context that ``wanted`` matches and that has a right row."""
        right = self._read(
            lambda connection: queries.contenders(
                connection, wanted, unverified=unverified, apart=None
            )
        )
        return fronts(right, self.finals(wanted.studies), goals)

    def rows(self, wanted: Filter = EVERYTHING, *, limit: int | None = None) -> list[TrialRow]:
        """Return trials that ``wanted`` matches, oldest first; at most the newest ``limit``."""
        return self._read(
            lambda connection: queries.rows(connection, wanted, failed=False, limit=limit)
        )

    def failures(self, wanted: Filter = EVERYTHING, *, limit: int | None = None) -> list[TrialRow]:
        """Return trials that failed, oldest first; at most the newest ``limit``.

        What was right but given up as too slow did not fail.
        """
        return self._read(
            lambda connection: queries.rows(connection, wanted, failed=True, limit=limit)
        )

    # Inside

    @staticmethod
    def _study_named(connection: Connection, name: str) -> int | None:
        return connection.scalar(select(models.Study.id).where(models.Study.name == name))

    @staticmethod
    def _insert_study(
        connection: Connection, name: str, *, spec: Mapping[str, Any], sampler: str, seed: int
    ) -> int:
        statement = insert(models.Study).values(
            name=name,
            spec=dict(spec),
            sampler=sampler,
            seed=seed,
            created_at=moment(datetime.now(UTC)),
        )
        return made_id(connection.execute(statement))

    def _require_schema(self, url: str) -> None:
        found = self._revision()
        if found is None and self._writer is not None:
            migrate.upgrade(url)
        elif found is None:
            raise StoreError(
                f"{self.url} holds no results of autotune",
                hint="run 'autotune tune STUDY.toml' first, or name another with --db",
            )
        else:
            migrate.require_head(self._url, found)

    def _revision(self) -> str | None:
        path = sqlite_path(self._url)
        if path is not None and not path.exists():
            return None
        return self._read(migrate.revision_of)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        if self._writer is None:
            raise StoreError(f"{self.url} was opened read-only")
        with translated(self._url), self._writer.begin() as connection:
            yield connection

    def _read(self, query: Callable[[Connection], _Answer]) -> _Answer:
        try:
            with translated(self._url), self._reader.begin() as connection, _uncollected():
                return query(connection)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise StoreError(  # SQLite checks its own pages, not what columns hold
                f"{self.url}: damaged: a column cannot be read: {described(error)}",
                hint="restore a copy, or name another file",
            ) from error

    def _read_place(
        self,
        study_id: int,
        context: Context,
        query: Callable[[Connection, retimed.Place], _Answer],
        nothing: _Answer,
    ) -> _Answer:
        def read(connection: Connection) -> _Answer:
            found = find_context(connection, context)
            if found is None:
                return nothing
            return query(connection, {"study_id": study_id, "context_id": found})

        return self._read(read)

    def _place(self, connection: Connection, study_id: int, context: Context) -> retimed.Place:
        return {"study_id": study_id, "context_id": context_id(connection, context)}

    @staticmethod
    def _delete_trial(connection: Connection, trial: Trial) -> None:
        for model in (models.Note, models.Trial):  # a note has its trial's id, and refers to it
            connection.execute(delete(model).where(model.id == trial.row_id))

    def _insert_trial(self, connection: Connection, values: dict[str, Any]) -> int:
        try:
            return made_id(connection.execute(insert(models.Trial), values))
        except IntegrityError as error:
            if "uq_trial" in str(error.orig) or "UNIQUE" in str(error.orig):
                raise StoreError(
                    f"{self.url}: this study already has trial {values['number']} or its config",
                    hint="another process runs the same study; wait for it or rename yours",
                ) from error
            raise


@contextmanager
def _uncollected() -> Iterator[None]:
    """Let the garbage collector rest: it would go through all that is read, again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
