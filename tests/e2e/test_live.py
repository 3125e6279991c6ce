"""Live training in the page: candles up to the clock, predictions ahead of them, nothing lost in a cut connection."""

from __future__ import annotations

import os
import re
import signal
import time
from typing import Any
from uuid import uuid4

from playwright.sync_api import Page, WebSocketRoute, expect

from tests.serving import Server, worker_of

WAIT_MS = 60_000
SERIES = 1
SMALL = {"sequence_length": 32, "d_model": 16, "n_layers": 1, "n_heads": 2}
CUTS = 8
Json = dict[str, Any]


def test_the_page_tells_a_live_run_as_it_is_stored(shared_server: Server, page: Page) -> None:
    open_page(page, shared_server)
    button = page.get_by_role("button", name="Start live training")
    expect(button).to_have_attribute("title", "Live Inference + Per-Candle Training")
    run_id = start_live(page, shared_server, speed="60")
    expect(page).to_have_title("Live Inference + Per-Candle Training · EUR/USD 1h · Annotate")
    wait_for_candles(shared_server, run_id, 50)
    page.get_by_role("button", name="Stop").click()
    shared_server.wait_for_state(run_id, "stopped")
    events = shared_server.events(run_id)
    assert page_events(page, run_id, len(events)) == events
    expect(page).to_have_title("EUR/USD 1h · Annotate")
    last = [event for event in events if event["type"] == "candle_scored"][-1]
    table = page.get_by_role("table", name="Prequential candle, unseen candles")
    shown = last["figures"]["candle"]["100"]
    assert cells(table, "Accuracy")[0] == percent(shown["accuracy"])
    assert cells(table, "Majority")[0] == percent(shown["baselines"]["majority"]["accuracy"])


def test_candles_after_the_clock_are_hidden_while_it_runs_and_back_when_it_stops(
    shared_server: Server, page: Page, errors: list[str]
) -> None:
    open_page(page, shared_server)
    last = page.locator(".readout")
    expect(last).to_contain_text("2017-12")  # the newest candle is painted: only now the text is whole
    before = last.inner_text()
    run_id = start_live(page, shared_server, speed="10", start=1_500_000_000_000 // 3_600_000 * 3_600_000)
    expect(last).to_contain_text("2017-07", timeout=WAIT_MS)
    wait_for_candles(shared_server, run_id, 10)
    expect(page.locator(".model-strip")).to_be_visible()
    expect(page.locator(".model-strip")).to_contain_text("next 2017-07")
    expect(page.locator(".model-strip")).to_contain_text("trend")
    hover_candle(page, "predicted")
    page.locator("body").press("Home")
    newer = page.locator(".chart-notice")
    expect(newer).to_have_text(re.compile(r"^\+\d+ new candles? →$"))
    newer.click()
    expect(newer).to_be_hidden()
    page.mouse.move(1, 1)  # the read-out is of the newest candle again
    look_back_from(shared_server, page, 1_490_000_400_000, run_id)
    expect(page.locator(".model-strip")).to_contain_text("next 2017-07", timeout=WAIT_MS)
    errors[:] = [error for error in errors if "409" not in error]  # what was asked when the replay began is refused
    shared_server.post(f"/api/runs/{run_id}/stop")
    shared_server.wait_for_state(run_id, "stopped")
    expect(page.locator(".model-strip")).to_contain_text("has ended")
    events = shared_server.events(run_id)
    assert page_events(page, run_id, len(events)) == events
    page.locator("body").press("End")
    expect(last).to_have_text(before, use_inner_text=True)


def look_back_from(server: Server, page: Page, cursor: int, run_id: int) -> None:
    """Replay from an earlier candle in another tab while the run goes on: this tab tells nothing of later ones."""
    server.post(f"/api/series/{SERIES}/replay", {"at": cursor})
    expect(page.locator(".model-strip")).to_be_hidden(timeout=WAIT_MS)
    expect(page.locator(".readout")).to_contain_text("2017-03", timeout=WAIT_MS)
    kinds = page.evaluate(f"annotate.events({run_id}).map((event) => event.type)")
    assert set(kinds) == {"hidden"}
    assert server.call("DELETE", f"/api/series/{SERIES}/replay").status_code == 200


def test_predictions_hide_and_come_back_with_the_key(shared_server: Server, page: Page) -> None:
    open_page(page, shared_server)
    run_id = start_live(page, shared_server, speed="60")
    strip = page.locator(".model-strip")
    expect(strip).to_be_visible(timeout=WAIT_MS)
    page.locator("body").press("h")
    expect(strip).to_be_hidden()
    page.locator("body").press("h")
    expect(strip).to_be_visible()
    shared_server.post(f"/api/runs/{run_id}/stop")
    shared_server.wait_for_state(run_id, "stopped")


def test_a_person_annotates_goes_back_resumes_after_a_death_stops_and_starts_again(
    shared_server: Server, page: Page
) -> None:
    open_page(page, shared_server)
    run_id = start_live(page, shared_server, speed="10", start=1_500_000_000_000 // 3_600_000 * 3_600_000)
    wait_for_candles(shared_server, run_id, 8)
    label_new_candles(shared_server, "Surprise")
    panel = page.locator("#train-panel")
    expect(panel).to_contain_text("A label that the model does not know", timeout=WAIT_MS)
    expect(panel).to_contain_text("the model has no class for Surprise")
    page.get_by_text("Snapshots to go back to").click()
    start = page.get_by_role("row").filter(has_text="1, the start")
    start.get_by_role("button", name="Go back").click(timeout=WAIT_MS)
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(panel).to_contain_text("Went back, as asked", timeout=WAIT_MS)
    (told,) = [event for event in shared_server.events(run_id) if event["type"] == "rolled_back"]
    assert (told["asked"], told["back_to"]) == (True, 1)
    expect(panel).to_contain_text(told["message"])
    os.kill(worker_of(shared_server), signal.SIGKILL)
    line = page.locator(f"[data-run='{run_id}']")
    expect(line).to_contain_text("interrupted", timeout=WAIT_MS)
    expect(line).to_contain_text("killed by SIGKILL")
    before = len(scored(shared_server, run_id))
    page.get_by_role("button", name=f"Resume run {run_id}").click()
    wait_for_candles(shared_server, run_id, before + 8)
    expect(line).to_contain_text("running")
    page.get_by_role("button", name="Stop").click()
    summary = shared_server.wait_for_state(run_id, "stopped")["summary"]
    learnt = [event for event in shared_server.events(run_id) if event["type"] == "candle_learnt"]
    assert summary["counts"] == learnt[-1]["counts"]
    assert sum(summary["counts"].values()) == len(learnt)
    once = scored(shared_server, run_id)
    assert once == sorted(set(once))
    assert [event["candle_time"] for event in learnt] == once
    events = shared_server.events(run_id)
    assert page_events(page, run_id, len(events)) == events
    page.get_by_role("button", name="Start live training").click()
    again: int = shared_server.wait_for(lambda: newest_run(shared_server) > run_id and newest_run(shared_server))
    wait_for_candles(shared_server, again, 4)
    (begun,) = [event for event in shared_server.events(again) if event["type"] == "run_started"]
    assert begun["origin"] == "fresh"  # it learns the new label, for which the first run's model had no class
    assert "the loaded model does not fit: labels" in begun["reason"]
    expect(page.locator(f"[data-run='{again}']")).to_contain_text("running")
    page.get_by_role("button", name="Stop").click()
    shared_server.wait_for_state(again, "stopped")


def label_new_candles(server: Server, name: str) -> None:
    """Add a label to the series' set, and mark some candles of the past with it, as another browser would."""
    label_set = server.get(f"/api/series/{SERIES}")["series"]["label_set_id"]
    body = server.get(f"/api/label-sets/{label_set}")
    labels = [*body["labels"], {"name": name, "colour": "#0072b2", "key": None, "layer": "default"}]
    known = ("id", "name", "colour", "key", "layer", "archived")
    labels = [{field: label[field] for field in known if field in label} for label in labels]
    changed = {"name": body["name"], "revision": body["revision"], "labels": labels}
    assert server.call("PUT", f"/api/label-sets/{label_set}", json=changed).status_code == 200
    start = 1_499_990_400_000
    mark = {"kind": "span", "label": name, "start": start, "end": start + 7_200_000, "revision": 0}
    assert server.call("PUT", f"/api/series/{SERIES}/annotations/{uuid4()}", json=mark).status_code == 200


def test_after_eight_cuts_of_the_connection_the_page_has_every_stored_event_once(
    shared_server: Server, page: Page, errors: list[str]
) -> None:
    sockets: list[WebSocketRoute] = []

    def pass_on(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket("**/socket.io/**", pass_on)
    open_page(page, shared_server)
    run_id = start_live(page, shared_server, speed="60")
    wait_for_candles(shared_server, run_id, 5)
    for cut in range(1, CUTS + 1):
        while len(sockets) < cut:
            page.wait_for_timeout(20)
        page.wait_for_timeout(150)
        sockets[-1].close()
        expect(page.locator("#link-state")).to_have_text("● connected", timeout=WAIT_MS)
    assert len(sockets) > CUTS
    errors[:] = [error for error in errors if "WebSocket" not in error]  # the browser itself notes a cut
    shared_server.post(f"/api/runs/{run_id}/stop")
    shared_server.wait_for_state(run_id, "stopped")
    events = shared_server.events(run_id)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert page_events(page, run_id, len(events)) == events


def test_a_cut_connection_is_said_until_it_is_back(shared_server: Server, page: Page) -> None:
    sockets: list[WebSocketRoute] = []
    open_gate = True

    def pass_on(socket: WebSocketRoute) -> None:
        if open_gate:
            socket.connect_to_server()
            sockets.append(socket)
        else:
            socket.close()

    page.route_web_socket("**/socket.io/**", pass_on)
    page.route("**/socket.io/**", lambda route: route.continue_() if open_gate else route.abort())
    open_page(page, shared_server)
    state = page.locator("#link-state")
    expect(state).to_have_text("● connected", timeout=WAIT_MS)
    open_gate = False
    sockets[-1].close()
    expect(state).to_have_text("reconnecting …")
    open_gate = True
    expect(state).to_have_text("● connected", timeout=WAIT_MS)


def test_a_reload_in_the_middle_shows_the_whole_run(shared_server: Server, page: Page) -> None:
    open_page(page, shared_server)
    run_id = start_live(page, shared_server, speed="60")
    wait_for_candles(shared_server, run_id, 20)
    page.reload()
    expect(page.locator(".model-strip")).to_be_visible(timeout=WAIT_MS)
    page.get_by_role("button", name="Stop").click()
    shared_server.wait_for_state(run_id, "stopped")
    events = shared_server.events(run_id)
    assert page_events(page, run_id, len(events)) == events


def test_a_run_started_elsewhere_appears_by_itself(shared_server: Server, page: Page) -> None:
    open_page(page, shared_server)
    config = {**SMALL, "feed": {"kind": "replay", "speed": 10}}
    body = {"mode": "live", "series_id": SERIES, "config": config}
    run_id = shared_server.post("/api/runs", body)["run"]["id"]
    expect(page.locator(f"[data-run='{run_id}']")).to_contain_text("Live replay 10×", timeout=5_000)
    shared_server.post(f"/api/runs/{run_id}/stop")
    shared_server.wait_for_state(run_id, "stopped")


def open_page(page: Page, server: Server) -> None:
    page.goto(server.link)
    page.get_by_role("tab", name="Train").click()
    expect(page.get_by_role("button", name="Start live training")).to_be_enabled()


def start_live(page: Page, server: Server, *, speed: str, start: int | None = None) -> int:
    """Start a live run of a small model; give its id."""
    before = newest_run(server)
    page.get_by_text("More settings").click()
    for name, value in SMALL.items():
        field = page.locator(f"#train-model-{name}")
        field.fill(str(value))
        field.blur()
    if start is not None:
        page.get_by_text("Live training", exact=True).click()
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(start / 1000))
        page.get_by_label("Start at (UTC)").fill(moment)
        page.get_by_label("Start at (UTC)").blur()
    page.get_by_label("Replay speed").select_option(speed)
    page.get_by_role("button", name="Start live training").click()
    run_id: int = server.wait_for(lambda: newest_run(server) > before and newest_run(server))
    return run_id


def hover_candle(page: Page, words: str) -> None:
    """Move the pointer from the right over the candles until the strip tells one with these words."""
    box = page.locator("#chart").bounding_box()
    assert box is not None
    strip = page.locator(".model-strip")
    for x in range(int(box["width"]), 0, -4):
        page.mouse.move(box["x"] + x, box["y"] + box["height"] / 2)
        if words in strip.inner_text():
            page.mouse.move(1, 1)
            return
    raise AssertionError(f"no candle tells {words!r}: {strip.inner_text()}")


def wait_for_candles(server: Server, run_id: int, count: int) -> None:
    server.wait_for(lambda: len(scored(server, run_id)) >= count, within_s=120)


def scored(server: Server, run_id: int) -> list[int]:
    return [event["candle_time"] for event in server.events(run_id) if event["type"] == "candle_scored"]


def newest_run(server: Server) -> int:
    return max((run["id"] for run in server.get("/api/runs")["items"]), default=0)


def page_events(page: Page, run_id: int, count: int) -> list[Json]:
    """Give the events that the page has, once it has as many as are stored."""
    deadline = time.monotonic() + WAIT_MS / 1000
    while page.evaluate(f"annotate.events({run_id}).length") < count and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    events: list[Json] = page.evaluate(f"annotate.events({run_id})")
    return events


def cells(table: Any, row: str) -> list[str]:
    texts: list[str] = table.get_by_role("row").filter(has_text=row).first.get_by_role("cell").all_inner_texts()
    return texts


def percent(fraction: float) -> str:
    return f"{fraction * 100:.1f}%"
