"""A browser and a server for the stories that are told in the page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.serving import Server, start_server

OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


WAIT_MS = 20_000  # a page on a busy machine is late, not wrong

expect.set_options(timeout=WAIT_MS)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium for all stories."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert path, "no Chromium here; `make test` installs it"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=OPTIONS)
        yield launched
        launched.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A served instance on a data folder of this test's own, with the sample loaded."""
    started = start_server(tmp_path / "data")
    yield started
    if started.process.poll() is None:
        started.stop()


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One served instance for all tests of a file that leave each other alone."""
    started = start_server(tmp_path_factory.mktemp("served") / "data")
    yield started
    if started.process.poll() is None:
        started.stop()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh browser profile, 1280 × 800, in UTC."""
    made = browser.new_context(viewport={"width": 1280, "height": 800}, timezone_id="UTC", accept_downloads=True)
    yield made
    made.close()


@pytest.fixture
def errors() -> list[str]:
    """What the browser noted of the page; a story ends with none, but for what it provoked and clears."""
    return []


@pytest.fixture
def page(context: BrowserContext, errors: list[str]) -> Iterator[Page]:
    """A page that writes its errors down and fails the test on any that the test did not expect, or that was thrown."""
    thrown: list[str] = []
    opened = context.new_page()
    opened.set_default_timeout(WAIT_MS)
    opened.on("pageerror", lambda error: thrown.append(str(error)))
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield opened
    assert thrown == []
    assert errors == []
