"""Finals, in which the best configs meet again, and readings of each search's yardstick."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

PARTS = ("study", "context", "config")


def upgrade() -> None:
    """Create both tables."""
    _create(
        "finalist",
        sa.Column("final", sa.Integer(), nullable=False),
        sa.Column("rounds_ns", sa.JSON(), nullable=False),
        sa.Column("finished_at", sa.Text(), nullable=False),
        sa.UniqueConstraint(
            *("study_id", "context_id", "final", "config_id"),
            name="uq_finalist_study_id_context_id_final_config_id",
        ),
    )
    _create(
        "reading",
        sa.Column("after", sa.Integer(), nullable=False),
        sa.Column("finished_at", sa.Text(), nullable=False),
        sa.Column("median_ns", sa.Double(), nullable=False),
        sa.Column("spread", sa.Double(), nullable=False),
        sa.Column("samples_ns", sa.JSON(), nullable=False),
        sa.Column("launches_per_sample", sa.Integer(), nullable=False),
        sa.Column("sm_clock_mhz", sa.Integer(), nullable=True),
        sa.Column("power_w", sa.Double(), nullable=True),
        sa.Column("temperature_c", sa.Integer(), nullable=True),
    )


def downgrade() -> None:
    """Drop both tables, and with them finals and readings. Trials stay."""
    for name in ("reading", "finalist"):
        op.drop_index(f"ix_{name}_context_id", name)
        op.drop_table(name)


def _create(name: str, *columns: sa.Column | sa.Constraint) -> None:
    op.create_table(
        name,
        sa.Column("id", sa.Integer(), nullable=False),
        *(sa.Column(f"{part}_id", sa.Integer(), nullable=False) for part in PARTS),
        *columns,
        sa.PrimaryKeyConstraint("id", name=f"pk_{name}"),
        *(
            sa.ForeignKeyConstraint(
                [f"{part}_id"], [f"{part}.id"], name=f"fk_{name}_{part}_id_{part}"
            )
            for part in PARTS
        ),
    )
    op.create_index(f"ix_{name}_context_id", name, ["context_id"])
