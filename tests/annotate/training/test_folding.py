"""Old per-candle events fold into hours: sums stay right, numbers say where the list is whole, a resume still works."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.folding import Folding
from annotate.run_ledger import RunLedger
from annotate.store import candle_hours
from annotate.store.candle_hours import HOUR, list_hours
from annotate.store.events import add_events, events_after, first_seq
from tests.annotate.training.door import LIVE, Door

Json = dict[str, Any]
CANDLES, PER_HOUR = 150, 60
NOW = 10**12


@pytest.fixture(autouse=True)
def _few_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candle_hours, "KEEP_NEWEST", 90)
    monkeypatch.setattr(candle_hours, "AT_ONCE", 50)  # so that an hour is folded in several pieces


def events_of(run_id: int) -> list[Json]:
    """A live run of one-minute candles, three events each, a warning among them; every tenth is skipped."""
    events: list[Json] = [{"type": "run_started"}]
    for number in range(CANDLES):
        time, skipped = number * 60_000, "gap" if number % 10 == 9 else None
        right = None if skipped else number % 2 == 0
        figures = {"of": "unseen", "candle": {"all": {"n": number, "accuracy": 0.5, "nll": 1.5, "baselines": {}}}}
        seen = number < 10
        events += [
            {"type": "candle_predicted", "candle_time": time},
            {
                "type": "candle_scored", "candle_time": time, "seen": seen, "skipped": skipped, "correct": right,
                "loss": None if skipped else 1.0, "trend_correct": right, "figures": figures,
            },
            {"type": "candle_learnt", "candle_time": time, "skipped": skipped, "loss": None if skipped else 2.0},
        ]  # fmt: skip
        if number == 40:
            events.append({"type": "warning", "code": "non_finite", "message": "said once"})
    return [{"run_id": run_id, "seq": seq, "time": 1000, **event} for seq, event in enumerate(events, start=1)]


@pytest.fixture
def run_id(door: Door, series_id: int) -> int:
    ledger = RunLedger(door.database, door.publisher)
    made: int = ledger.open_run(mode="live", series_id=series_id, dataset_id=None, config=LIVE)["id"]
    with door.database.write_events() as session:
        add_events(session, events_of(made))
    return made


def folded(door: Door, run_id: int) -> list[Json]:
    Folding(door.database, 1).fold_all(NOW)
    with door.database.read() as session:
        return list_hours(session, run_id)


def test_an_hour_holds_what_its_events_amounted_to(door: Door, run_id: int) -> None:
    first, second = folded(door, run_id)
    assert (first["hour"], second["hour"]) == (0, HOUR)
    assert {name: first[name] for name in ("predicted", "scored", "unseen", "hits", "learnt", "skipped")} == {
        "predicted": 60, "scored": 54, "unseen": 45, "hits": 25, "learnt": 54, "skipped": {"gap": 6},
    }  # fmt: skip
    assert (first["loss_sum"], first["learnt_loss_sum"], first["trends"]) == (45.0, 108.0, 45)
    assert first["figures"]["candle"]["all"]["n"] == 59


def test_nothing_is_counted_twice_however_often_it_folds(door: Door, run_id: int) -> None:
    assert folded(door, run_id) == folded(door, run_id)


def test_other_events_stay_and_the_answer_says_from_where_the_list_is_whole(door: Door, run_id: int) -> None:
    folded(door, run_id)
    with door.database.read() as session:
        left, first = events_after(session, run_id, 0), first_seq(session, run_id)
    assert [event["type"] for event in left[:2]] == ["run_started", "warning"]
    assert first == left[2]["seq"]
    assert [event["seq"] for event in left[2:]] == list(range(left[2]["seq"], 3 * CANDLES + 3))
    assert len(left) == 90 + 2
    body = door.client().get(f"/api/runs/{run_id}/events?after=5").get_json()
    assert body["first_seq"] == first


def test_what_is_young_stays(door: Door, run_id: int) -> None:
    Folding(door.database, 1).fold_all(1000 + HOUR)
    assert len(door.events(run_id)) == 3 * CANDLES + 2
    Folding(door.database, 1).fold_all(1001 + HOUR)
    assert len(door.events(run_id)) == 92


def test_a_run_that_is_resumed_finds_its_newest_candles(door: Door, run_id: int) -> None:
    folded(door, run_id)
    newest = (CANDLES - 1) * 60_000
    told = RunLedger(door.database, door.publisher).recorded_candles(run_id)
    late: dict[str, list[int]] = {"scored": [], "learnt": []}
    assert told == {"predicted": newest, "scored": newest, "learnt": newest, "late": late, "after_no_trade": []}


def test_the_hours_of_a_run_and_its_figures_are_given(door: Door, run_id: int) -> None:
    hours = folded(door, run_id)
    client = door.client()
    assert client.get(f"/api/runs/{run_id}/hours").get_json()["items"] == hours
    figures = client.get(f"/api/runs/{run_id}/figures").get_json()["items"]
    curve = next(item for item in figures if item["name"] == "candle_accuracy")["figure"]["data"][0]
    assert curve["x"][0].startswith("1970-01-01T00:59")  # the first point is the end of the first folded hour


def test_a_page_may_leave_out_all_but_the_newest_candles(door: Door, run_id: int) -> None:
    items = door.client().get(f"/api/runs/{run_id}/events?candles=6").get_json()["items"]
    assert [item["type"] for item in items[:2]] == ["run_started", "warning"]
    assert [item["seq"] for item in items[2:]] == list(range(3 * CANDLES - 3, 3 * CANDLES + 3))
