"""Live feeds in the page: candles that are posted or come from an exchange, the one that forms, and how the feed is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.exchange import LoopbackExchange
from tests.serving import Server, start_server

START = 1_700_000_000_000
WAIT_MS = 60_000
SMALL = {"sequence_length": 32, "d_model": 16, "n_layers": 1, "n_heads": 2}
Json = dict[str, Any]


@pytest.fixture(scope="module")
def exchange() -> LoopbackExchange:
    made = LoopbackExchange(START)
    for _ in range(60):
        made.candle()
    made.trade()
    return made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, exchange: LoopbackExchange) -> Iterator[Server]:
    """An instance for which a loopback exchange stands in for every exchange."""
    folder: Path = tmp_path_factory.mktemp("fed") / "data"
    with exchange.served() as address:
        started = start_server(folder, ANNOTATE_EXCHANGE_AT=address)
        yield started
        started.stop()


def test_posted_candles_move_on_the_chart_and_feed_a_run(served: Server, page: Page) -> None:
    series = served.post("/api/series", {"symbol": "ETH/USDT", "timeframe": "1m"})["series"]["id"]
    served.post(f"/api/series/{series}/candles", [posted(number) for number in range(100)])
    page.goto(served.link)
    page.goto(f"{served.address}/?series={series}")
    readout = page.locator(".readout")
    expect(readout).to_contain_text("C 105.25")
    follow(page)
    for close in (111.5, 122.25):
        served.post(f"/api/series/{series}/candles", {**posted(100), "high": 130.0, "close": close, "closed": False})
        expect(readout).to_contain_text(f"C {close:.2f}")
    for timeframe in ("5m", "1m"):  # what forms outlasts the loading of another window
        page.get_by_role("button", name=timeframe, exact=True).click()
    expect(readout).to_contain_text("C 122.25")
    assert count(served, series) == 100
    served.post(f"/api/series/{series}/candles", posted(100))
    expect(readout).to_contain_text("C 106.25")
    assert count(served, series) == 101
    late = {
        **posted(98),
        "close": 101.0,
    }  # other values for a stored candle are refused, and nothing on the page breaks
    assert served.call("POST", f"/api/series/{series}/candles", json=late).status_code == 409
    served.post(f"/api/series/{series}/candles", {**late, "closed": False})
    served.post(f"/api/series/{series}/candles", posted(101))
    expect(readout).to_contain_text(f"C {posted(101)['close']:.2f}")
    assert count(served, series) == 102
    open_live_form(page)
    page.get_by_label("Candles come from").select_option("push")
    expect(page.get_by_label("Replay speed")).to_be_hidden()
    run_id = start_live(page, served)
    line = page.locator(f"[data-run='{run_id}']")
    expect(line).to_contain_text("Live posted candles", timeout=WAIT_MS)
    served.wait_for(lambda: [event for event in served.events(run_id) if event["type"] == "run_started"])
    for number in range(102, 112):
        served.post(f"/api/series/{series}/candles", {**posted(number), "closed": False})
        served.post(f"/api/series/{series}/candles", posted(number))
    expect(line).to_contain_text("feed connected", timeout=WAIT_MS)
    served.wait_for(lambda: len(scored(served, run_id)) == 10)
    assert scored(served, run_id) == [posted(number)["time"] for number in range(102, 112)]
    expect(readout).to_contain_text(f"C {posted(111)['close']:.2f}")
    served.post(f"/api/runs/{run_id}/stop")
    served.wait_for_state(run_id, "stopped")


def test_an_exchange_fills_a_new_series_and_its_state_is_always_shown(
    served: Server, page: Page, exchange: LoopbackExchange
) -> None:
    page.goto(served.link)
    page.get_by_role("tab", name="Data").click()
    page.get_by_text("New series for a live feed").click()
    page.locator("#new-series-symbol").fill("BTC/USDT")
    page.locator("#new-series-timeframe").select_option("1s")
    page.get_by_role("button", name="Make series").click()
    expect(page.get_by_text("BTC/USDT has no candles to show")).to_be_visible()
    open_live_form(page)
    page.get_by_label("Candles come from").select_option("exchange")
    page.get_by_label("Exchange").select_option("binance")
    run_id = start_live(page, served)
    line = page.locator(f"[data-run='{run_id}']")
    expect(line).to_contain_text("Live binance · running", timeout=WAIT_MS)
    served.wait_for(lambda: exchange.listeners() == 1)
    moved = exchange.trade()
    expect(page.locator(".readout")).to_contain_text(f"C {moved.close:.2f}", timeout=WAIT_MS)
    exchange.close()
    for _ in range(9):
        exchange.candle()
    served.wait_for(lambda: len(scored(served, run_id)) == 10)
    expect(line).to_contain_text("feed connected", timeout=WAIT_MS)
    exchange.is_down = True
    exchange.drop()
    expect(line).to_contain_text("feed reconnecting", timeout=WAIT_MS)
    for _ in range(20):
        exchange.candle()
    exchange.is_down = False
    served.wait_for(lambda: exchange.listeners() == 1)
    exchange.trade()
    served.wait_for(lambda: len(scored(served, run_id)) == 30)
    series = served.get(f"/api/runs/{run_id}")["run"]["series_id"]
    stored = served.get(f"/api/series/{series}/candles?encoding=list&max_points=5000")
    assert stored["time"] == [candle.time for candle in exchange.closed]
    assert stored["close"] == [candle.close for candle in exchange.closed]
    assert scored(served, run_id) == [candle.time for candle in exchange.closed[60:]]
    page.get_by_role("button", name="Stop").click()
    served.wait_for_state(run_id, "stopped")


def posted(number: int) -> Json:
    price = 100.25 + number % 7
    values = {"open": price, "high": price + 5, "low": price - 5, "close": price + 4, "volume": 1.0}
    return {"time": START // 60_000 * 60_000 + number * 60_000, **values}


def follow(page: Page) -> None:
    """Wait until the page hears of what comes."""
    expect(page.locator("#link-state")).to_have_class("badge link ok", timeout=WAIT_MS)


def open_live_form(page: Page) -> None:
    page.get_by_role("tab", name="Train").click()
    page.get_by_text("More settings").click()
    for name, value in SMALL.items():
        field = page.locator(f"#train-model-{name}")
        field.fill(str(value))
        field.blur()
    page.get_by_text("Live training", exact=True).click()


def start_live(page: Page, server: Server) -> int:
    before = newest_run(server)
    page.get_by_role("button", name="Start live training").click()
    run_id: int = server.wait_for(lambda: newest_run(server) > before and newest_run(server))
    return run_id


def newest_run(server: Server) -> int:
    return max((run["id"] for run in server.get("/api/runs")["items"]), default=0)


def scored(server: Server, run_id: int) -> list[int]:
    return [event["candle_time"] for event in server.events(run_id) if event["type"] == "candle_scored"]


def count(server: Server, series_id: int) -> int:
    number: int = server.get(f"/api/series/{series_id}")["series"]["candles"]
    return number
