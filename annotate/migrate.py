"""Brings a data folder's database to this version's tables, after a copy of what was there."""

from __future__ import annotations

import logging
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, NullPool, create_engine, event, inspect, text

from annotate.db import Database
from annotate.errors import Conflict, StorageFailed
from annotate.files import sync_folder

log = logging.getLogger(__name__)

MIGRATIONS = Path(__file__).parent / "migrations"


def migrate(database: Database, data_dir: Path) -> Path | None:
    """Upgrade the database to the newest schema; give the backup made before, None where nothing was there or due.

    Raises Conflict for a database of a newer version, StorageFailed where the backup cannot be written.
    """
    engine = _engine(database.path)
    config = _config()
    with engine.connect() as connection:
        present = MigrationContext.configure(connection).get_current_revision()
        filled = bool(inspect(connection).get_table_names())
    scripts = ScriptDirectory.from_config(config)
    newest = scripts.get_current_head()
    if present == newest:
        return None
    if present is not None and present not in {script.revision for script in scripts.walk_revisions()}:
        raise Conflict(
            f"{database.path.name} is of a newer version of Annotate (schema {present}); update Annotate, "
            "or restore a backup from the folder backups"
        )
    backup = _back_up(database.path, data_dir / "backups", present or "none") if filled else None
    with engine.connect() as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        _check_references(connection)
    log.info("database migrated from schema %s to %s; backup: %s", present, newest, backup)
    return backup


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config


def _engine(path: Path) -> Engine:
    """Give an engine whose changes of tables are one transaction.

    Foreign keys are off: SQLite changes a table by copying it, and dropping the old one would delete what refers to it.
    """
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def _configure(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA foreign_keys=OFF")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _back_up(path: Path, folder: Path, revision: str) -> Path:
    """Copy the database, with what its write-ahead log holds, to a file named by time and schema."""
    backup = folder / f"annotate-{time.time_ns() // 1_000_000}-schema-{revision}.db"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("VACUUM INTO ?", (str(backup),))
        sync_folder(folder)
    except (OSError, sqlite3.Error) as error:
        if folder.is_dir():
            backup.unlink(missing_ok=True)
        raise StorageFailed(f"no backup could be made in {folder.name}, so nothing was migrated: {error}") from error
    return backup


def _check_references(connection: Connection) -> None:
    broken = connection.execute(text("PRAGMA foreign_key_check")).all()
    if broken:
        raise Conflict(f"the migration would leave {len(broken)} rows that refer to nothing, first in {broken[0][0]}")
