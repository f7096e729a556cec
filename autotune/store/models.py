"""The tables, as typed models. Alembic builds them; these describe the newest revision.

Durations are integer nanoseconds, moments are ISO 8601 text in UTC, structures are JSON.
``median_ns`` and ``spread`` repeat what ``samples_ns`` says, for people who write SQL: they are
computed from the samples when the row is written and are never read back by this package.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    ForeignKey,
    MetaData,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from autotune.records import Status

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
NullableJson = JSON(none_as_null=True)
KEY_LENGTH = 32


class Base(DeclarativeBase):
    """Base of every table of the result database."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map: ClassVar = {dict[str, Any]: JSON, str: Text}


class Device(Base):
    """What measured. Cards that share ``key`` share results; ``uuid`` is the first one seen."""

    __tablename__ = "device"

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(KEY_LENGTH), unique=True)
    kind: Mapped[str]
    name: Mapped[str]
    driver: Mapped[str]
    memory_bytes: Mapped[int] = mapped_column(BigInteger)
    target: Mapped[dict[str, Any]]
    uuid: Mapped[str]


class Toolchain(Base):
    """What compiled."""

    __tablename__ = "toolchain"

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(KEY_LENGTH), unique=True)
    compiler: Mapped[str]
    version: Mapped[str]


class Policy(Base):
    """How it was measured."""

    __tablename__ = "policy"

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(KEY_LENGTH), unique=True)
    fields: Mapped[dict[str, Any]]


class KernelSource(Base):
    """A kernel as it was at one moment: name, how it is loaded, digest of all its source."""

    __tablename__ = "kernel_source"
    __table_args__ = (UniqueConstraint("name", "reference", "digest"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    reference: Mapped[str]
    digest: Mapped[str]


class Problem(Base):
    """What is computed."""

    __tablename__ = "problem"

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(KEY_LENGTH), unique=True)
    fields: Mapped[dict[str, Any]]


class Config(Base):
    """A point of a space. Problems share it."""

    __tablename__ = "config"

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(KEY_LENGTH), unique=True)
    fields: Mapped[dict[str, Any]]


class Context(Base):
    """All that identifies a result besides its config."""

    __tablename__ = "context"
    __table_args__ = (
        UniqueConstraint(
            "kernel_source_id",
            "problem_id",
            "device_id",
            "toolchain_id",
            "policy_id",
            "replayed_from",
            name="uq_context_identity",  # the convention's name is longer than PostgreSQL allows
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    kernel_source_id: Mapped[int] = mapped_column(ForeignKey("kernel_source.id"))
    problem_id: Mapped[int] = mapped_column(ForeignKey("problem.id"))
    device_id: Mapped[int] = mapped_column(ForeignKey("device.id"))
    toolchain_id: Mapped[int] = mapped_column(ForeignKey("toolchain.id"))
    policy_id: Mapped[int] = mapped_column(ForeignKey("policy.id"))
    replayed_from: Mapped[str]


class Study(Base):
    """A named search, with the specification that it was started with."""

    __tablename__ = "study"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    spec: Mapped[dict[str, Any]]
    sampler: Mapped[str]
    seed: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[str]


class Finalist(Base):
    """A config of a final, which ``final`` numbers within a study and a context."""

    __tablename__ = "finalist"
    __table_args__ = (UniqueConstraint("study_id", "context_id", "final", "config_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    context_id: Mapped[int] = mapped_column(ForeignKey("context.id"), index=True)
    config_id: Mapped[int] = mapped_column(ForeignKey("config.id"))
    final: Mapped[int]
    rounds_ns: Mapped[list[float]] = mapped_column(JSON)
    finished_at: Mapped[str]


class Reading(Base):
    """The yardstick of a search, measured again after so many trials."""

    __tablename__ = "reading"

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    context_id: Mapped[int] = mapped_column(ForeignKey("context.id"), index=True)
    config_id: Mapped[int] = mapped_column(ForeignKey("config.id"))
    after: Mapped[int]
    finished_at: Mapped[str]
    median_ns: Mapped[float]
    spread: Mapped[float]
    samples_ns: Mapped[list[float]] = mapped_column(JSON)
    launches_per_sample: Mapped[int]
    sm_clock_mhz: Mapped[int | None]
    power_w: Mapped[float | None]
    temperature_c: Mapped[int | None]


class Trial(Base):
    """One attempt, whatever became of it."""

    __tablename__ = "trial"
    __table_args__ = (
        UniqueConstraint("study_id", "context_id", "number"),
        UniqueConstraint("study_id", "context_id", "config_id"),
        CheckConstraint(f"status IN ({', '.join(repr(s.value) for s in Status)})", name="status"),
        CheckConstraint("status <> 'ok' OR median_ns IS NOT NULL", name="ok_has_median"),
        CheckConstraint("median_ns > 0", name="median_ns"),
        CheckConstraint("number >= 0", name="number"),
        CheckConstraint("compile_ns >= 0", name="compile_ns"),
        CheckConstraint("device_ns >= 0", name="device_ns"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    context_id: Mapped[int] = mapped_column(ForeignKey("context.id"), index=True)
    number: Mapped[int]
    config_id: Mapped[int] = mapped_column(ForeignKey("config.id"))
    status: Mapped[str]
    message: Mapped[str]
    verified: Mapped[bool]
    finished_at: Mapped[str]
    median_ns: Mapped[float | None]
    spread: Mapped[float | None]
    samples_ns: Mapped[list[float] | None] = mapped_column(NullableJson)
    launches_per_sample: Mapped[int | None]
    sm_clock_mhz: Mapped[int | None]
    power_w: Mapped[float | None]
    temperature_c: Mapped[int | None]
    registers: Mapped[int | None]
    spill_bytes: Mapped[int | None]
    static_shared_bytes: Mapped[int | None]
    dynamic_shared_bytes: Mapped[int | None]
    energy_mj: Mapped[float | None]
    error: Mapped[float | None]
    warnings: Mapped[list[str] | None] = mapped_column(NullableJson)
    binary_key: Mapped[str]
    compile_ns: Mapped[int] = mapped_column(BigInteger)
    device_ns: Mapped[int] = mapped_column(BigInteger)


class Note(Base):
    """What another tool's file says of a trial beyond what a trial holds; ``id`` is the trial's."""

    __tablename__ = "note"

    id: Mapped[int] = mapped_column(ForeignKey("trial.id"), primary_key=True, autoincrement=False)
    fields: Mapped[dict[str, Any]]
