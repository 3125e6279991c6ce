"""Marks get a status, who changed them and a review; replay, blind passes, reviewed ranges and views get a place."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("annotation", sa.Column("status", sa.String(), nullable=False, server_default="done"))
    op.add_column("annotation", sa.Column("updated_by", sa.String(), nullable=False, server_default=""))
    op.add_column("annotation", sa.Column("entry_decided_at", sa.Integer(), nullable=True))
    op.add_column("annotation", sa.Column("review", sa.JSON(), nullable=True))
    op.execute("UPDATE annotation SET updated_by = author")
    op.execute("UPDATE annotation SET entry_decided_at = decided_at WHERE kind = 'trade'")
    op.add_column("label_set", sa.Column("exclusive", sa.JSON(), nullable=False, server_default="[]"))
    op.add_column("undo_step", sa.Column("ranges", sa.JSON(), nullable=True))
    _person_table(
        "reviewed_range",
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        key="id",
    )
    op.create_index(op.f("ix_reviewed_range_series_id"), "reviewed_range", ["series_id"])
    _person_table(
        "replay_session",
        sa.Column("cursor", sa.Integer(), nullable=False),
        sa.Column("furthest", sa.Integer(), nullable=False),
        sa.Column("started", sa.Integer(), nullable=False),
        sa.Column("random", sa.Boolean(), nullable=False),
        sa.Column("hide_price", sa.Boolean(), nullable=False),
    )
    _person_table(
        "blind_pass",
        sa.Column("hides", sa.String(), nullable=False),
        sa.Column("started", sa.Integer(), nullable=False),
        sa.Column("ended", sa.Integer(), nullable=True),
        key="id",
    )
    op.create_index(op.f("ix_blind_pass_series_id"), "blind_pass", ["series_id"])
    _person_table(
        "view_state",
        sa.Column("place", sa.String(), primary_key=True),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("updated", sa.Integer(), nullable=False),
    )


def _person_table(name: str, *columns: sa.Column[object], key: str | None = None) -> None:
    """Make a table of what one author has on one series; these two are its key unless it has one of its own."""
    own = [sa.Column(key, sa.Integer(), primary_key=True)] if key else []
    op.create_table(
        name,
        *own,
        sa.Column("series_id", sa.Integer(), nullable=False, primary_key=key is None),
        sa.Column("author", sa.String(), nullable=False, primary_key=key is None),
        *columns,
        sa.ForeignKeyConstraint(
            ["series_id"], ["series.id"], name=op.f(f"fk_{name}_series_id_series"), ondelete="CASCADE"
        ),
    )
