"""One door a test, closed after it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.annotate.training.door import Door


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    made = Door(tmp_path / "data")
    yield made
    made.close()


@pytest.fixture
def series_id(door: Door) -> int:
    return door.add_series()
