"""A shelf: database and candle store on a folder of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate.candle_store import CandleStore
from annotate.db import Database
from annotate.models import Series
from tests.annotate.candles.builders import Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """An empty store with the tables of this version."""
    database = Database(tmp_path / "annotate.db")
    Series.metadata.create_all(database.engine)
    yield Shelf(tmp_path, database, CandleStore(tmp_path, database))
    database.close()
