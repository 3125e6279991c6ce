"""Migrations: a new folder, an old one, a newer one; always a backup, and always the tables of the models."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Column, Connection, Integer, MetaData, Table

from annotate import migrate as migrations
from annotate.candle_store import CandleStore
from annotate.db import Database
from annotate.errors import Conflict, StorageFailed
from annotate.migrate import MIGRATIONS, migrate
from annotate.models import Series
from annotate.store.series import list_series
from tests.annotate.candles.builders import rows_of

# One dump for each schema that was ever released, with rows of a person's work; never edited, only added to.
SCHEMAS = sorted((Path(__file__).parent / "schemas").glob("*.sql"))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "annotate.db")
    yield made
    made.close()


def differences(database: Database, metadata: MetaData) -> list[object]:
    with database.engine.connect() as connection:
        return list(compare_metadata(MigrationContext.configure(connection), metadata))


def test_a_new_folder_gets_the_tables_of_the_models_without_a_backup(database: Database, tmp_path: Path) -> None:
    assert migrate(database, tmp_path) is None
    assert differences(database, Series.metadata) == []
    assert not (tmp_path / "backups").exists()


def test_the_comparison_sees_a_table_that_no_migration_makes(database: Database, tmp_path: Path) -> None:
    migrate(database, tmp_path)
    changed = MetaData()
    for table in Series.metadata.sorted_tables:
        table.to_metadata(changed)
    Table("planted", changed, Column("id", Integer, primary_key=True))
    assert len(differences(database, changed)) == 1


def test_migrating_twice_changes_nothing(database: Database, tmp_path: Path) -> None:
    migrate(database, tmp_path)
    assert migrate(database, tmp_path) is None


def test_every_schema_but_none_has_a_kept_dump() -> None:
    versions = sorted(path.stem[:4] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))
    assert [path.stem for path in SCHEMAS] == versions


@pytest.mark.parametrize("dump", SCHEMAS, ids=lambda path: path.stem)
def test_a_kept_database_becomes_this_version_with_its_rows(dump: Path, tmp_path: Path) -> None:
    _restore(dump, tmp_path / "annotate.db")
    database = Database(tmp_path / "annotate.db")
    migrate(database, tmp_path)
    assert differences(database, Series.metadata) == []
    with database.read() as session:
        assert [series.symbol for series in list_series(session)] == ["KEPT"]
    assert rows_of(CandleStore(tmp_path, database).read(1)) == [(60_000, 1.0, 2.0, 0.5, 1.5, None)]
    database.close()


def test_tables_without_a_schema_number_are_backed_up_first(database: Database, tmp_path: Path) -> None:
    with closing(sqlite3.connect(database.path)) as connection:
        connection.execute("CREATE TABLE mine (id INTEGER PRIMARY KEY, words TEXT)")
        connection.execute("INSERT INTO mine VALUES (1, 'precious')")
        connection.commit()
    backup = migrate(database, tmp_path)
    assert backup is not None
    assert backup.parent == tmp_path / "backups"
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("SELECT words FROM mine").fetchall() == [("precious",)]
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchall() == [(1,)]


def test_a_backup_that_cannot_be_written_stops_the_migration(database: Database, tmp_path: Path) -> None:
    with closing(sqlite3.connect(database.path)) as connection:
        connection.execute("CREATE TABLE mine (id INTEGER PRIMARY KEY)")
    (tmp_path / "backups").write_text("a file where the folder should be", "utf-8")
    with pytest.raises(StorageFailed, match="nothing was migrated"):
        migrate(database, tmp_path)
    with closing(sqlite3.connect(database.path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == [("mine",)]


def test_a_database_of_a_newer_version_is_left_alone(database: Database, tmp_path: Path) -> None:
    migrate(database, tmp_path)
    with closing(sqlite3.connect(database.path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    with pytest.raises(Conflict, match=r"newer version of Annotate \(schema 9999\)"):
        migrate(database, tmp_path)


def test_what_was_only_in_the_write_ahead_log_is_in_the_backup(database: Database, tmp_path: Path) -> None:
    with closing(sqlite3.connect(database.path)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE mine (id INTEGER PRIMARY KEY)")
        writer.execute("INSERT INTO mine VALUES (7)")
        writer.commit()  # stays in the log for as long as this connection is open
        backup = migrate(database, tmp_path)
    assert backup is not None
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("SELECT id FROM mine").fetchall() == [(7,)]


def test_a_migration_that_fails_changes_nothing(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_connection: Connection) -> None:
        raise Conflict("the last step failed")

    monkeypatch.setattr(migrations, "_check_references", broken)
    with pytest.raises(Conflict, match="the last step failed"):
        migrate(database, tmp_path)
    with closing(sqlite3.connect(database.path)) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchall() == [(0,)]


def test_rows_that_refer_to_nothing_are_found_after_a_migration(database: Database, tmp_path: Path) -> None:
    migrate(database, tmp_path)
    with closing(sqlite3.connect(database.path)) as writer:  # without its pragma SQLite lets this pass
        writer.execute("INSERT INTO tail_candle VALUES (99, 0, 1, 1, 1, 1, NULL)")
        writer.commit()
    with database.engine.connect() as connection, pytest.raises(Conflict, match=r"1 rows .* first in tail_candle"):
        migrations._check_references(connection)


def _restore(dump: Path, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(dump.read_text("utf-8"))
        connection.commit()
