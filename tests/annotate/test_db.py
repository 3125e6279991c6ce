"""Writers of one database take turns, and no writer waits in vain."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from annotate.db import Database


@pytest.fixture
def database(tmp_path: Path) -> Database:
    made = Database(tmp_path / "test.db")
    with made.write() as session:
        session.execute(text("CREATE TABLE counted (number INTEGER)"))
    return made


def test_writers_of_both_kinds_write_one_after_another(database: Database) -> None:
    seen: list[int] = []

    def count(number: int) -> None:
        with database.write() if number % 2 else database.write_events() as session:
            seen.append(session.execute(text("SELECT count(*) FROM counted")).scalar_one())
            session.execute(text("INSERT INTO counted VALUES (:number)"), {"number": number})

    threads = [threading.Thread(target=count, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == list(range(16))
    database.close()


def test_a_writer_that_fails_leaves_nothing_and_gives_its_turn_away(database: Database) -> None:
    def fail() -> None:
        with database.write() as session:
            session.execute(text("INSERT INTO counted VALUES (1)"))
            raise ValueError("half done")

    with pytest.raises(ValueError, match="half done"):
        fail()
    later = threading.Thread(target=lambda: _insert(database))
    later.start()
    later.join(10)
    assert not later.is_alive()
    with database.read() as session:
        assert session.execute(text("SELECT number FROM counted")).scalars().all() == [2]
    database.close()


def _insert(database: Database) -> None:
    with database.write() as session:
        session.execute(text("INSERT INTO counted VALUES (2)"))
