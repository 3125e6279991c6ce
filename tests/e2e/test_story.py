"""The whole job as one story: candles, annotations, load, train, go live, export; each number is the stored one."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chart_page import EURUSD, HOUR, ChartPage
from tests.serving import Server

pytestmark = pytest.mark.e2e

LIVE_CANDLES = 50
Json = dict[str, Any]


def test_a_person_does_the_whole_job_and_every_number_is_the_stored_one(
    server: Server, page: Page, tmp_path: Path
) -> None:
    chart = ChartPage(page, server).open()
    marks = _annotate(chart)
    batch = _train(chart)
    live = _go_live(chart)
    for run_id in (batch, live):
        assert _page_events(page, run_id) == server.events(run_id)
    _check_export(_export(page, tmp_path), marks)


def _annotate(chart: ChartPage) -> list[Json]:
    """Draw a span, a point and a trade; reload; undo and redo the last; give the stored marks."""
    times = chart.candle_times(70)
    chart.draw_span(times[10], times[30])
    chart.page.keyboard.press("d")
    chart.page.mouse.click(chart.x_of(times[40]), 250)
    chart.wait_until_saved()
    chart.page.mouse.move(chart.x_of(times[45]), 350)
    chart.page.keyboard.press("e")
    chart.page.mouse.move(chart.x_of(times[60]), 200)
    chart.page.keyboard.press("x")
    chart.wait_until_saved()
    chart.reload()
    rows = chart.page.locator(".annotation-row")
    expect(rows).to_have_count(3)
    chart.page.keyboard.press("Control+z")
    expect(rows).to_have_count(2)
    chart.page.keyboard.press("Control+Shift+z")
    expect(rows).to_have_count(3)
    marks = chart.marks()
    assert [mark["kind"] for mark in marks] == ["span", "point", "trade"]
    assert (marks[0]["start"], marks[0]["end"]) == (times[10], times[30] + HOUR)
    return marks


def _train(chart: ChartPage) -> int:
    """Load a Transformer with the default settings, train two epochs, and check what the page says of them."""
    page, server = chart.page, chart.server
    page.get_by_role("button", name="Load Transformer").click()
    page.get_by_role("tab", name="Train").click()
    expect(page.locator(".model-card")).to_contain_text("Transformer is loaded", timeout=60_000)
    page.locator("#train-batch-epochs").fill("2")
    page.locator("#train-batch-epochs").blur()
    page.get_by_role("button", name="Start batch training").click()
    run = server.wait_for(lambda: _newest(server, "batch"))
    assert (run["config"]["epochs"], run["config"]["model"], run["config"]["sequence_length"]) == (
        2,
        "transformer",
        200,
    )
    server.wait_for_state(run["id"], "finished", within_s=120)
    epochs = [event for event in server.events(run["id"]) if event["type"] == "epoch_done"]
    rows = page.locator("table.epochs tbody tr")
    expect(rows).to_have_count(2, timeout=30_000)
    for row, epoch in zip(rows.all(), reversed(epochs), strict=True):
        for part in ("train", "validation"):
            expect(row).to_contain_text(f"{epoch[part]['candle_accuracy'] * 100:.1f}%")
    return int(run["id"])


def _go_live(chart: ChartPage) -> int:
    """Start live training, let it live through candles, stop it, and check that each was scored and learnt once."""
    page, server = chart.page, chart.server
    page.get_by_label("Replay speed").select_option("60")
    page.get_by_role("button", name="Start live training").click()
    run_id = int(server.wait_for(lambda: _newest(server, "live"))["id"])
    server.wait_for(lambda: len(_of(server, run_id, "candle_scored")) >= LIVE_CANDLES, within_s=120)
    page.get_by_role("button", name="Stop").click()
    server.wait_for_state(run_id, "stopped")
    times = [event["candle_time"] for event in _of(server, run_id, "candle_scored")]
    learnt = [event["candle_time"] for event in _of(server, run_id, "candle_learnt")]
    assert times == sorted(set(times))
    assert learnt == times[: len(learnt)]
    assert len(learnt) > LIVE_CANDLES - 4 - 4
    return run_id


def _export(page: Page, folder: Path) -> Path:
    page.get_by_role("tab", name="Data").click()
    with page.expect_download(timeout=60_000) as download:
        page.get_by_role("button", name="Export dataset").click()
    path = folder / "export.zip"
    download.value.save_as(path)
    return path


def _check_export(path: Path, marks: list[Json]) -> None:
    with zipfile.ZipFile(path) as archive:
        assert sorted(archive.namelist()) == [
            "annotations.jsonl",
            "candles.arrow",
            "candles.csv",
            "candles.parquet",
            "labels.csv",
            "manifest.json",
        ]
        lines = [json.loads(line) for line in archive.read("annotations.jsonl").decode().splitlines()]
        labels = list(csv.DictReader(io.StringIO(archive.read("labels.csv").decode())))
        candles = list(csv.DictReader(io.StringIO(archive.read("candles.csv").decode())))
    assert {line["id"] for line in lines} == {mark["id"] for mark in marks} == {row["label_id"] for row in labels}
    inside = [row for row in candles if marks[0]["start"] <= int(row["time_ms"]) < marks[0]["end"]]
    assert len(inside) == 21
    assert {row["label__default"] for row in inside} == {"Long"}
    assert len(candles) == 6225


def _newest(server: Server, mode: str) -> Json | None:
    runs = [run for run in server.get(f"/api/runs?series_id={EURUSD}")["items"] if run["mode"] == mode]
    return runs[0] if runs else None


def _of(server: Server, run_id: int, kind: str) -> list[Json]:
    return [event for event in server.events(run_id) if event["type"] == kind]


def _page_events(page: Page, run_id: int) -> list[Json]:
    events: list[Json] = page.evaluate(f"annotate.events({run_id})")
    return events
