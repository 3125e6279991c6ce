"""The Data panel: versions with a preview, formats that say what they lose, and marks that go out and come in again."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.e2e.test_export import open_data_panel, put_mark, series, three_marks
from tests.serving import Server

Json = dict[str, Any]


def test_exported_wiped_and_imported_marks_stand_in_the_same_places(server: Server, page: Page, tmp_path: Path) -> None:
    marks = sorted((put_mark(server, mark) for mark in three_marks(server)), key=lambda mark: str(mark["id"]))
    open_data_panel(page, server)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export dataset").click()
    download.value.save_as(tmp_path / "dataset.zip")
    wipe(server)
    page.get_by_label("File of annotations").set_input_files(tmp_path / "dataset.zip")
    dialog = page.get_by_role("dialog", name="Import dataset.zip")
    expect(dialog).to_contain_text("New marks")
    assert stored(server) == []
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("3 annotations of dataset.zip are stored")).to_be_visible()
    assert sorted(stored(server), key=lambda mark: str(mark["id"])) == marks
    page.get_by_role("tab", name="Annotate").click()
    expect(page.locator("#annotate-panel").get_by_role("listitem").filter(has_text="Long").first).to_be_visible()
    page.get_by_role("button", name="Undo", exact=True).first.click()
    wait_for_marks(server, 0)


def test_a_workspace_exported_and_wiped_comes_back_with_its_marks(server: Server, page: Page, tmp_path: Path) -> None:
    marks = [put_mark(server, mark) for mark in three_marks(server)]
    open_data_panel(page, server)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export workspace").click()
    download.value.save_as(tmp_path / "workspace.zip")
    wipe(server)
    page.get_by_label("File of a workspace").set_input_files(tmp_path / "workspace.zip")
    dialog = page.get_by_role("dialog", name="workspace.zip is imported")
    expect(dialog).to_contain_text("EUR/USD 1h: known, 3 annotations came")
    assert {mark["id"] for mark in stored(server)} == {mark["id"] for mark in marks}
    with zipfile.ZipFile(tmp_path / "workspace.zip") as archive:
        views = json.loads(archive.read("workspace.json"))["views"]
    assert views["zone"] == "UTC"


def test_a_version_is_previewed_made_with_a_split_and_compared(shared_server: Server, page: Page) -> None:
    open_data_panel(page, shared_server)
    page.get_by_label("Name", exact=True).fill("Previewed")
    page.get_by_role("button", name="Preview and options").click()
    dialog = page.get_by_role("dialog", name="New dataset of EUR/USD 1h")
    expect(dialog.get_by_label("Warnings")).to_contain_text("no marks: the label head has nothing to learn")
    dialog.get_by_label("Split").fill("80/10/10")
    rows = series(shared_server)["candles"]
    expect(dialog).to_contain_text(f"train {round(rows * 0.8) - 5:,} candles")
    dialog.get_by_label("Note").fill("before the news")
    dialog.get_by_role("button", name="Make dataset").click()
    row = row_of(page, "Previewed")
    expect(row).to_contain_text("before the news")
    put_mark(shared_server, three_marks(shared_server)[0])
    row.get_by_role("button", name="Compare dataset Previewed").click()
    expect(page.get_by_role("list", name="Changes")).to_contain_text("1 mark added")


def test_a_format_says_what_it_loses_before_it_downloads(shared_server: Server, page: Page, tmp_path: Path) -> None:
    for mark in three_marks(shared_server):
        put_mark(shared_server, mark)
    dataset = shared_server.post("/api/datasets", {"series_id": 1, "name": "For others"})["dataset"]
    open_data_panel(page, shared_server)
    row_of(page, "For others").get_by_role("button", name="Formats of dataset For others").click()
    dialog = page.get_by_role("dialog", name="Export For others")
    expect(dialog).to_contain_text("This format holds everything.")
    dialog.get_by_label("Format").select_option("trainset")
    expect(dialog.get_by_label("What is lost")).to_contain_text("1 marks of kind trade")
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Export", exact=True).click()
    download.value.save_as(tmp_path / "trainset.zip")
    with zipfile.ZipFile(io.BytesIO((tmp_path / "trainset.zip").read_bytes())) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert (manifest["hash"], manifest["export"]["format"]) == (dataset["hash"], "trainset")


def test_a_table_is_previewed_its_zone_changed_and_its_open_question_answered(
    shared_server: Server, page: Page, errors: list[str]
) -> None:
    open_data_panel(page, shared_server)
    wipe(shared_server)
    text = "Beginn;Ende;Label\r\n01.03.2017 10:00;13.03.2017 20:00;Größe\r\n"
    payload = {"name": "local.csv", "mimeType": "text/csv", "buffer": text.encode("cp1252")}
    page.get_by_label("File of annotations").set_input_files(payload)  # type: ignore[arg-type]  # its own FilePayload
    dialog = page.get_by_role("dialog", name="Import local.csv")
    expect(dialog.get_by_label("Which column holds the end?")).to_have_value("Ende")
    first = dialog.get_by_role("table", name="First marks")
    expect(first).to_contain_text("2017-03-01 10:00 – 2017-03-13 20:00")
    dialog.get_by_text("How the file is read").click()
    zone = dialog.get_by_label("In which time zone are the times?")
    zone.fill("Europe/Berlin")
    zone.press("Tab")
    expect(first).to_contain_text("2017-03-01 09:00 – 2017-03-13 19:00")
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("1 annotations of local.csv are stored")).to_be_visible()
    (mark,) = stored(shared_server)
    assert (mark["label"], mark["start"], mark["end"]) == ("Größe", 1_488_358_800_000, 1_489_431_600_000)
    errors.clear()  # the browser itself notes the 422 that asks


def test_the_report_opens_without_a_network(shared_server: Server, page: Page, tmp_path: Path) -> None:
    for mark in three_marks(shared_server):
        put_mark(shared_server, mark)
    dataset = shared_server.post("/api/datasets", {"series_id": 1, "name": "Report"})["dataset"]
    answer = shared_server.call("GET", f"/api/datasets/{dataset['id']}/download?format=report")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        (tmp_path / "report.html").write_bytes(archive.read("report.html"))
    page.context.set_offline(True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "report.html").as_uri())
    expect(page.locator("#candles .main-svg").first).to_be_visible()
    expect(page.get_by_role("heading", name="EUR/USD 1h")).to_be_visible()
    page.emulate_media(color_scheme="dark")
    expect(page.locator("#candles .xtick text").first).to_have_css("fill", "rgb(228, 232, 239)")
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def row_of(page: Page, name: str) -> Locator:
    return page.get_by_role("list", name="Datasets").get_by_role("listitem").filter(has_text=name)


def stored(server: Server) -> list[Json]:
    found: list[Json] = server.get("/api/series/1/annotations")["items"]
    return found


def wipe(server: Server) -> None:
    for mark in stored(server):
        assert server.call("DELETE", f"/api/series/1/annotations/{mark['id']}").status_code == 200


def wait_for_marks(server: Server, count: int) -> None:
    server.wait_for(lambda: len(stored(server)) == count, within_s=20)
