"""Datasets get a version number within their series, and a note."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

NUMBERED = """
UPDATE dataset SET version = (
    SELECT count(*) FROM dataset AS older
    WHERE older.series_id = dataset.series_id AND older.kept AND older.id <= dataset.id
) WHERE kept
"""


def upgrade() -> None:
    op.add_column("dataset", sa.Column("version", sa.Integer(), nullable=True))
    op.add_column("dataset", sa.Column("note", sa.String(), nullable=False, server_default=""))
    op.execute(NUMBERED)
