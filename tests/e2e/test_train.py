"""Batch training as a person does it in the page, its numbers held against the stored events."""

from __future__ import annotations

import os
import re
import signal
import struct
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.test_chart import AXE, faults
from tests.serving import Server

WAIT_MS = 60_000
SMALL = {"sequence_length": "32", "d_model": "16", "n_layers": "1", "n_heads": "2"}
Json = dict[str, Any]


def test_load_says_which_weights_why_and_what_they_need(shared_server: Server, page: Page) -> None:
    open_train_panel(page, shared_server)
    page.get_by_role("button", name="Load Transformer").click()
    card = page.locator(".model-card")
    expect(card).to_contain_text("Transformer is loaded", timeout=WAIT_MS)
    loaded = stored(shared_server, newest_run(shared_server), "model_loaded")[0]
    expect(card).to_contain_text(loaded["reason"])
    expect(card).to_contain_text(f"{loaded['parameters']:,}")
    expect(card).to_contain_text(loaded["device_reason"])
    expect(card).to_contain_text(loaded["memory"])


def test_the_button_names_the_picked_model(shared_server: Server, page: Page) -> None:
    open_train_panel(page, shared_server)
    page.get_by_label("Model", exact=True).select_option("gru")
    expect(page.get_by_role("button", name="Load GRU")).to_be_enabled()
    page.reload()
    expect(page.get_by_role("button", name="Load GRU")).to_be_visible()


def test_two_epochs_show_the_stored_figures_lines_and_verdict(shared_server: Server, page: Page) -> None:
    open_train_panel(page, shared_server)
    run_id = train(page, shared_server, epochs=2)
    shared_server.wait_for_state(run_id, "finished")
    epochs = stored(shared_server, run_id, "epoch_done")
    rows = page.locator("table.epochs tbody tr")
    expect(rows).to_have_count(2, timeout=WAIT_MS)
    for row, epoch in zip(rows.all(), reversed(epochs), strict=True):
        expect(row).to_contain_text(percent(epoch["train"]["candle_accuracy"]))
        expect(row).to_contain_text(percent(epoch["validation"]["trend_accuracy"]))
    detail = page.get_by_role("table", name="Validation, epoch 2")
    last = epochs[-1]["validation"]
    assert cells(detail, "Accuracy")[:2] == [percent(last["heads"][head]["accuracy"]) for head in ("candle", "trend")]
    majority = [percent(last["baselines"][head]["majority"]["accuracy"]) for head in ("candle", "trend")]
    assert cells(detail, "Majority")[:2] == majority
    expect(page.locator(".verdict")).to_have_text(epochs[-1]["verdict"])
    page.set_viewport_size({"width": 800, "height": 700})
    cut_off = "tables => tables.filter(t => t.scrollWidth > t.closest('section').clientWidth + 1).length"
    assert page.locator("table.figures").evaluate_all(cut_off) == 0, "no column is cut off beside a narrow chart"
    assert page_events(page, run_id) == shared_server.events(run_id)


def test_the_log_holds_the_printed_lines_letter_for_letter(shared_server: Server, page: Page, tmp_path: Path) -> None:
    open_train_panel(page, shared_server)
    run_id = train(page, shared_server, epochs=1)
    shared_server.wait_for_state(run_id, "finished")
    open_dock(page)
    page.get_by_role("tab", name="Log").click()
    lines = [event["line"] for event in shared_server.events(run_id) if event["line"]]
    assert re.fullmatch(r"Batch 1/\d+, Loss: \d+\.\d{3}, Candle Acc: \d+\.\d%, Trend Acc: \d+\.\d%", lines[0])
    expect(page.locator(".log-lines")).to_contain_text(lines[-1], timeout=WAIT_MS)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click()
    download.value.save_as(tmp_path / "run.log")
    assert (tmp_path / "run.log").read_text("utf-8") == "".join(f"{line}\n" for line in lines)


def test_metrics_draw_every_stored_batch_beside_the_baselines_and_hide_in_a_blind_pass(
    shared_server: Server, page: Page, errors: list[str]
) -> None:
    open_train_panel(page, shared_server)
    run_id = train(page, shared_server, epochs=1)
    shared_server.wait_for_state(run_id, "finished")
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    open_dock(page)
    figure = page.locator("[data-figure=candle_accuracy]")
    expect(figure.locator(".scatterlayer .trace").first).to_be_attached(timeout=WAIT_MS)
    assert any(url.endswith("/plotly.min.js") for url in requested)
    batches = stored(shared_server, run_id, "batch_done")
    drawn = figure.evaluate("node => node.data.map(trace => [trace.name, trace.y])")
    assert drawn[0] == ["batch", [event["candle_accuracy"] for event in batches]]
    assert {"majority (validation)", "persistence (validation)", "logistic (validation)"} <= {name for name, _ in drawn}
    page.evaluate(AXE.read_text("utf-8"))
    assert faults(page) == [], "buttons of a figure can be reached by a screen reader"
    path = f"/api/series/{shared_server.get(f'/api/runs/{run_id}')['run']['series_id']}/blind"
    shared_server.post(path, {"hides": "others"})
    expect(page.locator(".figure")).to_have_count(0, timeout=WAIT_MS)
    shared_server.call("DELETE", path)
    expect(figure).to_be_visible(timeout=WAIT_MS)
    errors.clear()  # figures are refused in a blind pass, and the browser notes it


def test_a_refused_value_is_shown_at_its_field_in_the_servers_words(
    shared_server: Server, page: Page, errors: list[str]
) -> None:
    open_train_panel(page, shared_server)
    page.get_by_text("More settings").click()
    fill_field(page, "model-n_heads", "3")
    page.get_by_text("More settings").click()
    page.get_by_role("button", name="Start batch training").click()
    refused = page.get_by_role("alert").filter(has_text="n_heads = 3: must divide d_model = 64")
    expect(refused).to_be_visible()
    expect(page.locator("#train-model-n_heads")).to_have_attribute("aria-invalid", "true")
    fill_field(page, "model-n_heads", "4")
    expect(refused).to_be_hidden()
    errors.clear()  # the browser itself notes the 422


def test_every_field_of_the_server_is_in_the_form_with_its_meaning(shared_server: Server, page: Page) -> None:
    open_train_panel(page, shared_server)
    form = page.get_by_role("form", name="Training settings")
    fields = shared_server.get("/api/models")["fields"]
    shared = {field["name"] for field in fields["load"]}
    for mode, group in (("load", "model"), ("batch", "batch"), ("live", "live")):
        own = [field for field in fields[mode] if mode == "load" or field["name"] not in shared]
        for field in own:
            if field["name"] in ("model", "feed"):  # these stand in the run bar
                continue
            expect(form.locator(f"#train-{group}-{field['name']}-meaning")).to_contain_text(field["meaning"])


def test_ticked_runs_are_laid_over_each_other_with_what_differs(
    shared_server: Server, page: Page, tmp_path: Path
) -> None:
    open_train_panel(page, shared_server)
    fill_field(page, "model-batch_size", "4")  # more batches: a short curve is not smoothed
    first = train(page, shared_server, epochs=1)
    shared_server.wait_for_state(first, "finished")
    second = train(page, shared_server, epochs=2)
    shared_server.wait_for_state(second, "finished")
    for run_id in (first, second):
        page.get_by_label(f"Compare run {run_id}").check()
    differing = page.get_by_role("table", name="Settings that differ")
    expect(differing).to_be_visible(timeout=WAIT_MS)
    assert cells(differing, "epochs") == ["1", "2"]
    figure = page.locator("[data-figure=train_loss]")
    expect(figure.locator(".scatterlayer .trace")).to_have_count(2, timeout=WAIT_MS)
    drawn = figure.evaluate("node => Object.fromEntries(node.data.map(trace => [trace.name, trace.y]))")
    assert drawn == {
        f"run {run_id}, transformer": [event["loss"] for event in stored(shared_server, run_id, "batch_done")]
        for run_id in (first, second)
    }
    page.get_by_label("Smoothing").fill("0.8")
    expect(figure.locator(".scatterlayer .trace")).to_have_count(4, timeout=WAIT_MS)  # the raw lines stay behind
    page.get_by_label("Smoothing").press("Home")  # a key of the slider's, not of the chart's
    expect(figure.locator(".scatterlayer .trace")).to_have_count(2, timeout=WAIT_MS)
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    download.value.save_as(tmp_path / "runs.csv")
    assert (tmp_path / "runs.csv").read_text("utf-8").count(f"run {second}, transformer") > len(drawn)
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG", exact=True).click()
    assert download.value.suggested_filename == f"runs-{first}-{second}.png"
    download.value.save_as(tmp_path / "runs.png")
    picture = (tmp_path / "runs.png").read_bytes()
    size = struct.unpack(">II", picture[16:24])  # PNG, section 11.2.2: width and height stand there
    grid = page.locator(".figure-grid").bounding_box()
    assert grid is not None
    assert size[1] > grid["height"]  # twice as many pixels, less the padding
    assert len(picture) > sum(size) * 4  # an empty one packs to a few bytes a line
    page.get_by_role("button", name="End comparing").click()
    expect(page.locator("[data-figure=candle_accuracy]")).to_be_visible(timeout=WAIT_MS)


def test_pause_holds_the_run_and_stop_ends_it(shared_server: Server, page: Page) -> None:
    open_train_panel(page, shared_server)
    run_id = train(page, shared_server, epochs=1000)
    expect(page.locator(".run-facts")).to_contain_text("loss", timeout=WAIT_MS)
    page.get_by_role("button", name="Pause").click()
    resume = page.get_by_role("group", name="Batch run").get_by_role("button", name="Resume")
    expect(resume).to_be_visible()
    shared_server.wait_for_state(run_id, "paused")
    held = shared_server.events(run_id)[-1]["seq"]
    resume.click()
    shared_server.wait_for(lambda: shared_server.events(run_id, after=held + 2))
    page.get_by_role("button", name="Stop").click()
    shared_server.wait_for_state(run_id, "stopped")
    expect(page.locator(f"[data-run='{run_id}']")).to_contain_text("stopped")
    expect(page.get_by_role("button", name="Stop")).to_be_disabled()


def test_a_second_batch_run_waits_and_the_page_says_for_which(shared_server: Server, page: Page) -> None:
    open_train_panel(page, shared_server)
    first = train(page, shared_server, epochs=1000)
    second = train(page, shared_server, epochs=1)
    expect(page.locator(f"[data-run='{second}']")).to_contain_text(f"waits for run {first}", timeout=WAIT_MS)
    shared_server.post(f"/api/runs/{first}/stop")
    shared_server.wait_for_state(second, "finished")
    expect(page.locator(f"[data-run='{second}']")).to_contain_text("finished")


def test_a_killed_worker_shows_its_cause_and_the_same_settings_start_again(shared_server: Server, page: Page) -> None:
    open_train_panel(page, shared_server)
    run_id = train(page, shared_server, epochs=1000)
    expect(page.locator(".run-facts")).to_contain_text("loss", timeout=WAIT_MS)
    os.kill(worker_of(shared_server), signal.SIGKILL)
    line = page.locator(f"[data-run='{run_id}']")
    expect(line).to_contain_text("SIGKILL", timeout=5_000)
    line.get_by_role("button", name="Why?").click()
    expect(page.get_by_role("dialog")).to_contain_text("SIGKILL")
    page.get_by_role("button", name="Start again with the same settings").click()
    following = shared_server.wait_for(lambda: newest_run(shared_server) > run_id and newest_run(shared_server))
    assert run_of(shared_server, following)["config"] == run_of(shared_server, run_id)["config"]
    shared_server.wait_for(lambda: stored(shared_server, following, "batch_done"))
    shared_server.post(f"/api/runs/{following}/stop")
    shared_server.wait_for_state(following, "stopped")


def test_discard_asks_first_then_leaves_no_checkpoint(shared_server: Server, page: Page) -> None:
    open_train_panel(page, shared_server)
    run_id = train(page, shared_server, epochs=1)
    shared_server.wait_for_state(run_id, "finished")
    assert checkpoints(shared_server)
    page.get_by_role("button", name="Discard checkpoints").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert checkpoints(shared_server)
    page.get_by_role("button", name="Discard checkpoints").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard checkpoints").click()
    expect(page.get_by_text("checkpoints are removed")).to_be_visible()
    assert not checkpoints(shared_server)


def open_train_panel(page: Page, server: Server) -> None:
    page.goto(server.link)
    page.get_by_role("tab", name="Train").click()
    expect(page.get_by_role("button", name="Start batch training")).to_be_enabled()


def open_dock(page: Page) -> None:
    page.locator("body").press("g")
    expect(page.get_by_role("tab", name="Log")).to_be_visible()


def fill_field(page: Page, name: str, value: str) -> None:
    field = page.locator(f"#train-{name}")
    field.fill(value)
    field.blur()


def train(page: Page, server: Server, *, epochs: int) -> int:
    """Start a batch run of a small model by the form; give its id."""
    before = newest_run(server)
    fill_field(page, "batch-epochs", str(epochs))
    if not page.locator("#train-model-d_model").is_visible():
        page.locator("summary", has_text="More settings").press("Enter")  # by key: the form moves while it is filled
    for name, value in SMALL.items():
        fill_field(page, f"model-{name}", value)
    page.get_by_role("button", name="Start batch training").click()
    run_id: int = server.wait_for(lambda: newest_run(server) > before and newest_run(server))
    return run_id


def stored(server: Server, run_id: int, kind: str) -> list[Json]:
    return [event for event in server.events(run_id) if event["type"] == kind]


def newest_run(server: Server) -> int:
    return max((run["id"] for run in server.get("/api/runs")["items"]), default=0)


def run_of(server: Server, run_id: int) -> Json:
    run: Json = server.get(f"/api/runs/{run_id}")["run"]
    return run


def checkpoints(server: Server) -> list[Json]:
    return [row for model in server.get("/api/models?series_id=1")["items"] for row in model["checkpoints"]]


def page_events(page: Page, run_id: int) -> list[Json]:
    events: list[Json] = page.evaluate(f"annotate.events({run_id})")
    return events


def cells(table: Any, row: str) -> list[str]:
    texts: list[str] = table.get_by_role("row").filter(has_text=row).first.get_by_role("cell").all_inner_texts()
    return texts


def percent(fraction: float) -> str:
    return f"{fraction * 100:.1f}%"


def worker_of(server: Server) -> int:
    """Give the process id of the server's worker: its child that runs nn.worker."""
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            parent = int((status.parent / "stat").read_text().rsplit(")", 1)[1].split()[1])
            words = status.read_bytes()
        except (OSError, IndexError):
            continue
        if parent == server.process.pid and b"nn.worker" in words:
            return int(status.parent.name)
    raise AssertionError("the server has no worker")
