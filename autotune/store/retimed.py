"""The statements about what is measured again: finals, and readings of a yardstick."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, insert, select

from autotune.records import Config, Finalist, Measurement, Reading
from autotune.store import models
from autotune.store.codec import SAMPLE_DIGITS, measurement_columns, measurement_of, moment
from autotune.store.parts import config_id
from autotune.store.rows import Final

Place = dict[str, int]  # study_id and context_id


def insert_final(
    connection: Connection, place: Place, finalists: Sequence[Finalist], when: datetime
) -> None:
    """Write a final, numbered behind those of its study and context."""
    last = select(func.max(models.Finalist.final)).filter_by(**place)
    number = connection.scalar(last)
    values = [
        {
            **place,
            "config_id": config_id(connection, each.config),
            "final": 0 if number is None else number + 1,
            "rounds_ns": [round(ns, SAMPLE_DIGITS) for ns in each.rounds_ns],
            "finished_at": moment(when),
        }
        for each in finalists
    ]
    connection.execute(insert(models.Finalist), values)


def insert_reading(connection: Connection, place: Place, reading: Reading) -> None:
    """Write a reading."""
    values = {
        **place,
        "config_id": config_id(connection, reading.config),
        "after": reading.after,
        "finished_at": moment(reading.finished_at),
        **measurement_columns(reading.measurement),
    }
    connection.execute(insert(models.Reading), values)


def finals(connection: Connection, studies: Sequence[str]) -> dict[int, Final]:
    """Return the newest final that these studies, or any, held in each context, by its id."""
    statement = _select_finalists()
    if studies:
        wanted = select(models.Study.id).where(models.Study.name.in_(studies))
        statement = statement.where(models.Finalist.study_id.in_(wanted))
    by_context: dict[int, list[Any]] = {}
    for row in connection.execute(statement):
        by_context.setdefault(row.context_id, []).append(row)
    return {context_id: _newest(rows) for context_id, rows in by_context.items()}


def final(connection: Connection, place: Place) -> Final | None:
    """Return the newest final of one study in one context, or None."""
    rows = connection.execute(_select_finalists().filter_by(**place)).all()
    return _newest(rows) if rows else None


def readings(connection: Connection, place: Place) -> list[Reading]:
    """Return the readings of one study in one context, oldest first."""
    statement = (
        select(models.Reading.__table__, models.Config.fields.label("config"))
        .join(models.Config, models.Config.id == models.Reading.config_id)
        .filter(*(getattr(models.Reading, name) == value for name, value in place.items()))
        .order_by(models.Reading.id)
    )
    return [
        Reading(
            after=row.after,
            config=Config(row.config),
            measurement=_measured(row),
            finished_at=datetime.fromisoformat(row.finished_at),
        )
        for row in connection.execute(statement)
    ]


def _select_finalists() -> Select[Any]:
    return (
        select(models.Finalist.__table__, models.Config.fields.label("config"))
        .join(models.Config, models.Config.id == models.Finalist.config_id)
        .order_by(models.Finalist.id)
    )


def _newest(rows: Sequence[Any]) -> Final:
    """Return the final that the last of ``rows`` is of."""
    last = rows[-1]
    of_last = [row for row in rows if (row.study_id, row.final) == (last.study_id, last.final)]
    finalists = tuple(
        Finalist(config=Config(row.config), rounds_ns=tuple(map(float, row.rounds_ns)))
        for row in of_last
    )
    return Final(finalists=finalists, finished_at=datetime.fromisoformat(last.finished_at))


def _measured(row: Any) -> Measurement:
    found = measurement_of(row)
    assert found is not None, "the column of samples is not nullable"
    return found
