"""The Data panel: candles in, datasets out, with names that are only data."""

from __future__ import annotations

import csv
import io
import json
import uuid
import zipfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.serving import Server

FILES = {"manifest.json", "candles.arrow", "annotations.jsonl", "labels.csv", "candles.csv", "candles.parquet"}
HOUR_MS = 3_600_000
HEADER = "time,open,high,low,close,volume"
Json = dict[str, Any]


def test_the_exported_dataset_holds_the_three_annotations_and_every_candle(
    shared_server: Server, page: Page, tmp_path: Path
) -> None:
    marks = [put_mark(shared_server, mark) for mark in three_marks(shared_server)]
    open_data_panel(page, shared_server)
    page.get_by_label("Name", exact=True).fill("Three marks")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export dataset").click()
    assert download.value.suggested_filename.startswith("Three-marks-")
    download.value.save_as(tmp_path / "dataset.zip")
    with zipfile.ZipFile(tmp_path / "dataset.zip") as archive:
        assert set(archive.namelist()) == FILES
        lines = archive.read("annotations.jsonl").decode().splitlines()
        candles = list(csv.DictReader(io.StringIO(archive.read("candles.csv").decode())))
    assert {json.loads(line)["id"] for line in lines} == {mark["id"] for mark in marks}
    assert len(candles) == series(shared_server)["candles"]
    row = page.get_by_role("list", name="Datasets").get_by_role("listitem").filter(has_text="Three marks")
    expect(row).to_contain_text("EUR/USD 1h")


def test_a_listed_dataset_downloads_again_and_is_deleted_when_asked_twice(shared_server: Server, page: Page) -> None:
    dataset = shared_server.post("/api/datasets", {"series_id": 1, "name": "Old one"})["dataset"]
    open_data_panel(page, shared_server)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download dataset Old one").click()
    assert download.value.suggested_filename.endswith(".zip")
    page.get_by_role("button", name="Delete dataset Old one").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("button", name="Delete dataset Old one")).to_have_count(0)
    assert shared_server.call("GET", f"/api/datasets/{dataset['id']}").status_code == 404


def test_an_uploaded_file_opens_as_a_series_with_its_report(shared_server: Server, page: Page) -> None:
    open_data_panel(page, shared_server)
    upload(page, "prices.csv", candle_rows("UP/LOAD", 40), symbol="UP/LOAD")
    expect(page.get_by_text("40 candles are stored")).to_be_visible()
    expect(page.locator(".readout")).to_contain_text("UP/LOAD")
    page.get_by_role("button", name="Show the report").click()
    expect(page.get_by_role("dialog")).to_contain_text("UTC")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as JSON").click()
    assert json.loads(download.value.path().read_text())["rows_kept"] == 40
    page.get_by_role("button", name="Close", exact=True).last.click()
    upload(page, "again.csv", candle_rows("UP/LOAD", 40), symbol="")
    expect(page.get_by_text("The same bytes were uploaded before")).to_be_visible()
    assert sum(each["symbol"] == "UP/LOAD" for each in shared_server.get("/api/series")["items"]) == 1


def test_a_dropped_file_is_taken_too(shared_server: Server, page: Page) -> None:
    open_data_panel(page, shared_server)
    page.get_by_role("textbox", name="Symbol", exact=True).fill("DR/OP")
    transfer = page.evaluate_handle(
        """text => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], "dropped.csv", { type: "text/csv" }));
            return transfer;
        }""",
        candle_rows("DR/OP", 30),
    )
    page.get_by_role("region", name="Upload candles").dispatch_event("drop", {"dataTransfer": transfer})
    expect(page.get_by_text("30 candles are stored")).to_be_visible()


def test_a_file_with_a_broken_cell_is_refused_with_line_and_cell_and_nothing_is_stored(
    shared_server: Server, page: Page
) -> None:
    before = shared_server.get("/api/series")["items"]
    open_data_panel(page, shared_server)
    rows = candle_rows("BR/OKEN", 30).splitlines()
    rows[14] = rows[14].replace(rows[14].split(",")[2], "1O1.5", 1)
    upload(page, "broken.csv", "\n".join(rows) + "\n", symbol="BR/OKEN")
    refused = page.get_by_role("alert").filter(has_text="broken.csv was not stored")
    expect(refused).to_contain_text("line 15")
    expect(refused).to_contain_text("1O1.5")
    assert shared_server.get("/api/series")["items"] == before


def test_a_file_without_a_symbol_asks_for_it_with_its_own_name_filled_in(shared_server: Server, page: Page) -> None:
    open_data_panel(page, shared_server)
    upload(page, "ethbtc.csv", candle_rows("", 25), symbol="")
    dialog = page.get_by_role("dialog", name="Import ethbtc.csv")
    expect(dialog.get_by_label("Which symbol is it?")).to_have_value("ETHBTC")
    dialog.get_by_role("button", name="Import").click()
    expect(page.get_by_text("25 candles are stored")).to_be_visible()
    expect(page.locator(".readout")).to_contain_text("ETHBTC")


def test_a_file_that_can_be_read_two_ways_asks_and_takes_the_answer(shared_server: Server, page: Page) -> None:
    open_data_panel(page, shared_server)
    rows = [f"{day:02}/02/2020,{day},{day + 2},{day - 1},{day + 1},5" for day in range(1, 13)]
    upload(page, "dates.csv", "\n".join([HEADER, *rows]) + "\n", symbol="DA/TES")
    dialog = page.get_by_role("dialog", name="Import dates.csv")
    question = dialog.get_by_label("In which order is 01/02/2020 written?")
    expect(question).to_have_value("day_first")
    question.select_option("month_first")
    dialog.get_by_role("button", name="Import").click()
    expect(page.get_by_text("12 candles are stored")).to_be_visible()
    stored = next(each for each in shared_server.get("/api/series")["items"] if each["symbol"] == "DA/TES")
    assert (stored["first"], stored["last"]) == (1_577_923_200_000, 1_606_867_200_000)  # 2 January, 2 December 2020


def test_a_series_is_renamed_deleted_and_brought_back(shared_server: Server, page: Page) -> None:
    open_data_panel(page, shared_server)
    upload(page, "names.csv", candle_rows("NA/ME", 20), symbol="NA/ME")
    page.get_by_role("button", name="Rename NA/ME 1h").click()
    page.get_by_role("dialog").get_by_label("Symbol").fill("<b>NEW</b>")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    listed = page.get_by_role("list", name="Series")
    expect(listed).to_contain_text("<b>NEW</b> 1h")
    page.get_by_role("button", name="Delete <b>NEW</b> 1h").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(listed).not_to_contain_text("NEW")
    page.get_by_role("button", name="Undo", exact=True).last.click()
    expect(listed).to_contain_text("<b>NEW</b> 1h")


def open_data_panel(page: Page, server: Server) -> None:
    page.goto(server.link)
    page.get_by_role("tab", name="Data").click()
    expect(page.get_by_role("button", name="Export dataset")).to_be_enabled()


def upload(page: Page, name: str, text: str, *, symbol: str) -> None:
    page.get_by_role("textbox", name="Symbol", exact=True).fill(symbol)
    payload = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
    page.get_by_label("File of candles").set_input_files(payload)  # type: ignore[arg-type]  # its own FilePayload


def candle_rows(symbol: str, count: int) -> str:
    """Give hourly candles that differ from one symbol to the next."""
    base = 100 + sum(map(ord, symbol)) % 50
    rows = [HEADER]
    for index in range(count):
        low = base + index % 7
        rows.append(f"{1_600_000_000_000 // HOUR_MS * HOUR_MS + index * HOUR_MS},{low + 1},{low + 3},{low},{low + 2},5")
    return "\n".join(rows) + "\n"


def series(server: Server) -> Json:
    found: Json = server.get("/api/series/1")["series"]
    return found


def three_marks(server: Server) -> list[Json]:
    window = server.get("/api/series/1/candles?max_points=100&encoding=list")
    times, closes = window["time"], window["close"]
    point = {"time": times[30], "price": closes[30]}
    trade = {"entry": {"time": times[40], "price": closes[40]}, "exit": {"time": times[50], "price": closes[50]}}
    return [
        {"kind": "span", "label": "Long", "start": times[10], "end": times[20]},
        {"kind": "point", "label": "Short", **point},
        {"kind": "trade", "label": "Long", "side": "long", **trade},
    ]


def put_mark(server: Server, mark: Json) -> Json:
    answer = server.call("PUT", f"/api/series/1/annotations/{uuid.uuid4()}", json={**mark, "revision": 0})
    assert answer.status_code in (200, 201), answer.text
    stored: Json = answer.json()
    return stored
