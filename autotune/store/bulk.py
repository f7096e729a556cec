"""Write a whole study at once: the rows that another tool measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection, insert, select

from autotune.records import Config, Trial
from autotune.store import models
from autotune.store.codec import storable, trial_columns
from autotune.store.retimed import Place

Note = Mapping[str, Any]
Entry = tuple[Trial, Note | None]

_BATCH = 500  # rows of one statement: no database allows any number of parameters
_EMPTY = {column.name: None for column in models.Trial.__table__.columns if column.nullable}
_Item = TypeVar("_Item")


def insert_entries(connection: Connection, place: Place, entries: Iterable[Entry]) -> None:
    """Write trials and what is noted of them in one study and context that have none yet."""
    for batch in _batched(entries):
        trials = [storable(trial) for trial, _ in batch]
        ids = _config_ids(connection, [trial.config for trial in trials])
        rows = [
            {**place, "config_id": ids[trial.config.key], **_EMPTY, **trial_columns(trial)}
            for trial in trials
        ]
        connection.execute(insert(models.Trial), rows)
        notes = {trial.number: dict(note) for trial, note in batch if note is not None}
        _insert_notes(connection, place, notes)


def notes(connection: Connection, study_id: int) -> dict[int, Note]:
    """Return what is noted of the trials of one study, by the trial's row."""
    statement = (
        select(models.Note.id, models.Note.fields)
        .join(models.Trial, models.Trial.id == models.Note.id)
        .where(models.Trial.study_id == study_id)
    )
    return {row.id: row.fields for row in connection.execute(statement)}


def _insert_notes(connection: Connection, place: Place, notes: Mapping[int, Note]) -> None:
    if not notes:
        return
    statement = select(models.Trial.id, models.Trial.number).filter_by(**place)
    made = connection.execute(statement.where(models.Trial.number.in_(notes)))
    values = [{"id": row.id, "fields": notes[row.number]} for row in made]
    connection.execute(insert(models.Note), values)


def _config_ids(connection: Connection, configs: Iterable[Config]) -> dict[str, int]:
    wanted = {config.key: config for config in configs}
    known = _known(connection, wanted)
    new = [
        {"key": key, "fields": config.as_dict()}
        for key, config in wanted.items()
        if key not in known
    ]
    if new:
        connection.execute(insert(models.Config), new)
        known |= _known(connection, [each["key"] for each in new])
    return known


def _known(connection: Connection, keys: Iterable[Any]) -> dict[str, int]:
    statement = select(models.Config.key, models.Config.id)
    rows = connection.execute(statement.where(models.Config.key.in_(list(keys))))
    return {row.key: row.id for row in rows}


def _batched(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    remaining = iter(items)
    while batch := list(islice(remaining, _BATCH)):
        yield batch
