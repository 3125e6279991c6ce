"""Annotations over HTTP: what the page and a script rely on."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
import socketio
from werkzeug.serving import make_server

from annotate.models import Json
from tests.annotate.annotations.builders import (
    HOUR,
    START,
    candle_class,
    chart_class,
    level,
    point,
    said,
    span,
    trade,
    trend_line,
)
from tests.conftest import TOKEN
from tests.web.marking import Marking, answered, refused

EXCLUSIVE: Json = {
    "name": "Quality",
    "labels": [{"name": name, "colour": "#112233", "key": None, "layer": "quality"} for name in ("good", "bad")],
    "exclusive": ["quality"],
}
KINDS = [
    *(span(), point(), trade(stop=90.5, target=120.0), level(), level(time=START, until=START + HOUR)),
    *(trend_line(extend="right"), candle_class(), chart_class(), chart_class(10, 20)),
]


@pytest.mark.parametrize("body", KINDS)
def test_each_kind_is_stored_and_listed_as_it_was_answered(marking: Marking, body: Json) -> None:
    mark_id = str(uuid4())
    stored = marking.put_ok(body, mark_id)
    assert body.items() <= stored.items()
    assert (stored["id"], stored["revision"], stored["author"]) == (mark_id, 1, "me")
    assert marking.marks() == [stored]


def test_the_same_put_again_is_200_and_changes_nothing(marking: Marking) -> None:
    mark_id = str(uuid4())
    first = marking.put_ok(span(), mark_id)
    assert marking.put_ok(span(), mark_id) == first
    assert marking.put_ok(span(), mark_id.upper()) == first
    assert marking.marks() == [first]


def test_an_answer_can_be_changed_and_sent_back(marking: Marking) -> None:
    stored = marking.put_ok(span())
    changed = marking.put_ok(stored | {"label": "Short"}, stored["id"])
    assert (changed["label"], changed["revision"]) == ("Short", 2)


def test_a_stale_put_and_a_stale_delete_are_409_with_both_versions(marking: Marking) -> None:
    stored = marking.put_ok(span())
    newer = marking.put_ok(span(11, 21, revision=1), stored["id"])
    error = refused(marking.put(span(12, 22, revision=1), stored["id"]), 409)
    assert error["code"] == "stale_revision"
    assert error["details"]["stored"] == newer
    assert error["details"]["yours"]["start"] == START + 12 * HOUR
    path = f"/api/series/{marking.series_id}/annotations/{stored['id']}"
    assert refused(marking.client.delete(f"{path}?revision=1"), 409)["details"]["stored"] == newer
    assert answered(marking.client.delete(f"{path}?revision=2")) == {"deleted": [stored["id"]]}
    assert refused(marking.client.delete(f"{path}?revision=2"), 404)["code"] == "not_found"
    assert marking.marks() == []


def test_a_delete_without_a_revision_removes_what_is_there(marking: Marking) -> None:
    stored = marking.put_ok(span())
    answered(marking.client.delete(f"/api/series/{marking.series_id}/annotations/{stored['id']}"))
    assert marking.marks() == []


def test_the_list_is_whole_unless_a_limit_is_given(marking: Marking) -> None:
    for place in range(12):
        marking.put_ok(point(place))
    path = f"/api/series/{marking.series_id}/annotations"
    assert len(marking.marks()) == 12
    assert answered(marking.client.get(f"{path}?limit=5"))["items"] == marking.marks()[:5]
    for limit in ("0", "-1", "five", "1.5", ""):
        assert refused(marking.client.get(f"{path}?limit={limit}"), 422)["details"]["field"] == "limit"


@pytest.mark.parametrize(
    ("given", "author"),
    [("Ann", "Ann"), ("J%C3%BCrgen%20%F0%9F%9A%80", "Jürgen 🚀"), ("%D7%A9%D7%9C%D7%95%D7%9D", "שלום"), ("", "me")],
)
def test_the_author_comes_in_a_header_percent_encoded(marking: Marking, given: str, author: str) -> None:
    assert marking.put_ok(span(), X_Author=given)["author"] == author


def test_undo_and_redo_answer_with_what_changed_and_what_comes_next(marking: Marking) -> None:
    stored = marking.put_ok(span())
    moved = marking.put_ok(span(12, 22, revision=1), stored["id"])
    base = f"/api/series/{marking.series_id}"
    undone = answered(marking.client.post(f"{base}/undo"))
    assert undone["undone"] == "move Long"
    assert said(undone["annotations"]) == said([stored])
    assert (undone["deleted"], undone["undo"], undone["redo"]) == ([], "draw Long", "move Long")
    assert answered(marking.client.get(f"{base}/undo")) == {
        "can_undo": True, "can_redo": True, "undo": "draw Long", "redo": "move Long",
    }  # fmt: skip
    undone = answered(marking.client.post(f"{base}/undo"))
    assert (undone["annotations"], undone["deleted"], undone["can_undo"]) == ([], [stored["id"]], False)
    assert answered(marking.client.post(f"{base}/undo"))["undone"] is None
    assert answered(marking.client.post(f"{base}/redo"))["redone"] == "draw Long"
    assert said(answered(marking.client.post(f"{base}/redo"))["annotations"]) == said([moved])
    assert answered(marking.client.post(f"{base}/redo"))["redone"] is None


def test_undo_is_this_authors_and_a_change_by_another_refuses_it(marking: Marking) -> None:
    stored = marking.put_ok(span(), X_Author="Ann")
    undo = f"/api/series/{marking.series_id}/undo"
    assert answered(marking.client.post(undo, headers={"X-Author": "Ben"}))["undone"] is None
    newer = marking.put_ok(span(12, 22, revision=1), stored["id"], X_Author="Ben")
    error = refused(marking.client.post(undo, headers={"X-Author": "Ann"}), 409)
    assert error["details"] == {"yours": stored, "stored": newer, "by": "Ben"}


def test_puts_of_one_gesture_are_undone_together(marking: Marking) -> None:
    gesture = str(uuid4())
    for place in (1, 5, 9):
        marking.put_ok(span(place, place + 2), X_Gesture=gesture)
    undone = answered(marking.client.post(f"/api/series/{marking.series_id}/undo"))
    assert (undone["undone"], len(undone["deleted"])) == ("draw 3 marks", 3)
    assert refused(marking.put(span(), X_Gesture="first"), 422)["details"]["field"] == "X-Gesture"


def test_bad_fields_are_named_and_nothing_is_stored(marking: Marking) -> None:
    for body, field in [
        (span(colour="red"), "colour"),
        (span(label="Up"), "label"),
        (span(20, 10), "end"),
        (span(200, 210), "start"),
        (point(-5), "time"),
        (trade(20, 10), "exit.time"),
    ]:
        error = refused(marking.put(body), 422)
        assert error["details"]["field"] == field
        assert field in error["message"]
    assert marking.marks() == []


@pytest.mark.parametrize("text", ["", "{", "nul", '{"kind": "span",}'])
def test_a_body_that_is_no_json_is_refused_in_the_one_shape(marking: Marking, text: str) -> None:
    path = f"/api/series/{marking.series_id}/annotations/{uuid4()}"
    refused(marking.client.put(path, data=text, content_type="application/json"), 422)
    refused(marking.client.put(path, data=text, content_type="text/plain"), 415)


def test_a_series_that_is_not_there_is_404_for_every_call(marking: Marking) -> None:
    client, base = marking.client, "/api/series/999999"
    for answer in (
        client.get(f"{base}/annotations"),
        client.put(f"{base}/annotations/{uuid4()}", json=span()),
        client.delete(f"{base}/annotations/{uuid4()}"),
        client.get(f"{base}/undo"),
        client.post(f"{base}/undo"),
        client.post(f"{base}/redo"),
    ):
        assert refused(answer, 404)["code"] == "not_found"


def test_a_run_of_candle_classes_goes_in_one_call_and_one_undo(marking: Marking) -> None:
    path = f"/api/series/{marking.series_id}/annotations/bulk"
    run = [{**candle_class(place), "id": str(uuid4())} for place in range(5)]
    reply = answered(marking.client.post(path, json={"put": run}))
    assert reply["annotations"] == marking.marks()
    assert (reply["deleted"], reply["undo"]) == ([], "draw 5 marks")
    assert answered(marking.client.post(path, json={"put": run}))["annotations"] == reply["annotations"]
    answered(marking.client.post(f"/api/series/{marking.series_id}/undo"))
    assert marking.marks() == []


def test_all_shown_marks_are_relabelled_in_one_call(marking: Marking) -> None:
    marks = [marking.put_ok(span(place, place + 5)) for place in (10, 20)]
    body = {"ids": [mark["id"] for mark in marks], "set": {"label": "Noise", "status": "draft"}}
    reply = answered(marking.client.patch(f"/api/series/{marking.series_id}/annotations", json=body))
    assert [(mark["label"], mark["status"], mark["revision"]) for mark in reply["annotations"]] == [
        ("Noise", "draft", 2)
    ] * 2
    assert reply["undo"] == "relabel 2 marks"


def test_what_gives_way_in_an_exclusive_layer_comes_with_the_answer_and_to_followers(marking: Marking) -> None:
    label_set = answered(marking.client.post("/api/label-sets", json=EXCLUSIVE), 201)
    answered(marking.client.patch(f"/api/series/{marking.series_id}", json={"label_set_id": label_set["id"]}))
    good = marking.put_ok(span(0, 100, "good"))
    with following(marking) as notices:
        bad = marking.put_ok(span(70, 90, "bad"))
        told = {notices.get(timeout=10)["id"] for _ in range(3)}
    first = bad["also"]["annotations"][0]
    assert (first["id"], first["end"]) == (good["id"], START + 70 * HOUR)
    assert told == {bad["id"], *(mark["id"] for mark in bad["also"]["annotations"])}
    sent_back = {name: value for name, value in bad.items() if name != "revision"} | {"revision": 1, "comment": "x"}
    assert marking.put_ok(sent_back, bad["id"])["revision"] == 2


def test_what_was_looked_through_is_stored_and_undone(marking: Marking) -> None:
    path = f"/api/series/{marking.series_id}/reviewed"
    reply = answered(marking.client.put(path, json={"start": START, "end": START + 5 * HOUR}))
    assert reply["items"] == [{"author": "me", "start": START, "end": START + 5 * HOUR}]
    assert answered(marking.client.get(path))["items"] == reply["items"]
    assert "must be after" in refused(marking.client.put(path, json={"start": 5, "end": 5}), 422)["message"]
    answered(marking.client.post(f"/api/series/{marking.series_id}/undo"))
    assert answered(marking.client.get(path))["items"] == []


def test_a_blocked_undo_names_who_changed_the_mark_and_can_be_skipped(marking: Marking) -> None:
    mark = marking.put_ok(span(), X_Author="Ann")
    marking.put_ok(span(11, 25, revision=1), mark["id"], X_Author="Ben")
    path, headers = f"/api/series/{marking.series_id}/undo", {"X-Author": "Ann"}
    assert refused(marking.client.post(path, headers=headers), 409)["details"]["by"] == "Ben"
    reply = answered(marking.client.post(path, json={"skip": True}, headers=headers))
    assert (reply["undone"], reply["skipped"], reply["can_undo"]) == ("draw Long", [mark["id"]], False)


def test_an_id_that_is_no_uuid_is_not_found(marking: Marking) -> None:
    refused(marking.put(span(), "not-a-uuid"), 404)


def test_those_who_follow_a_series_hear_of_each_change_once(marking: Marking) -> None:
    with following(marking) as notices:
        stored = marking.put_ok(span(), X_Author="Ann")
        marking.put_ok(span(), stored["id"])
        assert notices.get(timeout=10) == {
            "what": "annotation", "id": stored["id"], "annotation": stored, "author": "Ann",
        }  # fmt: skip
        answered(marking.client.post(f"/api/series/{marking.series_id}/undo", headers={"X-Author": "Ann"}))
        assert notices.get(timeout=10) == {
            "what": "annotation", "id": stored["id"], "annotation": None, "author": "Ann",
        }  # fmt: skip


@contextmanager
def following(marking: Marking, author: str = "me") -> Iterator[queue.Queue[Json]]:
    """Give the notices that an author's browser on this series gets, in order."""
    notices: queue.Queue[Json] = queue.Queue()
    server = make_server("127.0.0.1", 0, marking.app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    library: Any = socketio
    browser = library.Client()

    def take(message: Json) -> None:
        for item in message["items"]:
            notices.put(item)

    browser.on("series", take)
    browser.connect(f"http://127.0.0.1:{server.port}", headers={"Authorization": f"Bearer {TOKEN}"})
    assert browser.call("join", {"series_id": marking.series_id, "author": author}) == {"series_id": marking.series_id}
    yield notices
    browser.disconnect()
    server.shutdown()
    thread.join()
    server.server_close()
