"""Series that charts like to draw wrong: changes of clocks, gaps, one candle alone, prices below 0."""

from __future__ import annotations

import re
from datetime import datetime

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.chart_page import ChartPage, forget_marks, uploaded
from tests.serving import Server

pytestmark = pytest.mark.e2e


def test_a_lone_candle_long_gaps_and_prices_below_0_are_drawn_and_what_cannot_be_shown_says_why(
    page: Page, shared_server: Server
) -> None:
    day = 1_586_908_800  # 2020-04-15
    oil = (
        "19.87,20.5,19.2,19.87,5",
        "18.27,20,17.3,18.27,7",
        "17.73,17.85,-40.32,-37.63,0",
        "-14,13.86,-16.74,10.01,9",
    )
    begins = [day + place * 7 * 86_400 for place in range(8)]  # an hour a week, in minutes: gaps longer than any view
    opens = [begin + minute * 60 for begin in begins for minute in range(60)]
    one = uploaded(shared_server, "ONE", ["1704067200,1.25,2,0.5,1.5,7"], "1m")
    wti = uploaded(shared_server, "WTI", [f"{day + place * 86_400},{row}" for place, row in enumerate(oil)], "1d")
    rows = [f"{time},100,{101 + place % 5},99,100.5,1" for place, time in enumerate(opens)]
    weekly = uploaded(shared_server, "WEEKLY", rows, "1m")
    chart = ChartPage(page, shared_server).open_series(one, "1m")
    readout, scale = page.locator("[data-part=readout]"), page.get_by_role("button", name="Log", exact=True)
    scale.click()
    assert chart.stats()["bars"] == 1
    expect(readout).to_contain_text(re.compile(r"O 1\.25\s*H 2\.00\s*L 0\.50\s*C 1\.50"))
    chart.choose_series(wti, "1d")
    for button in (scale, page.get_by_role("button", name="%", exact=True)):
        expect(button).to_be_disabled()
        expect(button).to_have_attribute("title", re.compile("needs prices above 0; this series has others"))
    high, middle, low = (page.evaluate("price => __chart.priceToY(price)", price) for price in (15, 0, -15))
    assert abs((low - middle) - (middle - high)) < 0.01, "the scale is the plain one, whatever was chosen before"
    page.mouse.move(chart.x_of((day + 2 * 86_400) * 1000), 250)
    expect(readout).to_contain_text(re.compile(r"L -40\.32\s*C -37\.63"))
    page.mouse.move(chart.x_of((day + 3 * 86_400) * 1000), 250)
    expect(readout).to_contain_text("C 10.01")
    expect(readout).not_to_contain_text("%")
    chart.choose_series(weekly, "1m")
    page.wait_for_function("time => Math.abs(__chart.timeToX(time)) < 50", arg=opens[-60] * 1000)
    for week in (7, 6):  # dragging goes over one gap after the other, and so do the keys
        chart.drag(200, 800, y=200)
        page.wait_for_function("time => __chart.visible().from < time", arg=(begins[week] - 60) * 1000)
        page.keyboard.press("PageUp")
        page.wait_for_function("time => __chart.visible().from < time", arg=(begins[week - 1] - 60) * 1000)
    first, last = chart.visible()
    inside = [time * 1000 for time in opens if first <= time * 1000 and time * 1000 + 60_000 <= last]
    assert len(inside) > 50
    assert len(chart.steps(inside)) == 1, "no candle in view is missing"


def test_the_browsers_own_zone_changes_nothing_that_is_drawn_or_stored_where_clocks_change(
    browser: Browser, shared_server: Server
) -> None:
    opens = quarters_where_clocks_change()
    four = opens[26:30]  # around the moment at which the clocks of New York go forward
    assert four[2] == at("2024-03-10T07:00")
    prices = {time: 100 + place % 9 for place, time in enumerate(opens)}
    rows = [f"{time // 1000},{price},{price + 3},{price - 2},{price + 1},7" for time, price in prices.items()]
    series_id = uploaded(shared_server, "CLOCKS", rows, "15m")
    for zone in ("UTC", "Europe/Berlin", "America/New_York"):
        context = browser.new_context(viewport={"width": 1280, "height": 800}, timezone_id=zone)
        chart = ChartPage(context.new_page(), shared_server).open_series(series_id, "15m")
        steps = chart.steps(opens)
        assert len(steps) == 1, "each candle has a place of its own, one step from the last, none moved or missing"
        assert steps.pop() > 1
        for key in ("-", "-", "-", "Home"):
            chart.page.keyboard.press(key)
        chart.page.wait_for_function("time => __chart.timeToX(time) > 0 && __chart.timeToX(time) < 800", arg=four[3])
        chart.draw_span(four[0], four[3])
        (mark,) = chart.marks(series_id)
        assert (mark["start"], mark["end"]) == (four[0], four[3] + QUARTER)
        forget_marks(shared_server, series_id)
        if zone == "America/New_York":
            reads_out(chart, prices)
        context.close()


def reads_out(chart: ChartPage, prices: dict[int, int]) -> None:
    """Choose New York's clocks: each candle, beside a gap too, reads as it is, and the hour that comes twice apart."""
    page = chart.page
    page.keyboard.press("End")
    page.keyboard.press("-")
    for time, inside in ((at("2024-03-31T23:45"), "> 0"), (list(prices)[-1], "< 800")):
        page.wait_for_function(f"time => __chart.timeToX(time) {inside}", arg=time)
    page.get_by_label("Time zone of the axis").select_option("America/New_York")
    readout = page.locator("[data-part=readout]")
    for time, said in (
        (at("2024-03-31T23:45"), "Sun 2024-03-31 19:45 EDT"),
        (at("2024-11-03T04:00"), "Sun 2024-11-03 00:00 EDT"),
        (at("2024-11-03T05:00"), "Sun 2024-11-03 01:00 EDT"),
        (at("2024-11-03T06:00"), "Sun 2024-11-03 01:00 EST"),
    ):
        page.mouse.move(chart.x_of(time), 250)
        expect(readout).to_contain_text(said)
        expect(readout).to_contain_text(
            re.compile(rf"O {prices[time]}\D*H {prices[time] + 3}\D*L {prices[time] - 2}\D")
        )


QUARTER = 900_000


def at(text: str) -> int:
    """Give a moment of UTC in ms."""
    return int(datetime.fromisoformat(f"{text}+00:00").timestamp() * 1000)


def quarters_where_clocks_change() -> list[int]:
    """Give open times of two days of spring, of New York and of Berlin, and six hours of autumn: 24 quarters."""
    stretches = (("2024-03-10T00:00", 96), ("2024-03-31T00:00", 96), ("2024-11-03T04:00", 24))
    return [at(first) + place * QUARTER for first, count in stretches for place in range(count)]
