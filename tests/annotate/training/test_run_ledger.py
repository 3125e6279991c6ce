"""The book of runs: numbers without holes, and an end that is stored whatever stands in its way for a moment."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing

import pytest
from sqlalchemy import event

from annotate.run_ledger import RunLedger
from tests.annotate.training.door import SMALL, Door, in_order


def test_events_are_numbered_on_from_what_is_stored(door: Door, series_id: int) -> None:
    first = RunLedger(door.database, door.publisher)
    run_id = _opened(first, series_id)
    for ledger in (first, RunLedger(door.database, door.publisher)):  # the second as after a restart
        for _ in range(3):
            ledger.record({"run_id": run_id, "time": 1, "type": "warning"})
        assert door.publisher.flush(5)
    assert in_order(door.events(run_id))
    assert len(door.events(run_id)) == 6


def test_a_run_that_reads_as_ended_has_its_last_event(door: Door, series_id: int) -> None:
    ledger = RunLedger(door.database, door.publisher)
    run_id = _opened(ledger, series_id)
    for _ in range(500):
        ledger.record({"run_id": run_id, "time": 1, "type": "batch_done"})
    run = ledger.close_run(_end(run_id), {"first_time": 5})
    assert door.events(run_id)[-1]["type"] == "run_ended"
    assert (run["state"], run["summary"]) == ("stopped", {"first_time": 5, "best_epoch": 1})


def test_a_candle_that_came_late_is_not_taken_for_the_newest(door: Door, series_id: int) -> None:
    ledger = RunLedger(door.database, door.publisher)
    run_id = _opened(ledger, series_id)
    told = (("scored", 7, None), ("learnt", 7, "gap"), ("scored", 3, "late"), ("learnt", 2, "late"))
    for word, time, skipped in told:
        event = {"run_id": run_id, "time": 1, "type": f"candle_{word}", "candle_time": time, "skipped": skipped}
        ledger.record(event)
    ledger.record({"run_id": run_id, "time": 1, "type": "candle_predicted", "candle_time": 8})
    assert door.publisher.flush(5)
    late = {"scored": [3], "learnt": [2]}
    assert ledger.recorded_candles(run_id) == {
        "predicted": 8,
        "scored": 7,
        "learnt": 7,
        "late": late,
        "after_no_trade": [],
    }


def test_an_end_is_stored_once_a_long_write_lets_go(
    door: Door, series_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = RunLedger(door.database, door.publisher)
    run_id = _opened(ledger, series_id)
    _wait_but_shortly(door)
    held, let_go = threading.Event(), threading.Event()
    monkeypatch.setattr("annotate.run_ledger.time.sleep", lambda _seconds: let_go.set())
    monkeypatch.setattr("annotate.run_ledger.STORE_WAIT_S", 0.1)
    blocker = threading.Thread(target=_hold_the_lock, args=(door, held, let_go))
    blocker.start()
    assert held.wait(10)
    run = ledger.close_run(_end(run_id), {})
    blocker.join()
    assert let_go.is_set()
    assert door.run(run_id) == run
    assert door.publisher.flush(10)
    assert door.events(run_id)[-1]["type"] == "run_ended"


def _wait_but_shortly(door: Door) -> None:
    """Let writers wait 10 ms for the lock, where 5 s are usual."""
    for engine in (door.database._writers, door.database._event_writers):
        engine.dispose()
        event.listen(engine, "connect", lambda connection, _record: connection.execute("PRAGMA busy_timeout=10"))


def _hold_the_lock(door: Door, held: threading.Event, until: threading.Event) -> None:
    # As another program does that looks into the file; the writers of this process wait in line before the lock.
    with closing(sqlite3.connect(door.database.path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        held.set()
        assert until.wait(10)
        connection.execute("ROLLBACK")


def _opened(ledger: RunLedger, series_id: int) -> int:
    run_id: int = ledger.open_run(mode="batch", series_id=series_id, dataset_id=None, config=SMALL)["id"]
    return run_id


def _end(run_id: int) -> dict[str, object]:
    ended = {"state": "stopped", "cause": None, "summary": {"best_epoch": 1}}
    return {"run_id": run_id, "time": 1, "type": "run_ended", **ended}
