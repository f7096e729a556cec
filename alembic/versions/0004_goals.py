"""What trials tell of goals besides time: dynamic shared memory, energy and error."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

COLUMNS = {
    "dynamic_shared_bytes": sa.Integer(),
    "energy_mj": sa.Double(),
    "error": sa.Double(),
}

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
{further}    trial.warnings AS warnings,
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
    """Add the columns, which are empty in what is there, and show them in the views."""
    _drop_views()
    for name, kind in COLUMNS.items():
        op.add_column("trial", sa.Column(name, kind, nullable=True))
    _create_views(COLUMNS)


def downgrade() -> None:
    """Drop the columns. All else stays."""
    _drop_views()
    for name in COLUMNS:
        op.drop_column("trial", name)
    _create_views(())


def _drop_views() -> None:
    op.execute("DROP VIEW best_config")
    op.execute("DROP VIEW trial_flat")


def _create_views(columns: Iterable[str]) -> None:
    further = "".join(f"    trial.{name} AS {name},\n" for name in columns)
    op.execute(TRIAL_FLAT.format(further=further))
    op.execute(BEST_CONFIG)
