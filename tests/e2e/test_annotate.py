"""Annotating in the page: what is drawn is what is stored, and nothing that was drawn is lost."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.e2e.chart_page import EURUSD, HOUR, ChartPage, forget_marks
from tests.serving import Server

pytestmark = pytest.mark.e2e

PUTS = "**/api/series/*/annotations/*"
READING_S = 0.25  # a word, for an adult who reads 240 a minute
TOP = "document.querySelector('.annotation-row').getBoundingClientRect().top"


@pytest.fixture
def chart(page: Page, shared_server: Server) -> ChartPage:
    """The opened page, on EUR/USD without annotations."""
    forget_marks(shared_server)
    return ChartPage(page, shared_server).open()


def test_a_dragged_span_covers_exactly_its_candles_and_survives_reload_undo_and_redo(chart: ChartPage) -> None:
    times = chart.candle_times(60)
    chart.draw_span(times[10], times[30])
    (mark,) = chart.marks()
    assert (mark["kind"], mark["label"], mark["author"], mark["revision"]) == ("span", "Long", "me", 1)
    assert (mark["start"], mark["end"]) == (times[10], times[30] + HOUR)
    chart.reload()
    expect(chart.page.locator(".annotation-row")).to_have_count(1)
    expect(chart.undo_button()).to_have_attribute("title", "Undo: draw Long (Ctrl+Z)")
    chart.page.keyboard.press("Control+z")
    expect(chart.page.locator(".annotation-row")).to_have_count(0)
    expect(chart.page.get_by_text("Undone: draw Long")).to_be_visible()
    assert chart.marks() == []
    chart.page.keyboard.press("Control+Shift+z")
    expect(chart.page.locator(".annotation-row")).to_have_count(1)
    assert chart.marks()[0]["start"] == times[10]


def test_a_span_over_the_last_candle_ends_at_its_close(chart: ChartPage) -> None:
    times = chart.candle_times(5)
    chart.page.keyboard.press("2")
    chart.drag(chart.x_of(times[2]), chart.x_of(times[4]) + 20)
    chart.wait_until_saved()
    (mark,) = chart.marks()
    assert (mark["label"], mark["start"], mark["end"]) == ("Short", times[2], times[4] + HOUR)


def test_edges_and_the_whole_span_move_by_drag_and_by_key(chart: ChartPage) -> None:
    times = chart.candle_times(60)
    width = chart.x_of(times[11]) - chart.x_of(times[10])
    chart.draw_span(times[10], times[20])
    chart.page.keyboard.press("v")
    chart.page.mouse.click(chart.x_of(times[15]), 300)
    edge = chart.x_of(times[20]) + width / 2
    chart.drag(edge, edge + 3 * width)
    chart.wait_until_saved()
    assert chart.marks()[0]["end"] == times[23] + HOUR
    chart.page.keyboard.press("Shift+ArrowLeft")
    chart.page.keyboard.press("Control+ArrowRight")
    chart.wait_until_saved()
    assert (chart.marks()[0]["start"], chart.marks()[0]["end"]) == (times[11], times[22] + HOUR)
    chart.drag(chart.x_of(times[15]), chart.x_of(times[17]))
    chart.wait_until_saved()
    assert (chart.marks()[0]["start"], chart.marks()[0]["end"]) == (times[13], times[24] + HOUR)


def test_a_selected_mark_is_relabelled_commented_and_deleted_and_each_can_be_undone(chart: ChartPage) -> None:
    times = chart.candle_times(40)
    chart.draw_span(times[5], times[15])
    chart.page.keyboard.press("j")
    chart.page.keyboard.press("3")
    chart.wait_until_saved()
    assert chart.marks()[0]["label"] == "Range"
    chart.page.keyboard.press("c")
    chart.page.keyboard.type("false break; e1x [no keys here]")
    chart.page.keyboard.press("Escape")
    chart.page.get_by_label("Confidence").select_option("0.75")
    chart.wait_until_saved()
    (mark,) = chart.marks()
    assert (mark["comment"], mark["confidence"], mark["kind"]) == ("false break; e1x [no keys here]", 0.75, "span")
    chart.page.keyboard.press("Delete")
    chart.wait_until_saved()
    assert chart.marks() == []
    for _ in range(3):
        chart.page.keyboard.press("Control+z")
        chart.page.wait_for_timeout(250)
    assert (chart.marks()[0]["label"], chart.marks()[0]["comment"]) == ("Range", "")


def test_points_and_trades_are_stored_with_their_prices(chart: ChartPage) -> None:
    times = chart.candle_times(60)
    tool = chart.page.get_by_role("button", name="Point: click a candle")
    expect(tool).to_have_text("D")
    tool.click()
    chart.page.mouse.click(chart.x_of(times[12]), 250)
    chart.wait_until_saved()
    chart.page.mouse.move(chart.x_of(times[20]), 350)
    chart.page.keyboard.press("e")
    chart.page.mouse.move(chart.x_of(times[35]), 200)
    chart.page.keyboard.press("x")
    chart.wait_until_saved()
    point, trade = chart.marks()
    assert (point["kind"], point["time"]) == ("point", times[12])
    offset = chart.page.locator("#chart").bounding_box()
    assert offset
    y = chart.page.evaluate("price => __chart.priceToY(price)", point["price"])
    assert abs(y + offset["y"] - 250) < 1
    assert (trade["side"], trade["entry"]["time"], trade["exit"]["time"]) == ("long", times[20], times[35])
    assert trade["exit"]["price"] > trade["entry"]["price"]
    assert (trade["stop"], trade["target"]) == (None, None)


def test_a_mark_keeps_its_time_through_other_timeframes_and_sits_in_the_candle_that_holds_it(chart: ChartPage) -> None:
    times = [time for time in chart.candle_times(60) if time // HOUR % 24 == 10]
    chart.page.keyboard.press("d")
    chart.page.mouse.click(chart.x_of(times[0]), 250)
    chart.wait_until_saved()
    before = chart.marks()
    chart.page.get_by_role("button", name="4h", exact=True).click()
    chart.wait_for_level("4h")
    assert chart.x_of(times[0]) == chart.x_of(times[0] - 2 * HOUR), "10:00 stands in the 08:00 candle"
    assert chart.x_of(times[0]) != chart.x_of(times[0] + 2 * HOUR)
    chart.page.get_by_role("button", name="1h", exact=True).click()
    chart.wait_for_level("1h")
    assert chart.marks() == before


def test_twenty_spans_are_drawn_within_three_minutes_by_the_keys_that_the_page_names(chart: ChartPage) -> None:
    read = [chart.page.locator(part) for part in (".tour", ".label-list", ".annotation-rows")]
    for place in (0, 2):
        expect(read[place]).to_contain_text("← → to a candle, [ begins a span, ] ends it")
    expect(read[1].locator(".label-button").nth(1)).to_have_text(re.compile(r"Short\s*2"))
    reading = sum(len(part.inner_text().split()) for part in read) * READING_S
    pressed: list[str] = []
    for place in range(20):
        for key in (str(1 + place % 2), "[", "ArrowRight", "ArrowRight", "]", "ArrowRight"):
            pressed.append(key)
            chart.page.keyboard.press(key)
    chart.wait_until_saved()
    marks = chart.marks()
    assert [mark["label"] for mark in marks] == ["Long", "Short"] * 10
    starts = [mark["start"] for mark in marks]
    assert starts == sorted(set(starts))
    assert all(mark["end"] - mark["start"] >= 3 * HOUR for mark in marks)
    assert reading + len(pressed) <= 180, "reads the first steps, the labels and the hint, then types a key a second"


def test_the_next_unlabelled_stretch_comes_after_what_is_labelled(chart: ChartPage) -> None:
    first = 1483308000000
    body = {"kind": "span", "label": "Noise", "start": first, "end": first + 5000 * HOUR, "revision": 0}
    assert chart.server.call("PUT", f"/api/series/{EURUSD}/annotations/{_uuid(1)}", json=body).status_code == 200
    expect(chart.page.locator(".annotation-row")).to_have_count(1)
    chart.page.keyboard.press("Home")
    chart.page.wait_for_function("() => __chart.visible().from < 1483308000000")
    chart.page.keyboard.press("n")
    chart.page.wait_for_function(
        "time => { const r = __chart.visible(); return r.from < time && time < r.to }", arg=body["end"]
    )


def test_the_list_filters_and_a_click_brings_its_mark_into_view(chart: ChartPage) -> None:
    times = chart.candle_times(60)
    chart.draw_span(times[5], times[8])
    chart.page.keyboard.press("Escape")
    chart.draw_span(times[15], times[18], label_key="2")
    chart.page.get_by_label("Only this label").select_option("Short")
    expect(chart.page.locator(".annotation-row")).to_have_count(1)
    expect(chart.page.get_by_role("heading", name="Annotations (1 of 2)")).to_be_visible()
    chart.page.keyboard.press("Home")
    chart.page.wait_for_function("() => __chart.visible().from < 1483308000000")
    chart.page.locator(".annotation-row").click()
    chart.page.wait_for_function(
        "time => { const r = __chart.visible(); return r.from < time && time < r.to }", arg=times[15]
    )
    expect(chart.page.get_by_role("heading", name="Selected span")).to_be_visible()


def test_without_the_server_marks_wait_in_the_browser_survive_a_reload_and_are_sent_once(
    chart: ChartPage, errors: list[str]
) -> None:
    times = chart.candle_times(60)
    chart.page.route(PUTS, lambda route: route.abort() if route.request.method == "PUT" else route.continue_())
    chart.page.keyboard.press("1")
    chart.drag(chart.x_of(times[5]), chart.x_of(times[8]))
    chart.drag(chart.x_of(times[15]), chart.x_of(times[18]))
    expect(chart.page.locator("#save-state")).to_have_text("2 not saved")
    chart.reload()
    expect(chart.page.locator("#save-state")).to_have_text("2 not saved")
    expect(chart.page.locator(".annotation-row")).to_have_count(2)
    assert chart.marks() == []
    chart.page.unroute(PUTS)
    chart.wait_until_saved()
    assert [mark["revision"] for mark in chart.marks()] == [1, 1]
    errors.clear()


def test_an_edit_of_a_mark_that_someone_changed_is_shown_with_both_versions(
    chart: ChartPage, errors: list[str]
) -> None:
    times = chart.candle_times(60)
    chart.draw_span(times[5], times[15])
    chart.page.route(PUTS, lambda route: route.abort() if route.request.method == "PUT" else route.continue_())
    chart.page.keyboard.press("k")
    chart.page.keyboard.press("3")
    expect(chart.page.locator("#save-state")).to_have_text("1 not saved")
    (mark,) = chart.marks()
    theirs = {**mark, "label": "Noise"}
    path = f"/api/series/{EURUSD}/annotations/{mark['id']}"
    assert chart.server.call("PUT", path, json=theirs, headers={"X-Author": "Ada"}).status_code == 200
    chart.page.get_by_role("tab", name="Train").click()
    chart.page.unroute(PUTS)
    told = chart.page.locator(".toast", has_text="waits for you to settle it")
    expect(told).to_be_visible()
    corner = "toast => { const { left, top } = toast.getBoundingClientRect(); return [left + 8, top + 8] }"
    at = "(toast, [x, y]) => toast.contains(document.elementFromPoint(x, y))"
    assert not told.evaluate(at, told.evaluate(corner)), "the chart below a message can still be drawn on"
    told.get_by_role("button", name="Show").click()
    card = chart.page.locator("#annotate-panel .card")
    expect(card).to_contain_text("Span Range")
    expect(card).to_contain_text("Span Noise")
    expect(card.get_by_role("heading")).to_have_text("Ada changed this annotation too")
    assert chart.marks()[0]["label"] == "Noise", "nothing is overwritten before a person says so"
    card.get_by_role("button", name="Keep mine").click()
    chart.wait_until_saved()
    assert (chart.marks()[0]["label"], chart.marks()[0]["revision"]) == ("Range", 3)
    errors.clear()


def test_what_someone_else_marks_arrives(chart: ChartPage) -> None:
    times = chart.candle_times(20)
    expect(chart.page.get_by_role("heading", name="1 of 4: Label candles")).to_be_visible()
    body = {"kind": "span", "label": "Short", "start": times[3], "end": times[9], "revision": 0, "comment": "from Ada"}
    path = f"/api/series/{EURUSD}/annotations/{_uuid(2)}"
    assert chart.server.call("PUT", path, json=body, headers={"X-Author": "Ada"}).status_code == 200
    rows = chart.page.locator(".annotation-row")
    expect(rows).to_have_count(1)
    expect(chart.page.get_by_role("heading", name="2 of 4: Move through time")).to_be_visible()
    rows.hover()
    chart.page.mouse.down()
    other = {**body, "start": times[12], "end": times[15], "comment": "while a row is pressed"}
    added = f"/api/series/{EURUSD}/annotations/{_uuid(3)}"
    assert chart.server.call("PUT", added, json=other, headers={"X-Author": "Ada"}).status_code == 200
    expect(chart.page.get_by_role("heading", name="Annotations (2)")).to_be_visible()
    chart.page.mouse.up()
    expect(chart.page.locator(".selected")).to_contain_text("Short")
    expect(rows).to_have_count(2)
    for one in (path, added):
        chart.server.call("DELETE", one)
    expect(rows).to_have_count(0)


def test_the_list_keeps_its_place_while_suggestions_are_still_loading(chart: ChartPage) -> None:
    times, page = chart.candle_times(20), chart.page
    chart.draw_span(times[3], times[9], label_key="1")
    held: list[Route] = []
    page.route("**/view/suggesting.js", lambda route: held.append(route))
    with page.expect_request("**/view/suggesting.js"):
        page.reload()
    row = page.locator(".annotation-row")
    expect(page.locator(".label-button")).to_have_count(4)
    expect(row).to_be_visible()
    before = page.evaluate(TOP)
    assert not page.get_by_role("button", name="Suggest", exact=True).count()
    held[0].continue_()
    expect(page.get_by_role("button", name="Suggest", exact=True)).to_be_visible()
    expect(page.get_by_label("Order of asking")).to_contain_text("By chance")
    assert page.evaluate(TOP) == pytest.approx(before, abs=2)


def test_labels_are_added_renamed_and_archived_and_marks_keep_their_class(chart: ChartPage) -> None:
    times = chart.candle_times(60)
    chart.draw_span(times[5], times[10], label_key="4")
    page = chart.page
    page.get_by_role("button", name="Edit labels").click()
    page.get_by_label("Name of Noise").fill("Chop <b>")
    page.get_by_role("button", name="Add a label").click()
    page.get_by_label("Name of the new label").fill("Breakout")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("dialog")).to_have_count(0)
    expect(page.locator(".annotation-row")).to_contain_text("Chop <b>")
    assert chart.marks()[0]["label"] == "Chop <b>"
    chart.draw_span(times[20], times[25], label_key="5")
    assert chart.marks()[1]["label"] == "Breakout"
    page.get_by_role("button", name="Edit labels").click()
    page.locator(".label-row").last.get_by_role("button", name="Archive").click()
    page.get_by_label("Name of Chop <b>").fill("Noise")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".label-button")).to_have_count(4)
    assert [mark["label"] for mark in chart.marks()] == ["Noise", "Breakout"]


def test_a_layer_made_exclusive_in_the_editor_gives_a_candle_one_class_and_leaves_other_layers_alone(
    chart: ChartPage,
) -> None:
    page, times = chart.page, chart.candle_times(60)
    page.get_by_role("button", name="Edit labels").click()
    page.get_by_label("Layer of Noise").fill("weather")
    page.get_by_label("default: one class a candle").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("dialog")).to_have_count(0)
    for first, last, key in ((5, 20, "1"), (10, 30, "4"), (15, 25, "2")):
        chart.draw_span(times[first], times[last], label_key=key)
    found = [(mark["label"], times.index(mark["start"]), times.index(mark["end"])) for mark in chart.marks()]
    assert found == [("Long", 5, 15), ("Noise", 10, 31), ("Short", 15, 26)]
    expect(page.locator(".annotation-row")).to_have_count(3)
    page.get_by_role("button", name="Edit labels").click()
    expect(page.get_by_label("Layer of Noise")).to_have_value("weather")
    page.get_by_label("Layer of Noise").fill("default")
    page.get_by_label("default: one class a candle").uncheck()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("dialog")).to_have_count(0)


def test_a_finger_draws_and_takes_edges_that_it_covers_and_a_second_one_gives_the_drawing_up(
    context: BrowserContext, chart: ChartPage
) -> None:
    times = chart.candle_times(60)
    session = context.new_cdp_session(chart.page)

    def touch(kind: str, *xs: float) -> None:
        points = [{"x": x, "y": 250, "id": place} for place, x in enumerate(xs)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        chart.page.wait_for_timeout(20)

    chart.page.keyboard.press("1")
    start, end = chart.x_of(times[10]), chart.x_of(times[20])
    before = chart.visible()
    touch("touchStart", start)
    touch("touchMove", (start + end) / 2)
    touch("touchMove", end)
    touch("touchEnd")
    chart.wait_until_saved()
    assert [(mark["start"], mark["end"]) for mark in chart.marks()] == [(times[10], times[20] + HOUR)]
    assert chart.visible() == before, "a drawing finger does not pan"
    touch("touchStart", start)
    touch("touchMove", start + 40)
    touch("touchStart", start + 40, end)
    touch("touchEnd")
    touch("touchStart", start)
    touch("touchMove", start + 40)
    touch("touchCancel")
    chart.page.keyboard.press("b")
    touch("touchStart", start)
    session.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": start + 1, "y": 300}]})
    touch("touchEnd")
    expect(chart.page.locator(".toast").last).to_contain_text("ends on another candle")
    (mark,) = chart.marks()
    chart.page.keyboard.press("v")
    touch("touchStart", (start + end) / 2)
    touch("touchEnd")
    expect(chart.page.locator(".selected h2")).to_be_visible()
    width = chart.x_of(times[11]) - start
    beside = end + width / 2 + 12  # as near as a finger comes
    touch("touchStart", beside)
    touch("touchMove", beside + width)
    touch("touchMove", beside + 3 * width)
    touch("touchEnd")
    chart.server.wait_for(lambda: chart.marks()[0]["end"] == times[23] + HOUR)
    assert chart.marks()[0]["start"] == mark["start"]


def test_escape_gives_up_a_drag_and_nothing_is_stored(chart: ChartPage) -> None:
    times = chart.candle_times(60)
    chart.page.keyboard.press("1")
    chart.page.mouse.move(chart.x_of(times[5]), 300)
    chart.page.mouse.down()
    chart.page.mouse.move(chart.x_of(times[15]), 300, steps=4)
    chart.page.keyboard.press("Escape")
    chart.page.mouse.up()
    chart.page.wait_for_timeout(200)
    assert chart.marks() == []
    chart.drag(chart.x_of(times[5]), 2000)
    chart.wait_until_saved()
    assert chart.marks()[0]["end"] == times[-1] + HOUR, "released outside of the plot it is stored whole"


def test_the_help_shows_every_key_that_works(chart: ChartPage) -> None:
    chart.page.keyboard.press("?")
    overlay = chart.page.locator("dialog")
    for text in ("Span tool", "Trade enters here", "Previous unlabelled stretch", "Undo", "Show or hide metrics"):
        expect(overlay).to_contain_text(text)
    chart.page.keyboard.press("Escape")
    expect(overlay).to_have_count(0)


def _uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"
