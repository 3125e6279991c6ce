"""Honest replay, by traffic: with a session open no route and no socket tells its author anything of the future.

The control: the same walk by someone without a session finds the future all over the place.
"""

from __future__ import annotations

import io
import json
import queue
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from annotate.models import Checkpoint, Json
from annotate.store.events import add_events
from annotate.store.hiding import open_replay
from annotate.store.runs import add_run
from annotate.store.series import create_series
from tests.annotate.annotations.builders import HOUR, START, trade
from tests.web.marking import Marking, answered, refused, serving
from tests.web.test_annotations import following
from tests.web.traffic import AHEAD, CURSOR, PAST, PLANTED, SKIPPED, Things, leaks, leaks_of, planted_candles, walk

TELLING = {  # routes that must speak of the future to someone who does not replay: the control of the walk itself
    *("GET series.get_all", "GET series.get_one", "GET series.get_candles", "GET annotations.get_annotations"),
    *("GET datasets.get_one_dataset", "GET datasets.download_dataset", "POST datasets.preview_dataset"),
    *("GET worth.get_worth", "GET indicators.get_indicators", "GET views.get_view"),
    *("GET runs.get_one_run", "GET runs.get_events", "GET models.get_models"),
    *("GET workspace.download_workspace", "GET reviewed.get_reviewed", "GET datasets.download_export"),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Marking]:
    with serving(Path(tmp_path_factory.mktemp("planted"))) as marking:
        yield marking


@pytest.fixture
def planted(served: Marking) -> tuple[Marking, Things]:
    """An instance with everything that could tell of a planted future."""
    things = furnish(served)
    return Marking(served.app, served.client, things.series_id), things


def furnish(marking: Marking) -> Things:
    """Store a series with a future, and marks, a run, a dataset and ranges that know of it."""
    parts, candles = marking.parts, planted_candles()
    with parts.database.write() as session:
        series = create_series(
            session,
            symbol="PLANTED",
            timeframe="1h",
            source="upload",
            created=1,
            facts={"top": PLANTED, "precision": 2},
        )
        parts.candles.write_series(session, series.id, "1h", candles)
        run = add_run(
            session, mode="live", series_id=series.id, dataset_id=None, config={"from": CURSOR + HOUR}, created=1
        )
        run.state, run.summary = "finished", {"data_cut": int(candles.time[-1]), "last_close": PLANTED}
        add_events(session, list(events(run.id, int(candles.time[-1]))))
        common = {"run_id": run.id, "series_id": series.id, "model": "gru", "step": 1, "created": 1, "result": True}
        session.add(Checkpoint(**common, name="last", data_cut=int(candles.time[-1]), meta={}))
    made = Marking(marking.app, marking.client, series.id)
    mark = made.put_ok({"kind": "point", "label": "Long", "time": CURSOR + HOUR, "price": PLANTED + 5}, X_Author="Ann")
    made.put_ok({"kind": "span", "label": "Long", "start": START, "end": START + HOUR}, X_Author="Ann")
    made.put_ok(trade(10, PAST + 20), X_Author="Ann")
    view = {"from": START, "to": CURSOR + 50 * HOUR}
    answered(made.client.put(f"/api/series/{series.id}/view", json=view, headers={"X-Author": "Ben"}))
    answered(made.client.put(f"/api/series/{series.id}/view", json=view, headers={"X-Author": "Ann"}))
    reviewed = {"start": START, "end": CURSOR + 5 * HOUR}
    answered(made.client.put(f"/api/series/{series.id}/reviewed", json=reviewed, headers={"X-Author": "Ann"}))
    dataset = answered(made.client.post("/api/datasets", json={"series_id": series.id, "name": "whole"}), 201)[
        "dataset"
    ]
    export = answered(made.client.post(f"/api/datasets/{dataset['id']}/exports", json={"format": "dataset"}), 202)
    wait_until_built(made, export["export"]["id"])
    series_json = answered(made.client.get(f"/api/series/{series.id}"))["series"]
    return Things(
        series_id=series.id,
        run_id=run.id,
        dataset_id=dataset["id"],
        export_id=export["export"]["id"],
        annotation_id=mark["id"],
        label_set_id=series_json["label_set_id"],
    )


def wait_until_built(marking: Marking, export_id: int) -> None:
    """Wait until an export that is built in the background can be downloaded."""
    deadline = time.monotonic() + 120
    while answered(marking.client.get(f"/api/exports/{export_id}"))["export"]["state"] != "finished":
        assert time.monotonic() < deadline
        time.sleep(0.05)


def events(run_id: int, last: int) -> Iterator[Json]:
    """Events of a live run that went on after the cursor, and a batch that saw it all."""
    for seq, hours in enumerate((-2, -1, 0, 1), 1):
        at = CURSOR + hours * HOUR
        facts = {
            "seen": False,
            "candle_time": at,
            "closed": {"time": at - HOUR, "close": PLANTED if hours > 0 else 101.0},
        }
        predicted = {"as_of": at - HOUR, "data_cut": START, "candle_probabilities": [0.2] * 5}
        yield {
            "run_id": run_id,
            "seq": seq,
            "time": seq,
            "type": "candle_predicted",
            "line": None,
            **facts,
            **predicted,
        }
    line = f"Trained on candle: PLANTED 1h @ {PLANTED}"
    yield {"run_id": run_id, "seq": 5, "time": 5, "type": "run_ended", "line": line, "summary": {"cut": last}}


@pytest.fixture
def replayed(planted: tuple[Marking, Things]) -> Iterator[tuple[Marking, Things]]:
    """Everything, and a replay by `Ann` that stands at the cursor."""
    marking, things = planted
    path = f"/api/series/{things.series_id}/replay"
    reply = answered(marking.client.post(path, json={"at": CURSOR}, headers={"X-Author": "Ann"}), 201)
    assert reply["replay"]["cursor"] == CURSOR
    yield marking, things
    answered(marking.client.delete(path, headers={"X-Author": "Ann"}))


def test_no_route_tells_the_author_of_a_replay_anything_of_the_future(replayed: tuple[Marking, Things]) -> None:
    marking, things = replayed
    told, spoke = {}, set()
    for name, answer in walk(marking.app, marking.client, things, "Ann"):
        found = leaks(answer)
        if found:
            told[name] = found
        if answer.status_code == 200:
            spoke.add(name)
        assert answer.headers["Cache-Control"] == "no-store", name
    assert told == {}
    assert {"GET series.get_candles", "GET annotations.get_annotations", "GET runs.get_events"} <= spoke
    assert {"GET worth.get_worth", "GET indicators.get_indicators", "GET views.get_view"} <= spoke
    assert {"POST datasets.preview_dataset", "GET datasets.get_datasets"} <= spoke


def test_the_walk_finds_the_future_wherever_it_is_told_to_someone_else(planted: tuple[Marking, Things]) -> None:
    marking, things = planted
    told = {name for name, answer in walk(marking.app, marking.client, things, "Ben") if leaks(answer)}
    assert told >= TELLING


def test_every_route_is_walked_or_has_a_reason(planted: tuple[Marking, Things]) -> None:
    marking, _ = planted
    endpoints = {rule.endpoint for rule in marking.app.url_map.iter_rules()}
    assert endpoints >= SKIPPED
    assert endpoints >= {name.split()[1] for name in TELLING}


def test_sockets_tell_nothing_of_the_future(replayed: tuple[Marking, Things]) -> None:
    marking, things = replayed
    with following(marking, author="Ann") as mine, following(marking, author="Ben") as theirs:
        later = {"kind": "point", "label": "Long", "time": CURSOR + HOUR, "price": PLANTED}
        hidden = marking.put_ok(later, X_Author="Ben")
        marking.parts.publisher.series_changed(
            things.series_id, {"what": "run", "id": 1, "run": {"summary": {"close": PLANTED}}}
        )
        marking.parts.publisher.series_changed(
            things.series_id, {"what": "forming", "id": 1, "candle": {"time": CURSOR + HOUR, "close": PLANTED}}
        )
        shown = marking.put_ok({"kind": "span", "label": "Long", "start": START, "end": START + HOUR}, X_Author="Ann")
        mine_told, theirs_told = until(mine, shown["id"]), until(theirs, shown["id"])
    assert leaks_of(mine_told) == []
    assert [item["id"] for item in theirs_told][:2] == [hidden["id"], 1]
    assert leaks_of(theirs_told) != []


def until(notices: queue.Queue[Json], last_id: str) -> list[Json]:
    """Give the notices up to the one of this id."""
    items: list[Json] = []
    while not items or items[-1]["id"] != last_id:
        items.append(notices.get(timeout=20))
    return items


def test_a_runs_events_keep_their_numbers_and_tell_the_past_only(replayed: tuple[Marking, Things]) -> None:
    marking, things = replayed
    path = f"/api/runs/{things.run_id}/events"
    items = answered(marking.client.get(path, headers={"X-Author": "Ann"}))["items"]
    assert [item["seq"] for item in items] == [1, 2, 3, 4, 5]
    assert [item["type"] for item in items] == ["candle_predicted"] * 3 + ["hidden"] * 2


def test_a_session_outlives_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as marking:
        things = furnish(marking)
        with marking.parts.database.write() as session:
            open_replay(session, things.series_id, "Ann", CURSOR, 1, random=False, hide_price=False)
    with serving(tmp_path) as marking:
        answer = marking.client.get(f"/api/series/{things.series_id}/candles", headers={"X-Author": "Ann"})
        assert (answer.status_code, leaks(answer)) == (200, []), "the first answer after a restart is one too"
        assert leaks(marking.client.get(f"/api/series/{things.series_id}/candles")) != []


@pytest.fixture
def alone(planted: tuple[Marking, Things]) -> Iterator[tuple[Marking, Things]]:
    """A replay at the cursor by someone who has nothing else under way."""
    marking, things = planted
    path, cleo = f"/api/series/{things.series_id}/replay", {"X-Author": "Cleo"}
    answered(marking.client.post(path, json={"at": CURSOR}, headers=cleo), 201)
    yield marking, things
    answered(marking.client.delete(path, headers=cleo))


def test_a_dataset_made_in_a_replay_ends_at_its_cursor_and_can_be_taken_along(
    alone: tuple[Marking, Things],
) -> None:
    marking, things = alone
    cleo = {"X-Author": "Cleo"}
    seen = marking.put_ok({"kind": "span", "label": "Short", "start": START, "end": START + HOUR}, X_Author="Cleo")
    body = {"series_id": things.series_id, "name": "up to here"}
    made = answered(marking.client.post("/api/datasets", json=body, headers=cleo), 201)["dataset"]
    assert made["manifest"]["candles"]["rows"] == PAST
    listed = answered(marking.client.get("/api/datasets", headers=cleo))["items"]
    assert [each["id"] for each in listed if each["series_id"] == things.series_id] == [made["id"]]
    path = f"/api/datasets/{made['id']}"
    assert answered(marking.client.get(f"{path}/formats", headers=cleo))["items"]
    taken = marking.client.get(f"{path}/download", headers=cleo)
    begun = answered(marking.client.post(f"{path}/exports", json={"format": "dataset"}, headers=cleo), 202)["export"]
    wait_until_built(marking, begun["id"])
    built = marking.client.get(f"/api/exports/{begun['id']}/download", headers=cleo)
    for answer in (taken, built):
        assert answer.status_code == 200, answer.text
        assert leaks(answer) == []
    with zipfile.ZipFile(io.BytesIO(taken.get_data())) as archive:
        marks = archive.read("annotations.jsonl").decode().splitlines()
    assert [json.loads(line)["id"] for line in marks] == [seen["id"]]
    back = {"step": -1}
    answered(marking.client.patch(f"/api/series/{things.series_id}/replay", json=back, headers=cleo))
    for address in (path, f"{path}/download", f"{path}/formats", f"/api/exports/{begun['id']}/download"):
        assert refused(marking.client.get(address, headers=cleo), 409)["code"] == "replay"
    taken.close()
    built.close()


def test_an_export_that_was_begun_before_a_replay_stays_closed_in_it(alone: tuple[Marking, Things]) -> None:
    marking, things = alone
    cleo = {"X-Author": "Cleo"}
    for address in (f"/api/exports/{things.export_id}", f"/api/exports/{things.export_id}/download"):
        assert refused(marking.client.get(address, headers=cleo), 409)["code"] == "replay"
    whole = answered(marking.client.post("/api/workspace/exports", json={}), 202)["export"]
    assert refused(marking.client.get(f"/api/exports/{whole['id']}", headers=cleo), 409)["code"] == "replay"


def test_a_download_without_the_header_is_the_authors_of_the_cookie(replayed: tuple[Marking, Things]) -> None:
    marking, things = replayed
    marking.client.set_cookie("annotate_author", "Ann")
    try:
        answer = marking.client.get(f"/api/datasets/{things.dataset_id}/download")
        assert refused(answer, 409)["code"] == "replay"
    finally:
        marking.client.delete_cookie("annotate_author")
    assert marking.client.get(f"/api/datasets/{things.dataset_id}/download").status_code == 200


def test_a_hidden_mark_can_be_neither_read_nor_changed_nor_guessed_at(replayed: tuple[Marking, Things]) -> None:
    marking, things = replayed
    body = {"kind": "span", "label": "Long", "start": START, "end": START + HOUR, "revision": 7}
    error = refused(marking.put(body, things.annotation_id, X_Author="Ann"), 409)
    assert error["code"] == "hidden"
    assert error["details"] == {"id": things.annotation_id}
    new = marking.put_ok({**body, "revision": 0}, str(uuid4()), X_Author="Ann")
    assert (new["mode"], new["decided_at"], new["known_at"]) == ("replay", CURSOR, START + HOUR)


def test_the_planted_future_is_where_the_walk_looks_for_it() -> None:
    candles = planted_candles()
    assert (len(candles), int(candles.time[PAST]), float(candles.close[PAST])) == (PAST + AHEAD, CURSOR, PLANTED + 3.0)
    assert leaks_of({"time": int(candles.time[PAST]) + 1, "x": [f"at {PLANTED}", "2024-01-13T13:00:00Z"]}) != []
    assert leaks_of({"time": CURSOR, "price": 101.5, "day": "2024-01-01"}) == []
