"""Database migrations, run by alembic at start."""
