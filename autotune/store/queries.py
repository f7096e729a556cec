"""The statements that read. Each takes a connection and returns records."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Subquery,
    case,
    distinct,
    func,
    or_,
    select,
    tuple_,
)

from autotune.records import Config, Status, Trial
from autotune.store import models
from autotune.store.chosen import UNTRUSTED
from autotune.store.codec import context_of, moment, trial_of
from autotune.store.rows import EVERYTHING, Filter, StoredContext, StudySummary, TrialRow

_TRIAL = models.Trial.__table__
_IS_OK = models.Trial.status == Status.OK.value
_POINT = (models.Trial.context_id, models.Trial.config_id)
_UNTRUSTED = [status.value for status in UNTRUSTED]
_NO_FAILURE = (Status.OK.value, Status.STOPPED_EARLY.value)


def contexts(connection: Connection, wanted: Filter) -> list[StoredContext]:
    """Return the contexts that ``wanted`` matches, oldest first."""
    statement = _select_contexts().order_by(models.Context.id)
    if wanted.kernel is not None:
        statement = statement.where(models.KernelSource.name == wanted.kernel)
    if wanted.device is not None:
        statement = statement.where(_is_device(wanted.device))
    if wanted.studies:
        used = select(models.Trial.context_id).where(_in_studies(wanted.studies))
        statement = statement.where(models.Context.id.in_(used))
    rows = connection.execute(statement).mappings()
    found = (StoredContext(id=row["id"], context=context_of(dict(row))) for row in rows)
    return [each for each in found if _is_problem(each, wanted)]


def study_trials(connection: Connection, study_id: int, context_id: int, key: str) -> list[Trial]:
    """Return the trials of one study in one context, whose problem has ``key``, by number."""
    statement = (
        _select_trials()
        .where(models.Trial.study_id == study_id, models.Trial.context_id == context_id)
        .order_by(models.Trial.number)
    )
    return [_trial(row, key) for row in _fetched(connection, statement)]


def answers(
    connection: Connection, stored: StoredContext, before: datetime | None = None
) -> dict[str, Trial]:
    """Return the newest trial of each config in one context, by config key."""
    statement = _select_trials().where(models.Trial.context_id == stored.id)
    if before is not None:
        statement = statement.where(models.Trial.finished_at < moment(before))
    key = stored.context.problem.key
    found = _fetched(connection, statement.order_by(models.Trial.id))
    return {row.config_key: _trial(row, key) for row in found}


def contenders(
    connection: Connection, wanted: Filter, *, unverified: bool, apart: float | None
) -> list[TrialRow]:
    """Return the ``ok`` trials that may be the best of a context that ``wanted`` matches.

    Args:
        connection: Where to ask.
        wanted: Which contexts and studies.
        unverified: True for those, too, whose output was never checked.
        apart: Leave out what is slower than another by more than this share, and so can win in no
            way. None: leave out none.
    """
    age = func.row_number().over(partition_by=_POINT, order_by=models.Trial.id.desc())
    newest = select(models.Trial.id, age.label("age"))
    wrong = select(*_POINT).where(models.Trial.status.in_(_UNTRUSTED))
    if wanted.studies:
        newest = newest.where(_in_studies(wanted.studies))
        wrong = wrong.where(_in_studies(wanted.studies))
    newest_rows = newest.subquery()
    columns = (models.Trial.id, *_POINT, models.Trial.median_ns, models.Trial.finished_at)
    right = select(*columns).where(
        models.Trial.id.in_(select(newest_rows.c.id).where(newest_rows.c.age == 1)),
        _IS_OK,
        tuple_(*_POINT).not_in(wrong),
    )
    if not unverified:
        right = right.where(models.Trial.verified)
    rows = right.subquery()
    chosen = select(rows.c.id) if apart is None else _may_win(rows, wanted.studies, apart)
    statement = _select_trials().where(models.Trial.id.in_(chosen))
    return _rows(connection, statement.order_by(models.Trial.id), wanted)


def _may_win(rows: Subquery, studies: Sequence[str], apart: float) -> Select[Any]:
    """Return the ids of rows that are in a final, or near the fastest of those that are in none.

    What came after the newest final is compared with its like: it may win though an older row,
    which did not meet the winner, was faster.
    """
    held = select(models.Finalist.context_id, func.max(models.Finalist.finished_at).label("at"))
    if studies:
        held = held.where(_in_studies(studies, models.Finalist))
    last = held.group_by(models.Finalist.context_id).subquery()
    finalists = select(models.Finalist.context_id, models.Finalist.config_id)
    met = tuple_(rows.c.context_id, rows.c.config_id).in_(finalists)
    alike = (rows.c.context_id, met, rows.c.finished_at > last.c.at)
    least = func.min(rows.c.median_ns).over(partition_by=alike)
    beside = (
        select(rows.c.id, rows.c.median_ns, met.label("met"), least.label("least"))
        .outerjoin(last, last.c.context_id == rows.c.context_id)
        .subquery()
    )
    near = beside.c.median_ns <= (1 + apart) * beside.c.least
    return select(beside.c.id).where(or_(beside.c.met, near))


def rows(
    connection: Connection, wanted: Filter, *, failed: bool, limit: int | None
) -> list[TrialRow]:
    """Return trials that ``wanted`` matches, oldest first; at most the newest ``limit``."""
    statement = _select_trials().order_by(models.Trial.id.desc())
    if failed:
        statement = statement.where(models.Trial.status.not_in(_NO_FAILURE))
    if wanted.studies:
        statement = statement.where(_in_studies(wanted.studies))
    return _rows(connection, statement.limit(limit), wanted)[::-1]


def studies(connection: Connection) -> list[StudySummary]:
    """Return every study, oldest first."""
    statement = (
        select(
            models.Study.__table__,
            func.count(distinct(models.Trial.context_id)).label("contexts"),
            func.count(models.Trial.id).label("trials"),
            func.coalesce(func.sum(case((_IS_OK, 1), else_=0)), 0).label("ok"),
            func.max(models.Trial.finished_at).label("last_at"),
        )
        .outerjoin(models.Trial, models.Trial.study_id == models.Study.id)
        .group_by(models.Study.id)
        .order_by(models.Study.id)
    )
    return [_summary(row) for row in connection.execute(statement)]


def _summary(row: Any) -> StudySummary:
    return StudySummary(
        id=row.id,
        name=row.name,
        sampler=row.sampler,
        seed=row.seed,
        spec=row.spec,
        created_at=datetime.fromisoformat(row.created_at),
        contexts=row.contexts,
        trials=row.trials,
        ok=row.ok,
        last_at=None if row.last_at is None else datetime.fromisoformat(row.last_at),
    )


def _select_contexts() -> Select[Any]:
    return (
        select(
            models.Context.id,
            models.Context.replayed_from,
            models.KernelSource.name.label("kernel"),
            models.KernelSource.reference.label("kernel_ref"),
            models.KernelSource.digest.label("source_digest"),
            models.Problem.fields.label("problem"),
            models.Device.kind.label("device_kind"),
            models.Device.name.label("device"),
            models.Device.target,
            models.Device.memory_bytes,
            models.Device.driver,
            models.Device.uuid,
            models.Toolchain.compiler,
            models.Toolchain.version.label("compiler_version"),
            models.Policy.fields.label("policy"),
        )
        .join(models.KernelSource, models.KernelSource.id == models.Context.kernel_source_id)
        .join(models.Problem, models.Problem.id == models.Context.problem_id)
        .join(models.Device, models.Device.id == models.Context.device_id)
        .join(models.Toolchain, models.Toolchain.id == models.Context.toolchain_id)
        .join(models.Policy, models.Policy.id == models.Context.policy_id)
    )


def _select_trials() -> Select[Any]:
    return (
        select(
            _TRIAL,
            models.Config.key.label("config_key"),
            models.Config.fields.label("config"),
            models.Study.name.label("study"),
        )
        .join(models.Config, models.Config.id == models.Trial.config_id)
        .join(models.Study, models.Study.id == models.Trial.study_id)
    )


def _rows(connection: Connection, statement: Select[Any], wanted: Filter) -> list[TrialRow]:
    known = {each.id: each.context for each in contexts(connection, wanted)}
    keys = {context_id: context.problem.key for context_id, context in known.items()}
    if wanted != EVERYTHING:
        statement = statement.where(models.Trial.context_id.in_(known))
    return [
        TrialRow(
            study=row.study,
            context_id=row.context_id,
            context=known[row.context_id],
            trial=_trial(row, keys[row.context_id]),
        )
        for row in _fetched(connection, statement)
    ]


def _fetched(connection: Connection, statement: Select[Any]) -> Iterator[Any]:
    """Yield rows that know their columns by name; SQLAlchemy's own are ten times slower at that."""
    result = connection.execute(statement)
    named = namedtuple("Row", result.keys())  # type: ignore[misc]  # noqa: PYI024 - names from SQL
    return map(named._make, result.all())


def _trial(row: Any, key: str) -> Trial:
    return trial_of(row, config=Config(row.config), problem_key=key)


def _in_studies(
    names: Sequence[str], of: type[models.Trial | models.Finalist] = models.Trial
) -> ColumnElement[bool]:
    wanted = select(models.Study.id).where(models.Study.name.in_(names))
    return of.study_id.in_(wanted)


def _is_device(wanted: str) -> ColumnElement[bool]:
    return or_(
        func.lower(models.Device.name).contains(wanted.lower(), autoescape=True),
        models.Device.kind == wanted,
        models.Device.key.startswith(wanted, autoescape=True),
    )


def _is_problem(stored: StoredContext, wanted: Filter) -> bool:
    fields = stored.context.problem.as_dict()
    return all(
        name in fields and str(fields[name]) == str(value) for name, value in wanted.problem.items()
    )
