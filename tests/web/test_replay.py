"""Replay over HTTP: opened, stepped, moved back, marked in, closed; and blind passes."""

from __future__ import annotations

from typing import Any

from annotate.models import Json
from annotate.store.events import add_events
from annotate.store.runs import add_run
from tests.annotate.annotations.builders import HOUR, START, level, point, span, trade
from tests.web.marking import Marking, answered, refused
from tests.web.test_annotations import following


def replay(marking: Marking, method: str = "GET", author: str = "me", status: int = 200, **body: Any) -> Json:
    path = f"/api/series/{marking.series_id}/replay"
    options: Json = {"json": body} if method in ("POST", "PATCH") else {}
    answer = marking.client.open(path, method=method, headers={"X-Author": author}, **options)
    reply: Json = answered(answer, 201 if method == "POST" else status)["replay"]
    return reply


def start(marking: Marking, place: int = 50, author: str = "me") -> Json:
    """Begin a replay that shows `place` candles."""
    return replay(marking, "POST", author, at=START + place * HOUR)


def times(marking: Marking, timeframe: str = "1h", author: str = "me") -> list[int]:
    path = f"/api/series/{marking.series_id}/candles?encoding=list&timeframe={timeframe}"
    found: list[int] = answered(marking.client.get(path, headers={"X-Author": author}))["time"]
    return found


def test_a_replay_opens_at_a_time_and_closes_again(marking: Marking) -> None:
    assert replay(marking) is None
    opened = start(marking)
    assert (opened["cursor"], opened["candles"], opened["at_end"]) == (START + 50 * HOUR, 50, False)
    assert replay(marking) == opened
    assert len(times(marking)) == 50
    assert replay(marking, "DELETE") is None
    assert len(times(marking)) == 100


def test_steps_and_play_go_on_and_back(marking: Marking) -> None:
    start(marking)
    assert replay(marking, "PATCH", step=1)["candles"] == 51
    assert replay(marking, "PATCH", step=25)["candles"] == 76
    back = replay(marking, "PATCH", step=-30)
    assert (back["candles"], back["furthest"]) == (46, START + 76 * HOUR)
    assert len(times(marking)) == 46
    assert replay(marking, "PATCH", step=1, timeframe="4h")["candles"] == 48
    end = replay(marking, "PATCH", step=1_000)
    assert (end["candles"], end["at_end"]) == (100, True)
    assert replay(marking, "PATCH", at=START + 10 * HOUR)["candles"] == 10


def test_a_random_start_hides_the_price_axis_and_has_room_on_both_sides(marking: Marking) -> None:
    opened = replay(marking, "POST", random=True)
    assert opened["random"] is opened["hide_price"] is True
    assert 1 <= opened["candles"] < 100
    assert replay(marking, "PATCH", hide_price=False)["hide_price"] is False


def test_each_author_has_a_replay_of_their_own(marking: Marking) -> None:
    start(marking, 50, "Ann")
    assert (len(times(marking, author="Ann")), len(times(marking, author="Ben"))) == (50, 100)
    start(marking, 20, "Ben")
    assert (len(times(marking, author="Ann")), len(times(marking, author="Ben"))) == (50, 20)


def test_the_coarser_candle_at_the_cursor_holds_the_finer_ones_up_to_it(marking: Marking) -> None:
    start(marking, 50)
    path = f"/api/series/{marking.series_id}/candles?encoding=list&timeframe="
    hours = answered(marking.client.get(path + "1h"))
    days = answered(marking.client.get(path + "1d"))
    assert days["time"] == [START, START + 24 * HOUR, START + 48 * HOUR]
    assert days["close"][-1] == hours["close"][-1]
    assert days["high"][-1] == max(hours["high"][48:])
    assert days["partial"] == [START + 48 * HOUR]


def test_series_say_no_more_than_the_cursor_allows(marking: Marking) -> None:
    start(marking, 50)
    items = answered(marking.client.get("/api/series"))["items"]
    (listed,) = [item for item in items if item["id"] == marking.series_id]
    assert (listed["candles"], listed["last"]) == (50, START + 49 * HOUR)


def test_marks_made_in_replay_carry_mode_and_cursor_set_by_the_server(marking: Marking) -> None:
    start(marking, 50)
    mark = marking.put_ok(span(10, 20, mode="hindsight", decided_at=1, known_at=2))
    assert (mark["mode"], mark["decided_at"], mark["known_at"]) == ("replay", START + 50 * HOUR, START + 20 * HOUR)
    replay(marking, "PATCH", step=1)
    level_mark = marking.put_ok(level())
    assert (level_mark["decided_at"], level_mark["known_at"]) == (START + 51 * HOUR, START + 51 * HOUR)
    replay(marking, "DELETE")
    assert {each["mode"] for each in marking.marks()} == {"replay"}
    assert marking.put_ok(point())["mode"] == "hindsight"


def test_a_trades_entry_keeps_the_cursor_at_which_it_was_decided(marking: Marking) -> None:
    start(marking, 11)
    opened = marking.put_ok(trade(10, 10))
    replay(marking, "PATCH", step=10)
    closed = marking.put_ok(trade(10, 20, revision=1), opened["id"])
    assert (closed["entry_decided_at"], closed["decided_at"]) == (START + 11 * HOUR, START + 21 * HOUR)


def test_a_mark_may_not_reach_beyond_the_cursor(marking: Marking) -> None:
    start(marking, 50)
    assert "after the replay's cursor" in refused(marking.put(span(40, 51)), 422)["message"]
    assert "after the replay's cursor" in refused(marking.put(point(50)), 422)["message"]
    marking.put_ok(span(40, 50))


def test_marks_of_hindsight_are_hidden_until_the_replay_ends(marking: Marking) -> None:
    known = marking.put_ok(span(10, 20))
    start(marking, 50)
    assert marking.marks() == []
    assert marking.client.post(f"/api/series/{marking.series_id}/undo").status_code == 409
    replay(marking, "DELETE")
    assert marking.marks() == [known]


def test_bad_calls_are_refused_by_name(marking: Marking) -> None:
    path = f"/api/series/{marking.series_id}/replay"
    assert refused(marking.client.post(path, json={}), 422)["details"]["field"] == "at"
    assert "no candle had closed" in refused(marking.client.post(path, json={"at": START}), 422)["message"]
    assert "open a replay first" in refused(marking.client.patch(path, json={"step": 1}), 404)["message"]
    start(marking)
    assert refused(marking.client.patch(path, json={"step": 10**9}), 422)["details"]["field"] == "step"
    assert (
        refused(marking.client.patch(path, json={"step": 1, "timeframe": "7m"}), 422)["details"]["field"] == "timeframe"
    )


def test_a_conflict_within_the_replay_still_shows_both_versions(marking: Marking) -> None:
    start(marking, 50)
    mark = marking.put_ok(span(10, 20))
    newer = marking.put_ok(span(12, 22, revision=1), mark["id"])
    details = refused(marking.put(span(14, 24, revision=1), mark["id"]), 409)["details"]
    assert (details["stored"], details["yours"]["start"]) == (newer, START + 14 * HOUR)


def test_an_answer_that_was_under_way_when_the_replay_began_is_held_back(marking: Marking) -> None:
    path = f"/api/series/{marking.series_id}/candles"
    with marking.app.test_request_context(path, headers={"X-Author": "Ann"}):
        assert marking.app.preprocess_request() is None
        full = marking.app.make_response(marking.app.dispatch_request())
        start(marking, 50, "Ann")
        held_back = marking.app.process_response(full)
    assert held_back.status_code == 409
    assert "ask again" in held_back.get_data(as_text=True)
    with marking.app.test_request_context(path, headers={"X-Author": "Ann"}):
        assert marking.app.preprocess_request() is None
        passed = marking.app.process_response(marking.app.make_response(marking.app.dispatch_request()))
    assert passed.status_code == 200


def test_a_blind_pass_hides_the_marks_of_others(marking: Marking) -> None:
    theirs = marking.put_ok(span(10, 20), X_Author="Ben")
    path = f"/api/series/{marking.series_id}/blind"
    begun = answered(marking.client.post(path, json={"hides": "others"}), 201)["pass"]
    assert (begun["author"], begun["hides"], begun["ended"]) == ("me", "others", None)
    mine = marking.put_ok(span(30, 40))
    assert marking.marks() == [mine]
    assert refused(marking.put(span(11, 21, revision=1), theirs["id"]), 409)["code"] == "hidden"
    assert (
        refused(marking.client.post("/api/datasets", json={"series_id": marking.series_id}), 409)["code"]
        == "blind_pass"
    )
    assert refused(marking.client.post(path, json={"hides": "all"}), 409)["details"]["id"] == begun["id"]
    assert answered(marking.client.delete(path))["pass"]["ended"] is not None
    assert [mark["id"] for mark in marking.marks()] == [theirs["id"], mine["id"]]
    assert len(answered(marking.client.get(path))["items"]) == 1


def test_in_a_blind_pass_runs_say_nothing_of_what_they_learnt_from_marks(marking: Marking) -> None:
    with marking.parts.database.write() as session:
        run = add_run(session, mode="live", series_id=marking.series_id, dataset_id=None, config={}, created=1)
        run.summary = {"classes": {"Secret": 3}}
        head = {"run_id": run.id, "time": 1, "line": None}
        facts: list[Json] = [
            {"type": "run_started", "data": {"marks": {"human": 7}}, "notes": ["7 human"]},
            {"type": "candle_predicted", "label_probabilities": {"Secret": 1.0}, "trend_up": 0.5},
            {"type": "candle_scored", "correct": True},
        ]
        add_events(session, [{**head, "seq": seq, **each} for seq, each in enumerate(facts, 1)])
    path = f"/api/series/{marking.series_id}/blind"
    with following(marking) as mine, following(marking, author="Ben") as theirs:
        gone = marking.put_ok(span(60, 70), X_Author="Ann")
        for notices in (mine, theirs):
            assert notices.get(timeout=10)["annotation"] == gone
        answered(marking.client.post(path, json={"hides": "others"}), 201)
        assert mine.get(timeout=10)["what"] == "blind"
        answered(marking.client.delete(f"{path[:-6]}/annotations/{gone['id']}", headers={"X-Author": "Ann"}))
        told = {"run": {"id": run.id, "summary": {"classes": {"Secret": 3}}}}
        marking.parts.publisher.series_changed(marking.series_id, {"what": "run", "id": run.id, **told})
        task = {"what": "suggestions", "id": 1, "task": {"found": 5}}
        marking.parts.publisher.series_changed(marking.series_id, task)
        assert [mine.get(timeout=10) for _ in range(3)] == [
            {"what": "annotations", "id": marking.series_id},
            {"what": "run", "id": run.id, "run": {"id": run.id, "summary": {}}},
            {"what": "suggestions", "id": 1},
        ]
        assert theirs.get(timeout=10)["id"] == gone["id"], "another's blind pass is nobody else's news"
    events = answered(marking.client.get(f"/api/runs/{run.id}/events"))["items"]
    assert [event["type"] for event in events] == ["hidden", "candle_predicted", "candle_scored"]
    assert (events[1]["label_probabilities"], events[1]["trend_up"]) == (None, 0.5)
    assert answered(marking.client.get(f"/api/runs/{run.id}"))["run"]["summary"] == {}
    for address in (f"/api/runs/{run.id}/figures", f"/api/runs/{run.id}/report.html"):
        assert refused(marking.client.get(address), 409)["code"] == "blind_pass"
    config = {"mode": "batch", "series_id": marking.series_id}
    assert refused(marking.client.post("/api/runs", json=config), 409)["code"] == "blind_pass"
    answered(marking.client.delete(path))
    assert answered(marking.client.get(f"/api/runs/{run.id}/events"))["items"][0]["notes"] == ["7 human"]


def test_a_second_pass_over_ones_own_marks_hides_the_first_one(marking: Marking) -> None:
    marking.put_ok(span(10, 20))
    path = f"/api/series/{marking.series_id}/blind"
    answered(marking.client.post(path, json={"hides": "all"}), 201)
    assert marking.marks() == []
    again = marking.put_ok(span(11, 21))
    assert marking.marks() == [again]
    answered(marking.client.delete(path))
    assert len(marking.marks()) == 2
