"""The database: engines, pragmas, sessions. One SQLite file; a writer takes its lock first and waits for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, MetaData, create_engine, event
from sqlalchemy.orm import DeclarativeBase, Session

BUSY_TIMEOUT_MS = 5000
TURN_TIMEOUT_S = 30  # longer than any transaction lasts
NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    """Base of the mapped classes; its naming convention lets alembic change any constraint in SQLite."""

    metadata = MetaData(naming_convention=NAMING)


class Database:
    """Three ways into one file: `read`, `write` (durable before it is acknowledged) and `write_events` (fast)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._readers = _engine(path, synchronous="NORMAL", begin="BEGIN")
        self._writers = _engine(path, synchronous="FULL", begin="BEGIN IMMEDIATE")
        self._event_writers = _engine(path, synchronous="NORMAL", begin="BEGIN IMMEDIATE")
        self._turn = threading.RLock()

    @property
    def engine(self) -> Engine:
        """The durable engine, for migrations."""
        return self._writers

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Give a session that must not write."""
        with Session(self._readers, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Give a session that commits at its end, or rolls back on an error; committed means on disk."""
        with self._writing(), Session(self._writers, expire_on_commit=False) as session, session.begin():
            yield session

    @contextmanager
    def write_events(self) -> Iterator[Session]:
        """Like `write`, without the wait for the disk: a power cut may lose the last events, a crash does not."""
        with self._writing(), Session(self._event_writers, expire_on_commit=False) as session, session.begin():
            yield session

    @contextmanager
    def _writing(self) -> Iterator[None]:
        # SQLite lets waiting writers poll, and under load the same one may lose every time until it gives up. A data
        # folder has one process, so that a lock in here puts its writers in line; SQLite's own stays the last word.
        in_turn = self._turn.acquire(timeout=TURN_TIMEOUT_S)
        try:
            yield
        finally:
            if in_turn:
                self._turn.release()

    def close(self) -> None:
        """Give back every connection."""
        for engine in (self._readers, self._writers, self._event_writers):
            engine.dispose()


def _engine(path: Path, *, synchronous: str, begin: str) -> Engine:
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": BUSY_TIMEOUT_MS / 1000})

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: object) -> None:
        # pysqlite begins late and commits early of its own; with None the `begin` hook below decides.
        connection.isolation_level = None
        for pragma in (
            "journal_mode=WAL",
            "foreign_keys=ON",
            f"busy_timeout={BUSY_TIMEOUT_MS}",
            f"synchronous={synchronous}",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        connection.exec_driver_sql(begin)

    return engine
