"""One served instance a file, and a series of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.web.marking import Marking, new_series, serving


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Marking]:
    """An instance for all tests of a file."""
    with serving(tmp_path_factory.mktemp("served")) as marking:
        yield marking


@pytest.fixture
def marking(served: Marking) -> Marking:
    """A series on it that no other test touches."""
    return new_series(served)
