"""The model in the loop, in the page: draw by keyboard, be suggested the rest, decide by one key each, teach again."""

from __future__ import annotations

import csv
import io
import zipfile
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from nn.dataset_dir import Candles
from nn.few.market import Market
from nn.few.spans import Span
from nn.few.zigzag import zigzag
from tests.e2e.chart_page import EURUSD, HOUR, ChartPage, forget_marks
from tests.serving import Server

pytestmark = pytest.mark.e2e

TURN = 0.8  # slow σ of the swings that the person of this story marks
DRAWN, ACCEPTED, CORRECTED, REJECTED = 20, 10, 3, 3
SCREEN = 260  # candles
LEARNT_MS = 120_000  # a first lesson on a busy machine
ALL_KEYS = {"Long": "1", "Short": "2", "Range": "3"}


@pytest.fixture
def chart(page: Page, shared_server: Server) -> ChartPage:
    """The opened page, on EUR/USD without annotations."""
    forget_marks(shared_server)
    return ChartPage(page, shared_server).open()


def test_twenty_spans_drawn_by_keyboard_teach_the_chart_to_label_itself(chart: ChartPage) -> None:
    times, swings = hidden_swings(chart.server)
    draw_by_keyboard(chart, swings[:DRAWN], times)
    suggest(chart)
    ask_for_each_by_key(chart)
    assert Counter(mark["source"] for mark in chart.marks()) == {
        "human": DRAWN,
        "model_accepted": ACCEPTED,
        "model_corrected": CORRECTED,
    }
    assert {mark["label"] for mark in chart.marks() if mark["source"] == "model_corrected"} == {"Range"}
    retrain_and_look_at_the_log(chart)
    undo_and_redo_the_last_decision(chart)
    the_export_holds_marks_and_no_suggestion(chart)


def hidden_swings(server: Server) -> tuple[np.ndarray[Any, np.dtype[np.int64]], list[Span]]:
    """Give the open times of the first candles and the swings over them, without the two that the beginning cuts."""
    rows = server.get(f"/api/series/{EURUSD}/candles?encoding=list&max_points=5000&from=0&to=1490000000000")
    assert rows["level"] == "1h"
    times = np.array(rows["time"], np.int64)
    prices = [np.array(rows[name], np.float64) for name in ("open", "high", "low", "close")]
    market = Market(Candles(times, prices[0], prices[1], prices[2], prices[3], np.full(len(times), np.nan)))
    return times, zigzag(market, TURN)[2:]


def draw_by_keyboard(chart: ChartPage, swings: list[Span], times: np.ndarray[Any, np.dtype[np.int64]]) -> None:
    """Begin at the first candle, then arm each label and set both edges with the crosshair."""
    keyboard, names = chart.page.keyboard, ("Short", "Long")
    shown = chart.visible()
    keyboard.press("-")  # all that will be drawn fits into one screen
    chart.page.wait_for_function("([from, to]) => __chart.visible().to - __chart.visible().from > to - from", arg=shown)
    keyboard.press("Home")
    chart.page.wait_for_function("time => __chart.visible().from < time", arg=int(times[1]))
    assert chart.visible()[1] > times[swings[-1].end]
    for _ in range(SCREEN):  # the crosshair stands in the middle of the screen; it stops at the first candle
        keyboard.press("ArrowLeft")
    at = 0
    for span in swings:
        keyboard.press(ALL_KEYS[names[span.label]])
        for _ in range(span.start - at):
            keyboard.press("ArrowRight")
        keyboard.press("[")
        for _ in range(span.end - 1 - span.start):
            keyboard.press("ArrowRight")
        keyboard.press("]")
        at = span.end - 1
    keyboard.press("v")
    chart.wait_until_saved()
    drawn = [(mark["label"], mark["start"], mark["end"]) for mark in chart.marks()]
    assert drawn == [(names[s.label], int(times[s.start]), int(times[s.end - 1]) + HOUR) for s in swings]


def suggest(chart: ChartPage) -> None:
    """Ask over the whole series by key, and wait until ghosts are on the chart."""
    chart.page.get_by_label("Suggest over").select_option("series")
    chart.page.locator("#chart").click(position={"x": 200, "y": 60})  # keys are silent in a list
    chart.page.keyboard.press("Shift+S")
    status = chart.page.get_by_role("status", name="Suggesting")
    expect(status).to_contain_text("none of them a mark yet", timeout=LEARNT_MS)
    assert len(chart.marks()) == DRAWN
    assert open_count(chart) > ACCEPTED + CORRECTED + REJECTED


def ask_for_each_by_key(chart: ChartPage) -> None:
    """Accept ten with A, correct three with a label's digit, reject three with R."""
    chart.page.keyboard.press("Home")
    chart.page.keyboard.press("Shift+N")
    chosen = chart.page.get_by_role("button", name="Reject")
    for key, count in (("a", ACCEPTED), (ALL_KEYS["Range"], CORRECTED), ("r", REJECTED)):
        for _ in range(count):
            expect(chosen).to_be_visible()
            left = open_count(chart) - 1
            chart.page.keyboard.press(key)
            chart.server.wait_for(partial(_is_open_count, chart, left))


def retrain_and_look_at_the_log(chart: ChartPage) -> None:
    """Suggest again: the log says how many marks of each source taught, and what an accepted one counts."""
    before = lessons(chart)[0]
    assert before["fates"] == {
        "accepted": ACCEPTED, "corrected": CORRECTED, "rejected": REJECTED, "open": before["fates"]["open"],
    }  # fmt: skip
    chart.page.get_by_text("What was learnt").click()
    chart.page.locator("#chart").click(position={"x": 200, "y": 60})
    chart.page.keyboard.press("Shift+S")
    chart.server.wait_for(lambda: len(lessons(chart)) == 2 and lessons(chart)[0]["learnt"], within_s=120)
    (learnt,) = lessons(chart)[0]["learnt"]
    assert learnt["marks"] == {"human": DRAWN, "model_accepted": ACCEPTED, "model_corrected": CORRECTED}
    assert (learnt["weights"], learnt["rejected"]) == ({"model_accepted": 0.3}, REJECTED)
    log = chart.page.locator(".lesson").first
    expect(log).to_contain_text(
        f"{DRAWN + ACCEPTED + CORRECTED} marks: {DRAWN} drawn, {ACCEPTED} accepted (each counts 0.3), "
        f"{CORRECTED} corrected; {REJECTED} rejected"
    )


def undo_and_redo_the_last_decision(chart: ChartPage) -> None:
    """The last decision was a rejection: undo opens the suggestion again, three more undo a correction."""
    rejected = rejections(chart)
    chart.page.keyboard.press("Control+z")
    expect(chart.page.get_by_text("Undone: reject")).to_be_visible()
    assert rejections(chart) == rejected - 1
    chart.page.keyboard.press("Control+Shift+z")
    expect(chart.page.get_by_text("Redone: reject")).to_be_visible()
    assert rejections(chart) == rejected


def the_export_holds_marks_and_no_suggestion(chart: ChartPage) -> None:
    """A dataset holds what was drawn, accepted and corrected, with its source, and nothing that is only suggested."""
    assert open_count(chart) > 0
    dataset = chart.server.post("/api/datasets", {"series_id": EURUSD, "name": "in the loop"})["dataset"]
    content = chart.server.call("GET", f"/api/datasets/{dataset['id']}/download").content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("labels.csv").decode("utf-8-sig"))))
    assert Counter(row["source"] for row in rows) == Counter(mark["source"] for mark in chart.marks())


def open_count(chart: ChartPage) -> int:
    """Give how many suggestions wait for a decision."""
    return int(chart.server.get(f"/api/series/{EURUSD}/suggestions?limit=1")["count"])


def _is_open_count(chart: ChartPage, count: int) -> bool:
    return open_count(chart) == count


def lessons(chart: ChartPage) -> list[dict[str, Any]]:
    """Give the lessons of the series, the newest first."""
    return list(chart.server.get(f"/api/series/{EURUSD}/lessons")["items"])


def rejections(chart: ChartPage) -> int:
    """Give how many suggestions of every lesson are rejected."""
    return sum(lesson["fates"].get("rejected", 0) for lesson in lessons(chart))
