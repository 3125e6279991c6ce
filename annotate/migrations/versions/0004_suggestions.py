"""Lessons, suggestions and their fate; marks that were doubted and looked at; fates in undo steps."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("undo_step", sa.Column("fates", sa.JSON(), nullable=True))
    op.create_table(
        "lesson",
        sa.Column("id", sa.Integer(), primary_key=True),
        _series("lesson"),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("cursor", sa.Integer(), nullable=True),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("learnt", sa.JSON(), nullable=False),
        sa.Column("created", sa.Integer(), nullable=False),
    )
    op.create_index(op.f("ix_lesson_series_id"), "lesson", ["series_id"])
    op.create_table(
        "suggestion",
        sa.Column("id", sa.String(36), primary_key=True),
        _series("suggestion"),
        sa.Column("lesson_id", sa.Integer(), _key("suggestion", "lesson_id", "lesson", "CASCADE"), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("label_id", sa.Integer(), _key("suggestion", "label_id", "label"), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("geometry", sa.JSON(), nullable=False),
        sa.Column("probability", sa.Double(), nullable=True),
        sa.Column("fate", sa.String(), nullable=False),
        sa.Column("decided_by", sa.String(), nullable=True),
        sa.Column("decided", sa.Integer(), nullable=True),
        sa.Column("created", sa.Integer(), nullable=False),
    )
    op.create_index(op.f("ix_suggestion_lesson_id"), "suggestion", ["lesson_id"])
    op.create_index(op.f("ix_suggestion_series_id_fate_start"), "suggestion", ["series_id", "fate", "start"])
    mark = _key("checked_mark", "annotation_id", "annotation", "CASCADE")
    op.create_table(
        "checked_mark",
        sa.Column("annotation_id", sa.String(36), mark, primary_key=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("confirmed", sa.Boolean(), nullable=False),
    )


def _series(table: str) -> sa.Column[int]:
    return sa.Column("series_id", sa.Integer(), _key(table, "series_id", "series", "CASCADE"), nullable=False)


def _key(table: str, column: str, other: str, on_delete: str | None = None) -> sa.ForeignKey:
    return sa.ForeignKey(f"{other}.id", name=op.f(f"fk_{table}_{column}_{other}"), ondelete=on_delete)
