"""What the stories of chart and annotation do in the page: open it, find candles on it, draw, wait for the server."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from playwright.sync_api import Page, expect

from tests.serving import Server

HOUR = 3_600_000
EURUSD, AAPL, SIM = 1, 2, 3
MIDDLE_Y = 300  # px inside the price pane


@dataclass
class ChartPage:
    """The page of one browser, and the server behind it."""

    page: Page
    server: Server

    def open(self) -> ChartPage:
        """Open the link and wait until candles are drawn."""
        self.page.goto(self.server.link)
        return self.wait_for_candles()

    def reload(self) -> ChartPage:
        """Load the page again."""
        self.page.reload()
        return self.wait_for_candles()

    def wait_for_candles(self) -> ChartPage:
        """Wait until candles are painted and the labels are there."""
        self.page.wait_for_function("() => performance.getEntriesByName('chart-painted').length > 0")
        expect(self.page.locator(".label-button").first).to_be_visible()
        return self

    def open_series(self, series_id: int, level: str) -> ChartPage:
        """Open the page on a series and wait until it is drawn at this level."""
        self.page.context.request.get(self.server.link)  # signs in
        self.page.goto(f"{self.server.address}/?series={series_id}")
        self.wait_for_candles().wait_for_level(level)
        return self

    def choose_series(self, series_id: int, level: str) -> None:
        """Put a series on the chart and wait until it is drawn at this level."""
        self.page.locator("#toolbar select.symbol").select_option(str(series_id))
        self.wait_for_level(level)

    def wait_for_level(self, level: str) -> None:
        """Wait until candles of this level are drawn."""
        self.page.wait_for_function(
            "level => { const s = __chart.stats(); return s.bars > 0 && s.level === level }", arg=level
        )

    def stats(self) -> dict[str, Any]:
        """Give what the page says of its drawing."""
        return dict(self.page.evaluate("() => __chart.stats()"))

    def visible(self) -> tuple[float, float]:
        """Give the visible time range, ms UTC."""
        shown = self.page.evaluate("() => __chart.visible()")
        return float(shown["from"]), float(shown["to"])

    def x_of(self, time: int) -> float:
        """Give the x, in the page, of the middle of the candle that holds a time."""
        box = self.page.locator("#chart").bounding_box()
        assert box
        return float(box["x"]) + float(self.page.evaluate("time => __chart.timeToX(time)", time))

    def candle_times(self, count: int) -> list[int]:
        """Give the open times of the newest candles of EUR/USD that are in view, oldest first."""
        newest = self.server.get(
            f"/api/series/{EURUSD}/candles?encoding=list&max_points=5000&from={int(self.visible()[0])}"
        )
        return [int(time) for time in newest["time"]][-count:]

    def steps(self, times: list[int]) -> set[float]:
        """Give the distances, px, from one of these candles to the next."""
        places = self.page.evaluate("times => times.map(time => __chart.timeToX(time))", times)
        return {round(after - before, 6) for before, after in pairwise(places)}

    def drag(self, from_x: float, to_x: float, y: float = MIDDLE_Y, to_y: float | None = None) -> None:
        """Press, move in steps, release."""
        mouse = self.page.mouse
        mouse.move(from_x, y)
        mouse.down()
        mouse.move((from_x + to_x) / 2, y, steps=3)
        mouse.move(to_x, y if to_y is None else to_y, steps=3)
        mouse.up()

    def draw_span(self, first: int, last: int, label_key: str = "1") -> None:
        """Draw a span from one candle to another, named by their open times."""
        self.page.keyboard.press(label_key)
        self.drag(self.x_of(first), self.x_of(last))
        self.wait_until_saved()

    def wait_until_saved(self) -> None:
        """Wait until the server has everything."""
        expect(self.page.locator("#save-state")).to_have_text("all saved")

    def marks(self, series_id: int = EURUSD) -> list[dict[str, Any]]:
        """Give what the server has, in order of time."""
        return list(self.server.get(f"/api/series/{series_id}/annotations")["items"])

    def undo_button(self) -> Any:
        """Find the button of the panel."""
        return self.page.get_by_role("button", name="Undo", exact=True)


def forget_marks(server: Server, series_id: int = EURUSD) -> None:
    """Delete every annotation of a series."""
    for mark in server.get(f"/api/series/{series_id}/annotations")["items"]:
        assert server.call("DELETE", f"/api/series/{series_id}/annotations/{mark['id']}").status_code == 200


def uploaded(server: Server, symbol: str, rows: list[str], timeframe: str) -> int:
    """Make a series of rows such as `1704067200,1,2,0.5,1.5,7`; give its id."""
    file = (f"{symbol}.csv", "time,open,high,low,close,volume\n" + "\n".join(rows) + "\n")
    answer = server.call("POST", "/api/series", files={"file": file}, data={"symbol": symbol, "timeframe": timeframe})
    assert answer.status_code == 201, answer.text
    return int(answer.json()["series"]["id"])
