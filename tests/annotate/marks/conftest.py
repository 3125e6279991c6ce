"""A workspace of this test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.annotate.annotations.builders import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A series of 100 candles of an hour."""
    made = Workspace.make(tmp_path)
    yield made
    made.close()
