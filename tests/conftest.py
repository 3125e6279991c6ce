"""The instance under test: the real application on a data folder of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from annotate.settings import Settings

if TYPE_CHECKING:
    from flask import Flask
    from flask.testing import FlaskClient

# A busy machine is slow, not wrong: no example has a deadline, nor the drawing of one. The same code gives the same
# verdict twice; to draw other examples, run a test with `--hypothesis-seed=N`.
hypothesis_settings.register_profile(
    "busy", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("busy")

TOKEN = "a-token-for-tests"
CANDLE_FACTS = Path(__file__).resolve().parents[2] / "shared" / "candles"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that have a slow test: one that came last would run alone."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def first_start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder as the first start leaves it: migrated, with the sample."""
    from app import close_app, create_app

    folder = tmp_path_factory.mktemp("first-start") / "data"
    close_app(create_app(Settings(data_dir=folder, token=TOKEN)))
    return folder


@pytest.fixture
def settings(tmp_path: Path, first_start: Path) -> Settings:
    """Settings on a folder of this test's own that was started once, one CPU thread."""
    # Candle files never change, so that links to them will do.
    shutil.copytree(first_start, tmp_path / "data", copy_function=_copy_or_link)
    return Settings(data_dir=tmp_path / "data", token=TOKEN, threads=1)


def _copy_or_link(source: str, target: str) -> None:
    if source.endswith(".arrow"):
        os.link(source, target)
    else:
        shutil.copy2(source, target)


@pytest.fixture
def app(settings: Settings) -> Iterator[Flask]:
    """The whole application; its worker starts only where a test asks for a run."""
    from app import close_app, create_app

    made = create_app(settings)
    yield made
    close_app(made)


@pytest.fixture(scope="module")
def shared_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    """One application for all tests of a file that leave each other alone."""
    from app import close_app, create_app

    made = create_app(Settings(data_dir=tmp_path_factory.mktemp("shared") / "data", token=TOKEN, threads=1))
    yield made
    close_app(made)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """A client that sends the token."""
    made = app.test_client()
    made.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {TOKEN}"
    return made


@pytest.fixture
def stranger(app: Flask) -> FlaskClient:
    """A client without credentials."""
    return app.test_client()
