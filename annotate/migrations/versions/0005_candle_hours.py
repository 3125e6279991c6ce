"""Old per-candle events fold into one row an hour; events are found by their type."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "candle_hour",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("hour", sa.Integer(), nullable=False),
        sa.Column("last_seq", sa.Integer(), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_candle_hour_run_id_run", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "hour", name="pk_candle_hour"),
    )
    op.create_index("ix_event_run_id_type_seq", "event", ["run_id", "type", "seq"])
