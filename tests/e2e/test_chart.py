"""The chart as a trader uses it: any series, zoom, zone, width and pair of eyes, and what is said when candles fail."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.e2e.chart_page import AAPL, EURUSD, HOUR, SIM, ChartPage
from tests.serving import ROOT, Server

pytestmark = pytest.mark.e2e

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = ("serious", "critical")

PAINTED = """() => [...document.querySelectorAll('.chart-canvas canvas')].reduce((sum, canvas) => {
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const up = getComputedStyle(document.documentElement).getPropertyValue('--up').trim();
  const [r, g, b] = [1, 3, 5].map(at => parseInt(up.slice(at, at + 2), 16));
  for (let i = 0; i < data.length; i += 4) sum += data[i] === r && data[i + 1] === g && data[i + 2] === b;
  return sum;
}, 0)"""


NEAREST = """([times, x]) => {
  const far = (at) => Math.abs(__chart.timeToX(times[at]) - x);
  return times.reduce((best, _, at) => (far(at) < far(best) ? at : best), 0);
}"""


@pytest.fixture
def chart(page: Page, shared_server: Server) -> ChartPage:
    """The opened page."""
    return ChartPage(page, shared_server).open()


def test_the_first_series_is_drawn_with_its_last_candle_read_out_or_the_one_pointed_at(chart: ChartPage) -> None:
    assert chart.page.evaluate(PAINTED) > 500
    readout = chart.page.locator("[data-part=readout]")
    expect(readout).to_contain_text("EUR/USD")
    expect(readout).to_contain_text("last closed")
    expect(readout).to_contain_text("Fri 2017-12-29 21:00 UTC")
    last = chart.server.get("/api/series/1/candles?encoding=list&max_points=5000&from=1514581200000")
    for name, column in (("O", "open"), ("H", "high"), ("L", "low"), ("C", "close")):
        expect(readout).to_contain_text(f"{name} {last[column][0]:.5f}")
    expect(chart.page.locator("a[href*='tradingview']")).to_be_visible()
    time = chart.candle_times(30)[0]
    chart.page.mouse.move(chart.x_of(time), 250)
    expect(readout).to_contain_text(
        chart.page.evaluate("time => new Date(time).toISOString().slice(0, 16).replace('T', ' ')", time)
    )


def test_wheel_zooms_drag_pans_and_the_client_never_holds_more_than_4000_candles(chart: ChartPage) -> None:
    start, end = chart.visible()
    chart.drag(300, 600, y=200)
    assert chart.visible()[0] < start - 10 * HOUR
    chart.page.mouse.move(500, 300)
    for _ in range(25):
        chart.page.mouse.wheel(0, 300)
        chart.page.wait_for_timeout(30)
        assert chart.stats()["bars"] <= 4000
    wide = chart.visible()
    assert wide[1] - wide[0] > 5 * (end - start)


def test_the_whole_of_a_long_series_is_drawn_at_a_coarser_level_and_zooming_in_brings_its_own_back(
    chart: ChartPage,
) -> None:
    chart.choose_series(SIM, "1s")
    expect(chart.page.locator("[data-part=readout]")).to_contain_text("simulated")
    chart.page.locator("#overview canvas").focus()
    press_until(chart, "-", "() => !['1s', '5s'].includes(__chart.stats().level)")
    expect(chart.page.locator("[data-part=level]")).to_contain_text("drawn as")
    assert chart.stats()["bars"] <= 4000
    press_until(chart, "+", "() => __chart.stats().level === '1s'")
    expect(chart.page.locator("[data-part=level]")).to_have_count(0)
    chart.page.keyboard.press("End")
    last = chart.server.get(f"/api/series/{SIM}")["series"]["last"]
    newest = "time => { const { from, to } = __chart.visible(); return from < time && time < to }"
    chart.page.wait_for_function(newest, arg=last)
    chart.wait_for_level("1s")
    assert chart.stats()["bars"] > 10
    assert chart.page.evaluate(PAINTED) > 100


def press_until(chart: ChartPage, key: str, condition: str) -> None:
    """Press a key again and again, as fast as a person, until the page is as it shall be."""
    for _ in range(100):
        if chart.page.evaluate(condition):
            return
        chart.page.keyboard.press(key)
        chart.page.wait_for_timeout(60)
    raise AssertionError(f"{condition} never came by {key}")


def test_a_coarser_timeframe_shows_the_same_time(chart: ChartPage) -> None:
    before = chart.visible()
    chart.page.get_by_role("button", name="4h", exact=True).click()
    chart.wait_for_level("4h")
    after = chart.visible()
    assert abs(after[0] - before[0]) < 8 * HOUR
    assert abs(after[1] - before[1]) < 8 * HOUR


def test_series_timeframe_and_view_come_back_after_a_reload(chart: ChartPage) -> None:
    chart.choose_series(AAPL, "1d")
    chart.page.get_by_role("button", name="1w", exact=True).click()
    chart.wait_for_level("1w")
    chart.drag(300, 700, y=200)
    chart.page.wait_for_timeout(900)
    before = chart.visible()
    chart.reload()
    chart.wait_for_level("1w")
    expect(chart.page.locator("[data-part=readout]")).to_contain_text("AAPL")
    after = chart.visible()
    assert abs(after[0] - before[0]) < 7 * 24 * HOUR
    assert abs(after[1] - before[1]) < 7 * 24 * HOUR


def test_a_zone_changes_what_is_read_and_nothing_else(chart: ChartPage) -> None:
    before = chart.visible()
    readout = chart.page.locator("[data-part=readout]")
    chart.page.get_by_label("Time zone of the axis").select_option("Asia/Tokyo")
    expect(readout).to_contain_text("Sat 2017-12-30 06:00 GMT+9")
    assert chart.visible() == before
    list_head = chart.page.get_by_role("heading", name="Annotations").locator("..")
    expect(list_head).to_contain_text("Asia/Tokyo")
    chart.choose_series(AAPL, "1d")
    expect(readout).to_contain_text("Mon 2024-12-30")
    expect(list_head).not_to_contain_text("Asia")


def test_new_candles_are_counted_beside_a_view_of_older_ones_and_push_on_one_of_the_newest(chart: ChartPage) -> None:
    page, server = chart.page, chart.server
    rows = "".join(f"{index * 60},100,102,99,{100 + index % 3},5\n" for index in range(28_000_000, 28_000_300))
    table = ("fed.csv", f"time,open,high,low,close,volume\n{rows}")
    answer = server.call("POST", "/api/series", files={"file": table}, data={"symbol": "FED", "timeframe": "1m"})
    fed = answer.json()["items"][0]["series"]
    candle = {"open": 100, "high": 102, "low": 99, "close": 101, "volume": 1, "closed": True}

    def feed(first: int, count: int = 5) -> None:
        items = [{"time": fed["last"] + (first + place) * 60_000, **candle} for place in range(count)]
        receipt = server.call("POST", f"/api/series/{fed['id']}/candles", json=items).json()["receipt"]
        assert receipt["stored"] == count

    def add_file(*minutes: int) -> None:
        lines = [f"{(fed['last'] + minute * 60_000) // 1000},100,102,99,101,1\n" for minute in minutes]
        file = ("more.csv", "time,open,high,low,close,volume\n" + "".join(lines))
        added = server.call("POST", "/api/series", files={"file": file}, data={"series_id": fed["id"]}).json()["report"]
        assert added["added"] == len(minutes)

    page.goto(f"{server.address}/?series={fed['id']}")
    chart.wait_for_candles().wait_for_level("1m")
    expect(page.locator("#link-state")).to_have_text("● connected")
    chart.drag(300, 700, y=200)
    before = chart.visible()
    notice = page.locator(".chart-notice")
    expect(notice).to_be_hidden()
    feed(1)
    expect(notice).to_have_text("+5 new candles →")
    feed(6, count=1)
    expect(notice).to_have_text("+6 new candles →")
    assert chart.visible() == before
    mark = {"kind": "span", "label": "Long", "start": fed["last"] - 600_000, "end": fed["last"], "revision": 0}
    path = f"/api/series/{fed['id']}/annotations/00000000-0000-4000-8000-000000000012"
    assert server.call("PUT", path, json=mark, headers={"X-Author": "Ada"}).status_code == 200
    expect(page.locator(".annotation-row")).to_have_count(1)
    assert chart.visible() == before
    for timeframe in ("5m", "1m"):
        page.get_by_role("button", name=timeframe, exact=True).click()
        chart.wait_for_level(timeframe)
    add_file(-301, -300, 7, 8, 9)
    expect(notice).to_have_text("+9 new candles →")
    newest = "time => { const { from, to } = __chart.visible(); return from < time && time < to }"
    assert not page.evaluate(newest, fed["last"])
    stored = chart.marks(fed["id"])
    notice.click()
    page.wait_for_function(newest, arg=fed["last"] + 9 * 60_000)
    expect(notice).to_be_hidden()
    for first, count in ((10, 5), (15, 1), (16, 5)):
        feed(first, count)
        page.wait_for_function(newest, arg=fed["last"] + (first + count - 1) * 60_000)
    expect(notice).to_be_hidden()
    add_file(21, 22)
    page.wait_for_function(newest, arg=fed["last"] + 22 * 60_000)
    expect(notice).to_be_hidden()
    assert chart.marks(fed["id"]) == stored
    assert chart.stats()["spans"] == 1, "the mark is still drawn, where it was"


def test_go_to_brings_a_time_into_view_and_says_what_it_cannot_take(chart: ChartPage) -> None:
    chart.page.keyboard.press("o")
    field = chart.page.get_by_label("Date, with or without a time")
    field.fill("1999-01-01")
    chart.page.get_by_role("button", name="Go", exact=True).click()
    assert "2017-01-01" in field.evaluate("field => field.validationMessage")
    field.fill("2017-06-01 12:00")
    field.press("Enter")
    expect(field).to_have_count(0)
    wanted = 1496318400000
    chart.page.wait_for_function(
        "time => { const r = __chart.visible(); return r.from < time && time < r.to }", arg=wanted
    )
    chart.page.keyboard.press("End")
    chart.page.wait_for_function("() => __chart.visible().to > 1514581200000")


def test_the_overview_shows_the_whole_and_a_press_on_it_goes_there(chart: ChartPage) -> None:
    box = chart.page.locator("#overview").bounding_box()
    assert box
    chart.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 20)
    chart.page.wait_for_function(
        "() => { const r = __chart.visible(); return r.from < 1500000000000 && r.to > 1497000000000 }"
    )


def test_candles_that_cannot_be_loaded_give_a_card_with_the_cause_and_a_way_out(
    page: Page, shared_server: Server, errors: list[str]
) -> None:
    refused = '{"error": {"code": "storage_failed", "message": "the candle file is gone", "details": {}}}'
    pattern = "**/api/series/*/candles*"

    def refuse(route: Route) -> None:
        route.fulfill(status=507, content_type="application/json", body=refused)

    page.route(pattern, refuse)
    page.goto(shared_server.link)
    card = page.locator(".chart-overlay .card")
    expect(card).to_contain_text("the candle file is gone")
    page.unroute(pattern)
    card.get_by_role("button", name="Try again").click()
    expect(card).to_have_count(0)
    assert ChartPage(page, shared_server).wait_for_candles().stats()["bars"] > 0
    assert any("507" in error for error in errors)
    errors.clear()


def test_a_lapsed_sign_in_is_said_and_the_link_helps(
    context: BrowserContext, chart: ChartPage, errors: list[str]
) -> None:
    context.clear_cookies()
    chart.page.reload()
    expect(chart.page.locator("body")).to_contain_text("link")
    errors.clear()
    chart.open()
    assert chart.stats()["bars"] > 0


def test_themes_and_the_safe_colours_are_kept(chart: ChartPage) -> None:
    chart.page.get_by_role("button", name="Theme").click()
    chart.page.get_by_label("Light", exact=True).check()
    chart.page.get_by_label("Blue up").check()
    chart.page.keyboard.press("Escape")
    chart.reload()
    root = chart.page.locator("html")
    expect(root).to_have_attribute("data-theme", "light")
    expect(root).to_have_attribute("data-palette", "blue-orange")
    assert chart.page.evaluate(PAINTED) > 500


def test_at_every_width_nothing_sticks_out_or_is_cut_off_and_every_button_has_a_name(chart: ChartPage) -> None:
    for width in (1280, 800, 400):
        fits(chart, width)


def fits(chart: ChartPage, width: int) -> None:
    """Look at chart, a dialog and open metrics at a width; leave all closed."""
    chart.page.set_viewport_size({"width": width, "height": 800})
    settled = "width => innerWidth === width && document.scrollingElement.scrollWidth <= width"
    chart.page.wait_for_function(settled, arg=width)
    nameless = """() => [...document.querySelectorAll('button, select, input, a')].filter(e => e.offsetParent &&
      !(e.ariaLabel || e.labels?.length || e.textContent.trim() || e.title)).map(e => e.outerHTML)"""
    assert chart.page.evaluate(nameless) == []
    chart_box = chart.page.locator("#chart").bounding_box()
    assert chart_box
    assert chart_box["width"] >= min(360, width * 0.45)
    chart.page.keyboard.press("Shift+w")
    expect(chart.page.locator("dialog")).to_be_visible()
    cut = """() => [...document.querySelectorAll("dialog *")].filter(e => e.clientWidth &&
      e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === "visible").map(e => e.outerHTML)"""
    assert chart.page.evaluate(cut) == [], "nothing of a dialog is cut off"
    chart.page.keyboard.press("Escape")
    chart.page.keyboard.press("g")
    expect(chart.page.locator("#dock")).to_be_visible()
    height = "name => document.querySelector(name).clientHeight"
    assert chart.page.evaluate(height, "#chart") >= 200, "metrics leave the chart its room"
    assert chart.page.evaluate(height, "#run-bar") <= 100, "two rows of controls at most"
    chart.page.keyboard.press("g")
    expect(chart.page.locator("#dock")).to_be_hidden()


def test_the_read_out_follows_a_mouse_that_rests_while_other_candles_come_under_it(chart: ChartPage) -> None:
    page, readout = chart.page, chart.page.locator("[data-part=readout]")
    last = chart.candle_times(1)[0]
    x = page.evaluate("time => __chart.timeToX(time)", last) - 200
    page.mouse.move(chart.x_of(last) - 200, 250)
    for key in ("PageUp", "PageUp", "PageUp", "Home", "End", "-", "-", "-"):
        before = chart.visible()
        page.keyboard.press(key)
        page.wait_for_function("before => __chart.visible().from !== before", arg=before[0])
        page.wait_for_timeout(300)  # what comes from the server meanwhile
        start, end = (int(edge) for edge in chart.visible())
        times = chart.server.get(f"/api/series/{EURUSD}/candles?encoding=list&from={start}&to={end}")["time"]
        under = page.evaluate(NEAREST, [times, x])
        near = times[under - 1 : under + 2]  # half a pixel decides between two
        said = "|".join(datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M") for time in near)
        expect(readout).to_contain_text(re.compile(said))
    page.mouse.move(5, 5)
    expect(readout).to_contain_text("last closed")


def test_two_fingers_zoom(context: BrowserContext, chart: ChartPage) -> None:
    before = chart.visible()
    session = context.new_cdp_session(chart.page)

    def touch(kind: str, *xs: float) -> None:
        points = [{"x": x, "y": 250, "id": place} for place, x in enumerate(xs)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        chart.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    touch("touchStart", 400, 500)  # at once: a lone finger that rests for a quarter of a second points
    for spread in range(20, 220, 40):
        touch("touchMove", 400 - spread, 500 + spread)
    touch("touchEnd")
    # The gesture is over, its last frame may not be.
    narrower = "most => { const { from, to } = __chart.visible(); return to - from < most }"
    chart.page.wait_for_function(narrower, arg=0.7 * (before[1] - before[0]))


def test_axe_finds_no_serious_fault_and_the_focus_is_never_lost(chart: ChartPage) -> None:
    times = chart.candle_times(40)
    page = chart.page
    page.evaluate(AXE.read_text("utf-8"))
    expect(page.get_by_text("None yet.")).to_be_visible()
    found = {"no annotation": faults(page)}
    chart.draw_span(times[5], times[15])
    page.keyboard.press("j")
    expect(page.locator(".selected h2")).to_be_visible()
    found["annotate"] = faults(page)
    for tab in ("Train", "Data"):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("tabpanel", name=tab)).not_to_be_empty()
        found[tab] = faults(page)
    page.get_by_role("tab", name="Annotate").click()
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    found["light"] = faults(page)
    for key, name in (("?", "Keys"), ("Shift+v", "View"), ("Shift+r", "Replay"), ("Shift+w", "Results")):
        page.locator("body").press(key)
        expect(page.locator("dialog")).to_be_visible()
        found[name] = faults(page)
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).to_have_count(0)
    assert found == {place: [] for place in found}
    page.locator(".annotation-row").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.className") == "annotation-row"
    page.get_by_role("button", name="4h", exact=True).click()
    chart.wait_for_level("4h")
    assert page.evaluate("document.activeElement.textContent") == "4h"
    page.locator(".selected").get_by_role("button", name="Delete").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.className").startswith("chart-canvas")
    page.evaluate("document.querySelector('#toolbar').append(document.createElement('button'))")
    assert any("button-name" in fault for fault in faults(page)), "a button without a name would be found"


def faults(page: Page) -> list[str]:
    """Give what axe finds serious, each with the first element that it is about."""
    found: list[dict[str, Any]] = page.evaluate(
        "() => axe.run(document, { preload: false }).then(({ violations }) => violations)"
    )
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:160]} {each['nodes'][0]['failureSummary'][:200]}"
        for each in found
        if each["impact"] in SERIOUS
    ]
