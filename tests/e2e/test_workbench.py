"""The workbench in the page: every kind of mark, many at once, keys, panes, replay, the tour."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.e2e.chart_page import EURUSD, HOUR, ChartPage, forget_marks
from tests.e2e.conftest import BROWSERS, OPTIONS
from tests.serving import Server

pytestmark = pytest.mark.e2e

PUTS = "**/api/series/*/annotations/*"


@pytest.fixture
def chart(page: Page, shared_server: Server) -> ChartPage:
    """The opened page, on EUR/USD without annotations and without a replay."""
    shared_server.call("DELETE", f"/api/series/{EURUSD}/replay")
    forget_marks(shared_server)
    return ChartPage(page, shared_server).open()


def price_of(chart: ChartPage, time: int, column: str) -> float:
    """Give a price of the candle that opens at a time."""
    answer = chart.server.get(f"/api/series/{EURUSD}/candles?encoding=list&from={time}&to={time + HOUR}")
    return float(answer[column][0])


def test_levels_lines_and_classes_are_drawn_by_mouse_and_by_keyboard(chart: ChartPage) -> None:
    times = chart.candle_times(60)
    page = chart.page
    page.keyboard.press("m")
    page.keyboard.press("l")
    page.mouse.click(chart.x_of(times[12]), 250)
    page.get_by_role("button", name="Trend line").click()
    page.mouse.move(chart.x_of(times[20]), 300)  # Enter is the chart's, not the button's that was clicked
    page.keyboard.press("Enter")
    page.mouse.move(chart.x_of(times[40]), 200)
    page.keyboard.press("Enter")
    page.keyboard.press("y")
    page.keyboard.press("3")
    chart.drag(chart.x_of(times[5]), chart.x_of(times[9]))
    page.keyboard.press("Enter")
    chart.wait_until_saved()
    marks = {mark["kind"] + (":whole" if mark.get("start", 0) is None else ""): mark for mark in chart.marks()}
    assert set(marks) == {"level", "trend_line", "chart_class", "chart_class:whole"}
    level, line = marks["level"], marks["trend_line"]
    four = {price_of(chart, times[12], column) for column in ("open", "high", "low", "close")}
    assert (level["time"], level["until"]) == (times[12], None)
    assert level["price"] in four, "the magnet takes one of the candle's own prices"
    assert (line["start"]["time"], line["end"]["time"], line["extend"]) == (times[20], times[40], "none")
    assert (marks["chart_class"]["start"], marks["chart_class"]["end"]) == (times[5], times[9] + HOUR)
    assert {marks[kind]["label"] for kind in ("chart_class", "chart_class:whole")} == {"Range"}
    chart.reload()
    expect(page.locator(".annotation-row")).to_have_count(4)
    assert {mark["id"] for mark in chart.marks()} == {mark["id"] for mark in marks.values()}


def test_walking_gives_one_candle_after_the_other_its_class(chart: ChartPage) -> None:
    times = chart.candle_times(30)
    page = chart.page
    page.mouse.move(chart.x_of(times[10]), 250)
    page.keyboard.press("w")
    expect(page.locator(".mode-bar").filter(has_text="Walk")).to_be_visible()
    for key in ("ArrowUp", "ArrowRight", "ArrowDown", "4"):
        page.keyboard.press(key)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    chart.wait_until_saved()
    marks = chart.marks()
    assert [(mark["start"], mark["end"]) for mark in marks] == [(time, time + HOUR) for time in times[10:14]]
    assert [mark["label"] for mark in marks] == ["Long", "Range", "Short", "Long"], "a second look changes the class"
    assert marks[3]["revision"] == 2
    page.keyboard.press("Escape")
    expect(page.locator(".mode-bar").filter(has_text="Walk")).to_be_hidden()


def test_many_are_relabelled_copied_and_deleted_as_one_step_of_undo_each(chart: ChartPage) -> None:
    times = chart.candle_times(60)
    page = chart.page
    page.keyboard.press("1")
    for place in (5, 10, 15):
        chart.drag(chart.x_of(times[place]), chart.x_of(times[place + 2]))
    chart.wait_until_saved()
    page.keyboard.press("Control+a")
    expect(page.locator(".selected h2")).to_have_text("3 selected")
    page.keyboard.press("2")
    chart.wait_until_saved()
    assert [mark["label"] for mark in chart.marks()] == ["Short"] * 3
    page.keyboard.press("Control+c")
    page.mouse.move(chart.x_of(times[40]), 250)
    page.keyboard.press("Control+v")
    chart.wait_until_saved()
    assert [mark["start"] for mark in chart.marks()][3:] == [times[40], times[45], times[50]]
    page.get_by_label("Status of all").select_option("draft")
    chart.wait_until_saved()
    assert [mark["status"] for mark in chart.marks()] == ["done"] * 3 + ["draft"] * 3
    page.locator("body").press("Delete")
    expect(page.locator(".annotation-row")).to_have_count(3)
    chart.wait_until_saved()
    for labels in (["Short"] * 6, ["Short"] * 6, ["Short"] * 3, ["Long"] * 3):
        chart.undo_button().click()
        expect(page.locator(".toast").last).to_contain_text("Undone")
        chart.server.wait_for(partial(has_labels, chart, labels))
        expect(page.locator(".annotation-row")).to_have_count(len(labels))
    painted = "count => __chart.stats().spans === count"
    page.wait_for_function(painted, arg=3)
    page.keyboard.press("Home")
    page.wait_for_function(painted, arg=0)
    page.keyboard.press("End")
    page.wait_for_function(painted, arg=3)
    page.keyboard.press("Control+a")
    page.locator("body").press("Delete")
    page.wait_for_function(painted, arg=0)
    chart.wait_until_saved()
    chart.reload()
    expect(page.get_by_text("None yet.")).to_be_visible()
    assert (chart.marks(), chart.stats()["spans"]) == ([], 0)


def has_labels(chart: ChartPage, labels: list[str]) -> bool:
    """Tell whether the server's marks have these labels, in order of time."""
    return [mark["label"] for mark in chart.marks()] == labels


def test_what_is_in_view_is_said_to_be_looked_through_and_that_can_be_undone(chart: ChartPage) -> None:
    page = chart.page
    page.keyboard.press("q")
    expect(page.get_by_text("no mark means that nothing is there")).to_be_visible()
    (item,) = chart.server.get(f"/api/series/{EURUSD}/reviewed")["items"]
    start, end = chart.visible()
    assert item["author"] == "me"
    assert start <= item["start"] < start + HOUR
    assert end - item["end"] >= 0
    page.keyboard.press("Control+z")
    chart.server.wait_for(lambda: chart.server.get(f"/api/series/{EURUSD}/reviewed")["items"] == [])


def test_a_key_can_be_changed_never_means_two_things_and_comes_back(chart: ChartPage) -> None:
    page = chart.page
    page.keyboard.press("?")
    ruler = page.locator("[data-action=tool-ruler]")
    ruler.click()
    page.keyboard.press("v")
    expect(page.locator("dialog .problem")).to_contain_text("already means")
    ruler.click()
    page.keyboard.press("z")
    expect(ruler).to_have_text("Z")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    chart.reload()
    page.keyboard.press("z")
    expect(page.get_by_role("button", name="Ruler")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("?")
    page.get_by_role("button", name="Keys as they were").click()
    expect(page.locator("[data-action=tool-ruler]")).to_have_text("U")


def test_held_keys_input_methods_and_menus_left_by_pointer_draw_and_change_nothing(
    context: BrowserContext, chart: ChartPage
) -> None:
    page, times = chart.page, chart.candle_times(60)
    devtools = context.new_cdp_session(page)

    def hold(key: str, code: str) -> None:
        for again in (False, True, True, True):
            press = {"type": "keyDown", "key": key, "code": code, "text": key, "autoRepeat": again}
            devtools.send("Input.dispatchKeyEvent", press)
        devtools.send("Input.dispatchKeyEvent", {"type": "keyUp", "key": key, "code": code})

    for place, key, code in ((20, "[", "BracketLeft"), (25, "ъ", "BracketRight")):
        page.mouse.move(chart.x_of(times[place]), 250)
        hold(key, code)
    chart.wait_until_saved()
    expect(page.locator(".toast")).to_have_count(0)
    page.keyboard.press("j")
    page.keyboard.press("c")
    devtools.send("Input.imeSetComposition", {"text": "ads", "selectionStart": 3, "selectionEnd": 3})
    devtools.send("Input.insertText", {"text": "日本"})
    page.keyboard.press("Escape")
    zone = page.get_by_label("Time zone of the axis")
    zone.click()
    zone.select_option("Asia/Tokyo")
    page.keyboard.press("e")
    expect(zone).to_have_value("Asia/Tokyo")
    chart.wait_until_saved()
    (mark,) = chart.marks()
    assert (mark["start"], mark["end"]) == (times[20], times[25] + HOUR)
    assert (mark["comment"], mark["kind"]) == ("日本", "span")


def test_panes_share_time_crosshair_and_marks_and_come_back(chart: ChartPage) -> None:
    page = chart.page
    page.keyboard.press("Shift+v")
    page.get_by_label("Add an indicator").select_option("atr")
    page.get_by_role("button", name=re.compile("Remove")).press("Enter")
    expect(page.locator("dialog :focus")).to_have_count(1)
    page.get_by_label("Add an indicator").select_option("rsi")
    page.get_by_role("button", name="2 panes").click()
    page.keyboard.press("Escape")
    pane = page.locator(".chart-pane")
    expect(pane.get_by_label("Timeframe of this pane")).to_have_value("2h")
    pane.get_by_label("Timeframe of this pane").select_option("4h")
    box = pane.bounding_box()
    assert box
    page.wait_for_timeout(400)
    page.keyboard.press("1")
    chart.drag(box["x"] + box["width"] * 0.3, box["x"] + box["width"] * 0.6, y=box["y"] + 200)
    chart.wait_until_saved()
    (mark,) = chart.marks()
    assert mark["start"] % (4 * HOUR) == mark["end"] % (4 * HOUR) == 0, "a span drawn in a pane snaps to its candles"
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 200)
    readout = page.locator("[data-part=readout]")
    expect(readout).to_contain_text("EUR/USD")
    with page.expect_response("**/indicators?*") as answered:
        chart.reload()
        expect(page.locator(".chart-pane").get_by_label("Timeframe of this pane")).to_have_value("4h")
    assert "names=rsi%3A14" in answered.value.url
    assert answered.value.json()["items"][0]["pane"] == "own"


def test_a_replay_hides_what_comes_later_and_its_marks_say_so(chart: ChartPage, errors: list[str]) -> None:
    page, start = chart.page, 1_496_318_400_000  # 2017-06-01 12:00
    bodies: list[str] = []
    page.get_by_role("button", name="Replay", exact=True).click()
    page.get_by_label("Start at").fill("2017-06-01 12:00")
    page.get_by_label("Start at").press("Enter")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_focused()
    page.mouse.move(5, 5)  # off the chart: the read-out tells the last candle
    bar = page.locator(".replay-bar")
    expect(bar).to_contain_text("2017-06-01 12:00")
    readout = page.locator("[data-part=readout]")
    expect(readout).to_contain_text("2017-06-01 11:00")
    page.on("response", lambda answer: bodies.append(answer.url) if "/candles" in answer.url else None)
    for hour in ("12:00", "13:00", "14:00"):
        page.keyboard.press(".")
        expect(readout).to_contain_text(f"2017-06-01 {hour}")
    chart.draw_span(start, start + HOUR)
    (mark,) = chart.marks()
    assert (mark["mode"], mark["decided_at"]) == ("replay", start + 3 * HOUR)
    page.mouse.move(5, 5)
    page.keyboard.press(",")
    expect(readout).to_contain_text("2017-06-01 13:00")
    page.keyboard.press("w")
    boxes = [page.locator(".mode-bar").filter(has_text=name).bounding_box() for name in ("Walk", "Replay")]
    assert boxes[0]
    assert boxes[1]
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"], "two bars never cover each other"
    page.keyboard.press("Escape")
    page.get_by_label("Candles a second").select_option("60")
    page.get_by_role("button", name="Select and move").click()
    page.keyboard.press("Space")
    expect(bar).not_to_contain_text("2017-06-01")
    page.keyboard.press("Space")
    assert bodies
    chart.reload()
    expect(bar).to_be_visible()
    with page.expect_response(lambda answer: "/candles?" in answer.url):  # asked for once the whole series is known
        page.get_by_role("button", name="End replay").click()
    page.mouse.move(5, 5)
    expect(bar).to_be_hidden()
    page.wait_for_function("() => __chart.stats().bars > 0 && __chart.visible() !== null")
    page.keyboard.press("End")
    expect(readout).to_contain_text("2017-12-29 21:00")
    replay_somewhere_without_prices(chart)
    errors.clear()  # what may not speak under a replay is refused, and the browser notes it


def replay_somewhere_without_prices(chart: ChartPage) -> None:
    """Start at a random time with the prices hidden, look for a price, show them, end it."""
    page = chart.page
    readout, axis = page.locator("[data-part=readout]"), "() => document.querySelector('#chart canvas').clientWidth"
    with_prices = page.evaluate(axis)
    page.keyboard.press("Shift+r")
    page.get_by_role("button", name="At a random time, prices hidden").click()
    expect(page.locator(".replay-bar")).to_be_visible()
    expect(readout).not_to_contain_text("2017-12-29 21:00")
    page.mouse.move(300, 300)
    expect(readout).to_contain_text("2017-")
    expect(readout).not_to_contain_text("C 1.")
    page.keyboard.press("b")
    chart.drag(300, 400, to_y=250)
    chart.wait_until_saved()
    page.locator(".annotation-row[title^=Trade]").click()
    selected = page.locator(".selected")
    expect(selected).to_contain_text("at … to")
    expect(selected.get_by_label("Stop")).to_have_count(0)
    page.wait_for_function(f"before => ({axis})() > before", arg=with_prices)  # the axis with its numbers is gone
    replay = chart.server.get(f"/api/series/{EURUSD}/replay")["replay"]
    assert (replay["random"], replay["hide_price"]) == (True, True)
    card = page.locator("#annotate-panel .card")
    another_tab_relabels_while_it_is_edited(chart)
    expect(card).to_contain_text("You changed this annotation elsewhere too")
    expect(card).to_contain_text("at … to")
    page.get_by_role("button", name="Show prices").click()
    expect(card).to_contain_text("at 1.")
    card.get_by_role("button", name="Take the stored one").click()
    expect(selected).to_contain_text("at 1.")
    page.mouse.move(300, 300)
    expect(readout).to_contain_text("C 1.")
    page.get_by_role("button", name="End replay").click()
    expect(page.locator(".replay-bar")).to_be_hidden()


def another_tab_relabels_while_it_is_edited(chart: ChartPage) -> None:
    """Have another tab of the same person change the one trade before this page's change of it is stored."""
    chart.page.route(PUTS, lambda route: route.abort())
    chart.page.keyboard.press("3")
    expect(chart.page.locator("#save-state")).to_have_text("1 not saved")
    (mark,) = (each for each in chart.marks() if each["kind"] == "trade")
    path = f"/api/series/{EURUSD}/annotations/{mark['id']}"
    assert chart.server.call("PUT", path, json={**mark, "label": "Noise"}).status_code == 200
    chart.page.unroute(PUTS)


def test_trades_show_what_they_came_to_and_two_people_how_far_they_agree(chart: ChartPage, errors: list[str]) -> None:
    page, times = chart.page, chart.candle_times(60)
    path = f"/api/series/{EURUSD}/annotations/00000000-0000-4000-8000-000000000071"
    theirs = {"kind": "span", "label": "Short", "start": times[5], "end": times[15], "revision": 0}
    assert chart.server.call("PUT", path, json=theirs, headers={"X-Author": "Ada"}).status_code == 200
    chart.draw_span(times[6], times[15], label_key="2")
    page.keyboard.press("b")
    chart.drag(chart.x_of(times[20]), chart.x_of(times[30]))
    chart.wait_until_saved()
    (result,) = chart.server.get(f"/api/series/{EURUSD}/worth")["items"]
    assert result["entry"]["price"] == price_of(chart, times[21], "open"), "filled at the open after the decision"
    gained = f"{'+' if result['return'] >= 0 else '−'}{abs(result['return']):.2%}"
    page.locator(".annotation-row[title^=Trade]").click()
    expect(page.locator(".selected")).to_contain_text(f"{gained} after costs")
    judged = {"verdict": "accept", "comment": "clean"}
    path = f"/api/series/{EURUSD}/annotations/{result['id']}/review"
    assert chart.server.call("PUT", path, json=judged, headers={"X-Author": "Ada"}).status_code == 200
    expect(page.locator(".selected")).to_contain_text("accepted by Ada: clean")
    page.locator("body").press("Shift+w")
    expect(page.get_by_role("table", name="Totals of trades")).to_contain_text(gained)
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("table", name="Agreement of me and Ada").get_by_role("row", name="Spans")).to_contain_text(
        "F1 1.00"
    )
    expect(page.locator(".annotation-row")).to_have_count(3)
    page.get_by_role("button", name="Hide what others marked").click()
    expect(page.locator(".annotation-row")).to_have_count(2)
    page.keyboard.press("Escape")
    blind = page.get_by_role("group", name="Blind pass")
    expect(blind).to_contain_text("what others marked is hidden")
    page.locator("body").press("Shift+w")
    page.get_by_role("button", name="End the blind pass").click()
    expect(blind).to_be_hidden()
    expect(page.get_by_role("button", name="Compare")).to_be_enabled()
    expect(page.locator(".annotation-row")).to_have_count(3)
    errors.clear()  # suggestions are refused in a blind pass, and the browser notes it
    page.keyboard.press("Escape")
    page.locator(".annotation-row[title*=Span]").first.click()
    page.get_by_role("button", name="Accept", exact=True).click()
    expect(page.locator(".selected")).to_contain_text("accepted by me")
    (reviewed,) = [mark for mark in chart.marks() if mark["author"] == "Ada"]
    assert (reviewed["review"]["verdict"], reviewed["review"]["by"], reviewed["revision"]) == ("accept", "me", 1)
    hears_as_another_author(chart, blind)
    errors.clear()


def hears_as_another_author(chart: ChartPage, blind: Locator) -> None:
    """Change the name on the page; what the server tells from then on is told to that name."""
    page, path = chart.page, f"/api/series/{EURUSD}/blind"
    page.get_by_role("button", name="me", exact=True).click()
    page.get_by_label("Name on your annotations").fill("Cleo")
    page.get_by_label("Name on your annotations").press("Enter")
    expect(page.get_by_role("button", name="Cleo", exact=True)).to_be_visible()
    chart.server.call("POST", path, json={"hides": "all"}, headers={"X-Author": "Cleo"})
    expect(blind).to_be_visible()
    expect(page.locator(".annotation-row")).to_have_count(0)
    chart.server.call("DELETE", path, headers={"X-Author": "Cleo"})
    expect(blind).to_be_hidden()
    expect(page.locator(".annotation-row")).to_have_count(3)


def test_signed_out_marks_wait_and_are_sent_once_after_the_link_is_opened_again(
    context: BrowserContext, chart: ChartPage, errors: list[str]
) -> None:
    times = chart.candle_times(60)
    context.clear_cookies()
    chart.page.keyboard.press("1")
    for place in (5, 15, 25):
        chart.drag(chart.x_of(times[place]), chart.x_of(times[place + 3]))
    badge = chart.page.locator("#save-state")
    expect(badge).to_have_text("3 not saved")
    expect(badge).to_have_attribute("title", "signed out; open the server's link again")
    chart.open()
    chart.wait_until_saved()
    assert [mark["revision"] for mark in chart.marks()] == [1, 1, 1]
    errors.clear()


def test_the_tour_comes_once_and_never_again(browser: Browser, shared_server: Server) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    chart = ChartPage(context.new_page(), shared_server).open()
    tour = chart.page.locator(".tour")
    for step in (1, 2, 3, 4):
        expect(tour).to_contain_text(f"{step} of 4")
        tour.get_by_role("button").first.click()
    expect(tour).to_have_count(0)
    expect(chart.page.get_by_role("application").first).to_be_focused()
    chart.reload()
    expect(chart.page.locator("#link-state")).to_have_text("● connected")
    expect(tour).to_have_count(0)
    context.close()


def test_twenty_marks_survive_a_killed_browser(browser: Browser, shared_server: Server, tmp_path: Path) -> None:
    forget_marks(shared_server)
    process, address = _start_browser(tmp_path / "profile", shared_server)
    try:
        connected = browser.browser_type.connect_over_cdp(address)
        page = connected.contexts[0].new_page()
        page.set_viewport_size({"width": 1280, "height": 800})
        chart = ChartPage(page, shared_server).open()
        times = chart.candle_times(90)
        page.keyboard.press("1")
        for place in range(20):
            chart.drag(chart.x_of(times[4 * place]), chart.x_of(times[4 * place + 2]))
        chart.wait_until_saved()
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
    assert [mark["revision"] for mark in chart.marks()] == [1] * 20


def _start_browser(profile: Path, server: Server) -> tuple[subprocess.Popen[bytes], str]:
    """Start a Chromium that is ours to kill; give the address that it is driven by."""
    path = next(filter(None, map(shutil.which, BROWSERS)))
    process = subprocess.Popen(
        [path, *OPTIONS, "--headless", "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    told = profile / "DevToolsActivePort"
    server.wait_for(lambda: told.exists() and len(told.read_text().splitlines()) > 1)
    return process, f"http://127.0.0.1:{told.read_text().splitlines()[0]}"
