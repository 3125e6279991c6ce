"""From navigation to a painted chart: a series of 1,000,000 candles against one of 1,000, same server, same browser."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import BrowserContext, sync_playwright

from bench.report import Measure, alternate, ratios
from tests.e2e.conftest import BROWSERS, OPTIONS
from tests.serving import Server, start_server

LARGE, SMALL = 1_000_000, 1_000
ROUNDS = 7
PAINTED = "() => performance.getEntriesByName('chart-painted')[0]?.startTime"


def measures() -> Iterator[Measure]:
    """Open each series in turn in a fresh browser profile and give the ratio of the times."""
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(Path(folder) / "data")
        try:
            large, small = (_upload(server, Path(folder), rows) for rows in (LARGE, SMALL))
            pairs = _measure(server, large, small)
        finally:
            server.stop()
    note = f"medians {np.median([own for own, _ in pairs]):.0f} and {np.median([peer for _, peer in pairs]):.0f} ms"
    yield Measure("open 1,000,000 candles", "1,000 candles", ratios(pairs), 1.3, "at most", note)


def _measure(server: Server, large: int, small: int) -> list[tuple[float, float]]:
    path = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=OPTIONS)

        def opened(series_id: int) -> float:
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            try:
                return _painted_after_ms(context, server, series_id)
            finally:
                context.close()

        return alternate(lambda: opened(large), lambda: opened(small), ROUNDS)


def _painted_after_ms(context: BrowserContext, server: Server, series_id: int) -> float:
    page = context.new_page()
    page.goto(server.link)
    page.goto(f"{server.address}/?series={series_id}")
    page.wait_for_function(PAINTED)
    painted: float = page.evaluate(PAINTED)
    return painted


def _upload(server: Server, folder: Path, rows: int) -> int:
    path = folder / f"{rows}.csv"
    _write(path, rows)
    with path.open("rb") as file:
        answer = server.call("POST", "/api/series", files={"file": file}, data={"symbol": f"ROWS{rows}"})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()["series"]
    return int(made["id"])


def _write(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    close = 100 * np.exp(np.cumsum(rng.normal(0, 1e-4, rows)))
    opened = np.concatenate([[100.0], close[:-1]])
    high, low = np.maximum(opened, close) * 1.0001, np.minimum(opened, close) * 0.9999
    time = 1_700_000_000_000 + 1000 * np.arange(rows)
    columns = zip(time, opened, high, low, close, rng.integers(1, 100, rows), strict=True)
    lines = (f"{t},{o:.4f},{h:.4f},{lo:.4f},{c:.4f},{v}" for t, o, h, lo, c, v in columns)
    path.write_text("time,open,high,low,close,volume\n" + "\n".join(lines) + "\n")
