"""From the close of a candle to its prediction on the page: default model, batch training beside it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

from bench.report import Measure
from tests.e2e.conftest import BROWSERS, OPTIONS
from tests.serving import Server, start_server

CANDLES, A_SECOND = 120, 2
LIMIT_MS = 150.0
LIVE, TRAINED = 1, 3  # series of the sample: EUR/USD and SIM/USDT
WATCH = """([run, since]) => {
    const seen = (window.__seen = {});
    const look = () => {
        for (const event of annotate.events(run).slice(-20))
            if (event.type === "candle_predicted" && event.seq > since) seen[event.seq] ??= Date.now();
        requestAnimationFrame(look);
    };
    look();
}"""

Json = dict[str, Any]


def measures() -> Iterator[Measure]:
    """Serve, train, play candles at a pace, and compare what the page has when with when each candle came."""
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(Path(folder) / "data")
        try:
            waits = _waits(server)
        finally:
            server.stop()
    p50, p99 = np.quantile(waits, [0.5, 0.99])
    note = f"p50 {p50:.0f} ms, p99 {p99:.0f} ms of {len(waits)} candles"
    yield Measure(
        "candle close to prediction on the page, p99", f"{LIMIT_MS:.0f} ms", [p99 / LIMIT_MS], 1.0, "at most", note
    )


def _waits(server: Server) -> list[float]:
    """Give the time from each candle's arrival in the worker to its prediction in the page, ms."""
    config = {"feed": {"kind": "replay", "speed": A_SECOND}}
    training = server.post("/api/runs", {"mode": "batch", "series_id": TRAINED, "config": {"epochs": 10_000}})["run"][
        "id"
    ]
    server.wait_for(lambda: len(server.events(training)) > 3, within_s=120)
    with sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, BROWSERS)))
        browser = playwright.chromium.launch(executable_path=path, args=OPTIONS)
        page = browser.new_page()
        page.goto(server.link)
        page.goto(f"{server.address}/?series={LIVE}")
        run = server.post("/api/runs", {"mode": "live", "series_id": LIVE, "config": config})["run"]["id"]
        server.wait_for(lambda: _predicted(server, run), within_s=120)
        seen = _seen(page, run, server)
        browser.close()
    for each in (run, training):
        server.post(f"/api/runs/{each}/stop")
    predicted = {event["seq"]: event for event in _predicted(server, run)}
    return [at - predicted[seq]["time"] + predicted[seq]["latency_ms"] for seq, at in seen.items() if seq in predicted]


def _seen(page: Page, run: int, server: Server) -> dict[int, float]:
    """Give when the page had each prediction, by its number, ms UTC."""
    begun = _predicted(server, run)
    page.evaluate(WATCH, [run, begun[-1]["seq"]])
    server.wait_for(lambda: len(_predicted(server, run)) >= len(begun) + CANDLES, within_s=60 + 3 * CANDLES / A_SECOND)
    seen: Json = page.evaluate("window.__seen")
    return {int(seq): at for seq, at in seen.items()}


def _predicted(server: Server, run: int) -> list[Json]:
    return [event for event in server.events(run) if event["type"] == "candle_predicted"]
