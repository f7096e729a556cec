"""First tables: what was tried, on what, how, and what became of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

STATUSES = (
    "ok",
    "constraint",
    "compile_error",
    "compile_timeout",
    "resources",
    "incorrect",
    "nondeterministic",
    "runtime_error",
    "timeout",
    "crashed",
    "oom",
    "bad_measurement",
    "stopped_early",
)
TABLES = (  # in the order of their foreign keys
    "device",
    "toolchain",
    "policy",
    "kernel_source",
    "problem",
    "config",
    "context",
    "study",
    "trial",
)

TRIAL_FLAT = """
CREATE VIEW trial_flat AS
SELECT
    trial.id AS trial_id,
    study.name AS study,
    kernel_source.name AS kernel,
    problem.fields AS problem,
    device.name AS device,
    trial.number AS number,
    config.fields AS config,
    trial.status AS status,
    trial.message AS message,
    trial.verified AS verified,
    trial.median_ns AS median_ns,
    trial.spread AS spread,
    trial.samples_ns AS samples_ns,
    trial.launches_per_sample AS launches_per_sample,
    trial.sm_clock_mhz AS sm_clock_mhz,
    trial.power_w AS power_w,
    trial.temperature_c AS temperature_c,
    trial.registers AS registers,
    trial.spill_bytes AS spill_bytes,
    trial.static_shared_bytes AS static_shared_bytes,
    trial.warnings AS warnings,
    trial.compile_ns AS compile_ns,
    trial.device_ns AS device_ns,
    trial.finished_at AS finished_at,
    context.replayed_from AS replayed_from,
    toolchain.compiler AS compiler,
    toolchain.version AS compiler_version,
    device.driver AS driver,
    policy.fields AS policy,
    kernel_source.digest AS source_digest,
    trial.binary_key AS binary_key,
    problem.key AS problem_key,
    config.key AS config_key,
    device.key AS device_key,
    policy.key AS policy_key,
    trial.context_id AS context_id
FROM trial
JOIN study ON study.id = trial.study_id
JOIN context ON context.id = trial.context_id
JOIN config ON config.id = trial.config_id
JOIN kernel_source ON kernel_source.id = context.kernel_source_id
JOIN problem ON problem.id = context.problem_id
JOIN device ON device.id = context.device_id
JOIN toolchain ON toolchain.id = context.toolchain_id
JOIN policy ON policy.id = context.policy_id
"""

BEST_CONFIG = """
CREATE VIEW best_config AS
SELECT trial_flat.*
FROM trial_flat
JOIN (
    SELECT
        id,
        ROW_NUMBER() OVER (PARTITION BY context_id ORDER BY median_ns, id) AS place
    FROM trial
    WHERE status = 'ok' AND verified
) AS ranked ON ranked.id = trial_flat.trial_id
WHERE ranked.place = 1
"""


def upgrade() -> None:
    """Create every table and view."""
    _create_parts()
    _create_context()
    _create_study()
    _create_trial()
    op.execute(TRIAL_FLAT)
    op.execute(BEST_CONFIG)


def downgrade() -> None:
    """Drop every table and view, and with them all results."""
    op.execute("DROP VIEW best_config")
    op.execute("DROP VIEW trial_flat")
    for table in reversed(TABLES):
        op.drop_table(table)


def _create_keyed(name: str, *columns: sa.Column) -> None:
    op.create_table(
        name,
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(32), nullable=False),
        *columns,
        sa.PrimaryKeyConstraint("id", name=f"pk_{name}"),
        sa.UniqueConstraint("key", name=f"uq_{name}_key"),
    )


def _create_parts() -> None:
    _create_keyed(
        "device",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("driver", sa.Text(), nullable=False),
        sa.Column("memory_bytes", sa.BigInteger(), nullable=False),
        sa.Column("target", sa.JSON(), nullable=False),
        sa.Column("uuid", sa.Text(), nullable=False),
    )
    _create_keyed(
        "toolchain",
        sa.Column("compiler", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
    )
    for name in ("policy", "problem", "config"):
        _create_keyed(name, sa.Column("fields", sa.JSON(), nullable=False))
    op.create_table(
        "kernel_source",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("reference", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_kernel_source"),
        sa.UniqueConstraint(
            "name", "reference", "digest", name="uq_kernel_source_name_reference_digest"
        ),
    )


def _create_context() -> None:
    parts = ("kernel_source", "problem", "device", "toolchain", "policy")
    identity = [*(f"{part}_id" for part in parts), "replayed_from"]
    op.create_table(
        "context",
        sa.Column("id", sa.Integer(), nullable=False),
        *(sa.Column(f"{part}_id", sa.Integer(), nullable=False) for part in parts),
        sa.Column("replayed_from", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_context"),
        *(_reference("context", part) for part in parts),
        sa.UniqueConstraint(*identity, name="uq_context_identity"),
    )


def _create_study() -> None:
    op.create_table(
        "study",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("sampler", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_study"),
        sa.UniqueConstraint("name", name="uq_study_name"),
    )


def _create_trial() -> None:
    op.create_table(
        "trial",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("context_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("config_id", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("verified", sa.Boolean(), nullable=False),
        sa.Column("finished_at", sa.Text(), nullable=False),
        *_measurement_columns(),
        *_binary_columns(),
        *_trial_constraints(),
    )
    op.create_index("ix_trial_context_id", "trial", ["context_id"])


def _measurement_columns() -> list[sa.Column]:
    return [
        sa.Column("median_ns", sa.Double(), nullable=True),
        sa.Column("spread", sa.Double(), nullable=True),
        sa.Column("samples_ns", sa.JSON(), nullable=True),
        sa.Column("launches_per_sample", sa.Integer(), nullable=True),
        sa.Column("sm_clock_mhz", sa.Integer(), nullable=True),
        sa.Column("power_w", sa.Double(), nullable=True),
        sa.Column("temperature_c", sa.Integer(), nullable=True),
    ]


def _binary_columns() -> list[sa.Column]:
    return [
        sa.Column("registers", sa.Integer(), nullable=True),
        sa.Column("spill_bytes", sa.Integer(), nullable=True),
        sa.Column("static_shared_bytes", sa.Integer(), nullable=True),
        sa.Column("warnings", sa.JSON(), nullable=True),
        sa.Column("binary_key", sa.Text(), nullable=False),
        sa.Column("compile_ns", sa.BigInteger(), nullable=False),
        sa.Column("device_ns", sa.BigInteger(), nullable=False),
    ]


def _trial_constraints() -> list[sa.Constraint]:
    listed = ", ".join(f"'{status}'" for status in STATUSES)
    checks = {
        "status": f"status IN ({listed})",
        "ok_has_median": "status <> 'ok' OR median_ns IS NOT NULL",
        "median_ns": "median_ns > 0",
        "number": "number >= 0",
        "compile_ns": "compile_ns >= 0",
        "device_ns": "device_ns >= 0",
    }
    return [
        sa.PrimaryKeyConstraint("id", name="pk_trial"),
        *(_reference("trial", part) for part in ("study", "context", "config")),
        *(
            sa.UniqueConstraint(
                "study_id", "context_id", column, name=f"uq_trial_study_id_context_id_{column}"
            )
            for column in ("number", "config_id")
        ),
        *(sa.CheckConstraint(rule, name=op.f(f"ck_trial_{name}")) for name, rule in checks.items()),
    ]


def _reference(table: str, part: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [f"{part}_id"], [f"{part}.id"], name=f"fk_{table}_{part}_id_{part}"
    )
