"""Find or make the rows that trials refer to. The caller holds the write lock."""

from __future__ import annotations

import dataclasses
from typing import Any

from sqlalchemy import Connection, CursorResult, insert, select

from autotune.records import Config
from autotune.store import models
from autotune.store.context import Context


def config_id(connection: Connection, config: Config) -> int:
    """Return the row of ``config``, made if it is new."""
    return _keyed(connection, models.Config, config.key, fields=config.as_dict())


def context_id(connection: Connection, context: Context) -> int:
    """Return the row of ``context``, made if it is new, its parts too."""
    device = dataclasses.asdict(context.device)
    identity = {
        "kernel_source_id": _kernel_source_id(connection, context),
        "problem_id": _keyed(
            connection,
            models.Problem,
            context.problem.key,
            fields=context.problem.as_dict(),
        ),
        "device_id": _keyed(connection, models.Device, context.device.key, **device),
        "toolchain_id": _keyed(
            connection,
            models.Toolchain,
            context.toolchain.key,
            **dataclasses.asdict(context.toolchain),
        ),
        "policy_id": _keyed(
            connection,
            models.Policy,
            context.policy.key,
            fields=dataclasses.asdict(context.policy),
        ),
        "replayed_from": context.replayed_from,
    }
    return _found_or_made(connection, models.Context, identity, {})


def find_context(connection: Connection, context: Context) -> int | None:
    """Return the row of ``context``, or None if nothing was ever recorded in it."""
    statement = (
        select(models.Context.id)
        .join(models.KernelSource, models.KernelSource.id == models.Context.kernel_source_id)
        .join(models.Problem, models.Problem.id == models.Context.problem_id)
        .join(models.Device, models.Device.id == models.Context.device_id)
        .join(models.Toolchain, models.Toolchain.id == models.Context.toolchain_id)
        .join(models.Policy, models.Policy.id == models.Context.policy_id)
        .where(
            models.KernelSource.name == context.kernel,
            models.KernelSource.reference == context.kernel_ref,
            models.KernelSource.digest == context.source_digest,
            models.Problem.key == context.problem.key,
            models.Device.key == context.device.key,
            models.Toolchain.key == context.toolchain.key,
            models.Policy.key == context.policy.key,
            models.Context.replayed_from == context.replayed_from,
        )
    )
    return connection.scalar(statement)


def made_id(inserted: CursorResult[Any]) -> int:
    """Return the id of the one row that was inserted."""
    key = inserted.inserted_primary_key
    assert key is not None
    return int(key[0])


def _kernel_source_id(connection: Connection, context: Context) -> int:
    identity = {
        "name": context.kernel,
        "reference": context.kernel_ref,
        "digest": context.source_digest,
    }
    return _found_or_made(connection, models.KernelSource, identity, {})


def _keyed(connection: Connection, model: Any, key: str, **columns: Any) -> int:
    return _found_or_made(connection, model, {"key": key}, columns)


def _found_or_made(
    connection: Connection, model: Any, identity: dict[str, Any], columns: dict[str, Any]
) -> int:
    found = connection.scalar(select(model.id).filter_by(**identity))
    if found is not None:
        return int(found)
    return made_id(connection.execute(insert(model), {**identity, **columns}))
