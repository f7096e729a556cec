"""Notes: what another tool's file says of a trial beyond what a trial holds."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "note",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_note"),
        sa.ForeignKeyConstraint(["id"], ["trial.id"], name="fk_note_id_trial"),
    )


def downgrade() -> None:
    """Drop the table, and with it all notes. Trials stay."""
    op.drop_table("note")
