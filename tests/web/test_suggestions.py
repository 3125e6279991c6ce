"""Suggestions over HTTP with the real suggester: asked for, decided, undone, and what a replay lets them see."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotate.candles import Candles
from annotate.models import Json
from annotate.store.series import create_series
from nn.dataset_dir import COLUMNS
from nn.dataset_dir import Candles as Rows
from nn.few.market import Market
from nn.few.spans import Span
from tests.nn.few.markets import HOUR_MS, candles, changed_after, swings_of
from tests.web.marking import Marking, answered, refused, serving

NAMES = ("Short", "Long")
ROWS = candles(1_500, seed=7)
SWINGS = swings_of(Market(ROWS), 3.0)
DRAWN = 12
WAIT_S = 120.0


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Marking]:
    with serving(Path(tmp_path_factory.mktemp("suggesting"))) as marking:
        yield marking


@pytest.fixture
def marking(served: Marking) -> Marking:
    """A series of its own with twelve swings marked."""
    made = with_candles(served, ROWS)
    for span in SWINGS[:DRAWN]:
        made.put_ok(span_body(span))
    return made


def with_candles(served: Marking, rows: Rows) -> Marking:
    """Give the application with a series of these candles."""
    parts = served.parts
    with parts.database.write() as session:
        series = create_series(session, symbol="WALK", timeframe="1h", source="upload", created=1)
        columns = (getattr(rows, column).copy() for column in COLUMNS)
        parts.candles.write_series(session, series.id, "1h", Candles(*columns))
    return Marking(served.app, served.client, series.id)


def span_body(span: Span) -> Json:
    start, end = int(ROWS.time[span.start]), int(ROWS.time[span.end - 1]) + HOUR_MS
    return {"kind": "span", "label": NAMES[span.label], "start": start, "end": end, "revision": 0}


def suggest(marking: Marking, **wanted: Any) -> Json:
    """Ask for suggestions and wait until they are there; give the task."""
    path = f"/api/series/{marking.series_id}/suggestions"
    task: Json = answered(marking.client.post(path, json=wanted), 202)["task"]
    deadline = time.monotonic() + WAIT_S
    while task["state"] == "running" and time.monotonic() < deadline:
        time.sleep(0.05)
        task = answered(marking.client.get(f"/api/suggestion-tasks/{task['id']}"))["task"]
    assert task["state"] == "finished", task
    return task


def shown(marking: Marking, **query: Any) -> list[Json]:
    answer = marking.client.get(f"/api/series/{marking.series_id}/suggestions", query_string=query)
    items: list[Json] = answered(answer)["items"]
    return items


def decide(marking: Marking, decision: str, **which: Any) -> Json:
    path = f"/api/series/{marking.series_id}/suggestions/decisions"
    return answered(marking.client.post(path, json={"decision": decision, **which}))


def lessons(marking: Marking) -> list[Json]:
    items: list[Json] = answered(marking.client.get(f"/api/series/{marking.series_id}/lessons"))["items"]
    return items


def sources(marking: Marking) -> dict[str, int]:
    found = [mark["source"] for mark in marking.marks()]
    return {source: found.count(source) for source in sorted(set(found))}


def test_a_persons_day_with_suggestions(marking: Marking) -> None:
    task = suggest(marking)
    first = shown(marking)
    assert task["found"] == len(first) > 8
    assert len(marking.marks()) == DRAWN  # a suggestion is never a mark
    accepted = decide(marking, "accept", ids=[first[0]["id"], first[1]["id"]])
    assert {mark["id"] for mark in accepted["annotations"]} == {first[0]["id"], first[1]["id"]}
    corrected = {"kind": "span", "label": "Range", "start": first[2]["start"], "end": first[2]["end"] + HOUR_MS}
    decide(marking, "correct", ids=[first[2]["id"]], mark=corrected)
    decide(marking, "reject", ids=[first[3]["id"]])
    decide(marking, "ignore", ids=[first[4]["id"]])
    assert sources(marking) == {"human": DRAWN, "model_accepted": 2, "model_corrected": 1}
    assert lessons(marking)[0]["fates"] == {
        "accepted": 2, "corrected": 1, "rejected": 1, "ignored": 1, "open": len(first) - 5,
    }  # fmt: skip
    suggest(marking, accepted_weight=0.2)
    (learnt,) = lessons(marking)[0]["learnt"]
    assert learnt["marks"] == {"human": DRAWN, "model_accepted": 2, "model_corrected": 1}
    assert learnt["weights"] == {"model_accepted": 0.2}
    assert learnt["rejected"] == 1
    again = {(item["label"], item["start"], item["end"]) for item in shown(marking)}
    assert not again & {(item["label"], item["start"], item["end"]) for item in first[:5]}


def test_each_decision_is_one_step_of_undo_and_comes_back_with_redo(marking: Marking) -> None:
    suggest(marking, source="zigzag", labels={"rising": "Long", "falling": "Short"}, parameters={"turn": 3})
    path, before = f"/api/series/{marking.series_id}", len(shown(marking))
    decide(marking, "accept")
    assert (len(shown(marking)), len(marking.marks())) == (0, DRAWN + before)
    assert answered(marking.client.post(f"{path}/undo"))["undone"] == f"accept {before} suggestions"
    assert (len(shown(marking)), len(marking.marks())) == (before, DRAWN)
    assert answered(marking.client.post(f"{path}/redo"))["redone"] == f"accept {before} suggestions"
    assert (len(shown(marking)), len(marking.marks())) == (0, DRAWN + before)
    answered(marking.client.post(f"{path}/undo"))
    one = shown(marking)[0]
    decide(marking, "reject", ids=[one["id"]])
    assert answered(marking.client.post(f"{path}/undo"))["undone"] == f"reject {one['label']}"
    assert one["id"] in {item["id"] for item in shown(marking)}


def test_a_decision_is_made_once_and_only_of_what_is_there(marking: Marking) -> None:
    suggest(marking, source="zigzag", labels={"rising": "Long"})
    one, other = (item["id"] for item in shown(marking)[:2])
    path = f"/api/series/{marking.series_id}/suggestions/decisions"
    decide(marking, "ignore", ids=[one])
    assert (
        "is ignored already"
        in refused(marking.client.post(path, json={"decision": "accept", "ids": [one]}), 409)["message"]
    )
    gone = {"decision": "accept", "ids": [other, "no such"]}
    assert "no suggestion no such" in refused(marking.client.post(path, json=gone), 404)["message"]
    assert other in {item["id"] for item in shown(marking)}  # all or nothing
    both = {"decision": "correct", "ids": [other, shown(marking)[1]["id"]], "mark": span_body(SWINGS[0])}
    assert "a correction is of one suggestion" in refused(marking.client.post(path, json=both), 422)["message"]


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({"source": "astrology"}, "no rule 'astrology'"),
        ({"source": "zigzag"}, "name the label for rising"),
        ({"source": "zigzag", "labels": {"rising": "Moon"}}, "labels.rising = 'Moon': the label set has Long"),
        ({"source": "zigzag", "labels": {"rising": "Long"}, "parameters": {"turn": 99}}, "turn = 99; it lies between"),
        ({"accepted_weight": 0}, "accepted_weight = 0: lies above 0"),
        ({"from": 5, "to": 5}, "to = 5: must be after from = 5"),
        ({"mode": "magic"}, "mode = 'magic': use history or causal"),
    ],
)
def test_a_wrong_wish_is_refused_by_name(marking: Marking, wanted: Json, says: str) -> None:
    if wanted.get("source") == "astrology":
        wanted = {**wanted, "labels": {"rising": "Long"}}
    answer = marking.client.post(f"/api/series/{marking.series_id}/suggestions", json=wanted)
    assert says in refused(answer, 422)["message"]


def test_an_accepted_mark_that_a_person_moves_is_theirs(marking: Marking) -> None:
    suggest(marking, source="zigzag", labels={"rising": "Long"})
    decide(marking, "accept", ids=[shown(marking)[0]["id"]])
    (mark,) = (mark for mark in marking.marks() if mark["source"] == "model_accepted")
    commented = marking.put_ok({**mark, "comment": "good"}, mark["id"])
    assert commented["source"] == "model_accepted"
    moved = marking.put_ok({**commented, "end": mark["end"] + HOUR_MS}, mark["id"])
    assert moved["source"] == "model_corrected"


def test_undo_of_an_accepted_and_moved_suggestion_leads_back_to_the_suggestion_and_redo_to_the_moved_mark(
    marking: Marking,
) -> None:
    suggest(marking, source="zigzag", labels={"rising": "Long"})
    path, offered = f"/api/series/{marking.series_id}", shown(marking)
    decide(marking, "accept", ids=[offered[0]["id"]])
    (mark,) = (mark for mark in marking.marks() if mark["source"] == "model_accepted")
    moved = marking.put_ok({**mark, "end": mark["end"] + HOUR_MS}, mark["id"])
    for _ in range(2):
        answered(marking.client.post(f"{path}/undo"))
    assert shown(marking) == offered
    assert len(marking.marks()) == DRAWN
    for _ in range(2):
        answered(marking.client.post(f"{path}/redo"))
    (again,) = (mark for mark in marking.marks() if mark["id"] == moved["id"])
    assert (again["start"], again["end"], again["source"]) == (moved["start"], moved["end"], moved["source"])
    assert len(shown(marking)) == len(offered) - 1


def test_a_doubted_mark_leaves_the_list_when_it_is_confirmed_or_changed(marking: Marking) -> None:
    wrong = marking.marks()[6]
    flipped = marking.put_ok({**wrong, "label": "Short" if wrong["label"] == "Long" else "Long"}, wrong["id"])
    path = f"/api/series/{marking.series_id}/doubts"
    doubts = answered(marking.client.get(f"{path}?count=2"))["items"]
    assert doubts[0]["id"] == flipped["id"]
    other = doubts[1]
    answered(marking.client.post(f"{path}/{other['id']}/confirm", json={"revision": other["revision"]}))
    marking.put_ok({**flipped, "label": wrong["label"]}, wrong["id"])
    left = {doubt["id"] for doubt in answered(marking.client.get(f"{path}?count=50"))["items"]}
    assert left
    assert not left & {flipped["id"], other["id"]}


def test_places_leave_out_what_was_looked_through(marking: Marking) -> None:
    path = f"/api/series/{marking.series_id}"
    half = int(ROWS.time[1_000])
    answered(marking.client.put(f"{path}/reviewed", json={"start": int(ROWS.time[0]), "end": half}))
    for order in ("random", "entropy"):
        places = answered(marking.client.post(f"{path}/places", json={"order": order, "count": 5}))["items"]
        assert places
        assert all(place["start"] >= half - 200 * HOUR_MS for place in places)
        assert all(place["why"] for place in places)
    assert "use random" in refused(marking.client.post(f"{path}/places", json={"order": "luck"}), 422)["message"]


def test_the_curve_and_the_state_speak_of_the_marks(marking: Marking) -> None:
    path = f"/api/series/{marking.series_id}"
    curve = answered(marking.client.get(f"{path}/learning-curve"))
    assert [point["marks"] for point in curve["points"]] == sorted({point["marks"] for point in curve["points"]})
    (state,) = answered(marking.client.get(f"{path}/state?count=3"))["items"]
    assert state["classes"] == ["Long", "Short", None]
    assert np.allclose(np.sum(state["probabilities"], axis=1), 1, atol=1e-3)


def test_a_series_without_marks_is_told_to_mark_first(marking: Marking) -> None:
    for mark in marking.marks():
        answered(marking.client.delete(f"/api/series/{marking.series_id}/annotations/{mark['id']}"))
    answer = marking.client.get(f"/api/series/{marking.series_id}/doubts")
    assert "mark a few first" in refused(answer, 409)["message"]


def test_in_a_replay_nothing_after_the_cursor_is_used_or_shown(marking: Marking) -> None:
    path, cursor = f"/api/series/{marking.series_id}", int(ROWS.time[1_000])
    suggest(marking, source="zigzag", labels={"rising": "Long", "falling": "Short"})
    seen_by_all = shown(marking)
    answered(marking.client.post(f"{path}/replay", json={"at": cursor}), 201)
    try:
        assert shown(marking) == []  # made with a look at all candles
        assert lessons(marking) == []
        for span in SWINGS[:DRAWN]:
            marking.put_ok(span_body(span))
        suggest(marking)
        made = shown(marking)
        assert made
        assert max(item["end"] for item in made) <= cursor
        assert lessons(marking)[0]["learnt"][0]["marks"] == {"human": DRAWN}  # not the marks of hindsight
        assert lessons(marking)[0]["cursor"] == cursor
        accepted = decide(marking, "accept", ids=[made[0]["id"]])["annotations"][0]
        assert (accepted["mode"], accepted["decided_at"]) == ("replay", cursor)
    finally:
        answered(marking.client.delete(f"{path}/replay"))
    assert len(seen_by_all) > len([item for item in seen_by_all if item["end"] <= cursor])


def test_in_a_replay_another_future_gives_the_same_suggestions_places_and_doubts(served: Marking) -> None:
    other = changed_after(Market(ROWS), CUT).candles
    answers = []
    for rows in (ROWS, other):
        marking = with_candles(served, rows)
        path = f"/api/series/{marking.series_id}"
        answered(marking.client.post(f"{path}/replay", json={"at": int(ROWS.time[CUT])}), 201)
        try:
            for span in [swing for swing in SWINGS if swing.end < CUT - 200][:DRAWN]:
                marking.put_ok(span_body(span))
            answers.append(all_that_is_proposed(marking))
        finally:
            answered(marking.client.delete(f"{path}/replay"))
        answers.append(all_that_is_proposed(marking))  # the control: who sees all candles is told something else
    assert answers[0] == answers[2]
    assert all(mine for mine in answers[0].values())
    assert {name for name in answers[1] if answers[1][name] == answers[3][name]} <= {"doubts", "random"}


CUT = 1_000


def all_that_is_proposed(marking: Marking) -> dict[str, list[Any]]:
    """Give what each source suggests, where to mark next and which marks are doubted, without ids."""
    path = f"/api/series/{marking.series_id}"
    rule = {"source": "zigzag", "labels": {"rising": "Long", "falling": "Short"}}
    found: dict[str, list[Any]] = {}
    asked_for: dict[str, Json] = {"history": {}, "causal": {"mode": "causal"}, "rule": rule}
    for name, wanted in asked_for.items():
        suggest(marking, **wanted)
        items = [item for item in shown(marking) if (item["source"] == "zigzag") == (name == "rule")]
        found[name] = [(item["label"], item["start"], item["end"], item["probability"]) for item in items]
    for order in ("random", "unseen"):
        asked = {"order": order, "count": 5, "seed": 3}
        found[order] = answered(marking.client.post(f"{path}/places", json=asked))["items"]
    doubts = answered(marking.client.get(f"{path}/doubts"))["items"]
    found["doubts"] = [(doubt["start"], doubt["doubt"]) for doubt in doubts]
    return found


def test_the_trained_model_suggests_too_and_says_what_it_learnt_of(marking: Marking) -> None:
    assert "no model is loaded" in ended(marking, source="model")["error"]
    assert ended(marking, source="best")["source"] == "marks"  # nothing to compare with: the marks' own lesson
    rejected = shown(marking)[0]
    decide(marking, "reject", ids=[rejected["id"]])
    run = train(marking)
    data = first_event(marking, run, "run_started")["data"]
    assert (data["marks"], data["rejected"]) == ({"human": DRAWN}, 1)
    task = ended(marking, source="model")
    assert (task["state"], task["found"], task["done"]) == ("finished", len(shown(marking)), len(ROWS))
    assert task["found"] > 0
    assert {item["source"] for item in shown(marking)} == {"model"}  # in the place of the other lesson's
    lesson = lessons(marking)[0]
    (learnt,) = lesson["learnt"]
    assert learnt["reader"] == f"transformer of run {run}"
    assert (learnt["marks"], learnt["rejected"], learnt["weights"]) == ({"human": DRAWN}, 1, {"model_accepted": 0.3})
    marks = [(span.start, span.end) for span in SWINGS[:DRAWN]]
    ends = [tuple(np.searchsorted(ROWS.time, [item["start"], item["end"]]).tolist()) for item in shown(marking)]
    assert not set(ends) & set(marks)  # nothing is suggested over what is marked
    later = [marking.put_ok(span_body(span)) for span in SWINGS if ROWS.time[span.start] > data["validation"]["to"]]
    assert len(later) >= 5
    marking.put_ok({"kind": "chart_class", "label": "Long", "start": None, "end": None})
    marking.put_ok({"kind": "level", "label": "Long", "price": 1.0, "time": None, "until": None})
    first, second = ({"time": int(ROWS.time[row]), "price": 1.0} for row in (3, 9))
    marking.put_ok({"kind": "trend_line", "label": "Long", "start": first, "end": second, "extend": "none"})
    best = ended(marking, source="best")
    compared = lessons(marking)[0]["request"]["compared"]
    assert compared["marks"] == len(later)
    assert (
        best["source"] == lessons(marking)[0]["source"] == ("model" if compared["other"] > compared["own"] else "marks")
    )
    path = f"/api/series/{marking.series_id}/replay"
    answered(marking.client.post(path, json={"at": int(ROWS.time[1_000])}), 201)
    try:
        assert "past the cursor of the replay" in ended(marking, source="model")["error"]
    finally:
        answered(marking.client.delete(path))


def ended(marking: Marking, **wanted: Any) -> Json:
    """Ask for suggestions and give the task when it is over."""
    task: Json = answered(marking.client.post(f"/api/series/{marking.series_id}/suggestions", json=wanted), 202)["task"]
    return until(lambda: answered(marking.client.get(f"/api/suggestion-tasks/{task['id']}"))["task"])


def train(marking: Marking) -> int:
    """Train a small model on the marks; give the finished run."""
    config = {"sequence_length": 32, "d_model": 16, "n_layers": 1, "n_heads": 2, "epochs": 2, "split": [0.5, 0.2, 0.3]}
    body = {"mode": "batch", "series_id": marking.series_id, "config": config}
    run: int = answered(marking.client.post("/api/runs", json=body), 202)["run"]["id"]
    done = until(lambda: answered(marking.client.get(f"/api/runs/{run}"))["run"])
    assert done["state"] == "finished", done
    return run


def first_event(marking: Marking, run: int, kind: str) -> Json:
    events = answered(marking.client.get(f"/api/runs/{run}/events"))["items"]
    return next(event for event in events if event["type"] == kind)


def until(look: Callable[[], Json]) -> Json:
    """Look until it is over."""
    deadline = time.monotonic() + WAIT_S
    while (now := look())["state"] in ("queued", "running"):
        assert time.monotonic() < deadline, now
        time.sleep(0.05)
    return now
