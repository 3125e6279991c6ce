"""The publisher: stored before sent, in order, each client at its own pace, bounded whatever a client does."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import event

from annotate import delivery
from annotate.db import Base, Database
from annotate.models import LabelSet, Run, Series
from annotate.publisher import Publisher
from annotate.store.events import events_after
from tests.annotate.training.door import Json, one_to

RUN = 1


class Wire:
    """What would be the Socket.IO server: keeps what was sent, acknowledges when a client is said to."""

    def __init__(self) -> None:
        self.server = self.manager = self
        self.eio = SimpleNamespace(sockets=Connections(self))
        self.sent: list[tuple[str, str, Json]] = []
        self.waiting: dict[str, Callable[[], None]] = {}
        self.dropped: list[str] = []
        self.prompt: set[str] = set()

    def emit(self, name: str, body: Json, *, to: str, callback: Callable[[], None]) -> None:
        self.sent.append((to, name, body))
        if to in self.prompt:
            callback()
        else:
            self.waiting[to] = callback

    def eio_sid_from_sid(self, sid: str, namespace: str) -> str:
        return sid

    def close(self, sid: str, **_how: bool) -> None:
        self.dropped.append(sid)

    def events(self, sid: str) -> list[int]:
        return [item["seq"] for to, name, body in self.sent if (to, name) == (sid, "events") for item in body["items"]]


class Connections:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def get(self, sid: str) -> Any:
        return SimpleNamespace(close=partial(self._wire.close, sid))


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "annotate.db")
    Base.metadata.create_all(made.engine)
    with made.write() as session:
        session.add(LabelSet(id=1, name="default"))
        session.flush()
        session.add(Series(id=1, symbol="A", timeframe="1s", source="upload", label_set_id=1, created=0, facts={}))
        session.flush()
        session.add(Run(id=RUN, mode="batch", series_id=1, state="running", config={}, created=0, summary={}))
    yield made
    made.close()


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def publisher(database: Database, wire: Wire, time: Time) -> Publisher:
    # Its thread is left out: a test takes each turn itself, so that what happens when is not a matter of luck.
    made = Publisher(database, wire, time)  # type: ignore[arg-type]
    made._wake = lambda: None  # type: ignore[method-assign]
    return made


def test_events_are_stored_before_they_are_sent(publisher: Publisher, wire: Wire, database: Database) -> None:
    publisher.join_run("a", RUN)
    stored_at_send: list[int] = []
    wire.emit = lambda *_, **__: stored_at_send.append(len(_stored(database)))  # type: ignore[method-assign]
    _publish(publisher, 1, 3)
    _turn(publisher)
    assert stored_at_send == [3]


def test_a_client_gets_one_message_until_it_acknowledges_and_then_all_that_came_since(
    publisher: Publisher, wire: Wire, time: Time
) -> None:
    publisher.join_run("a", RUN)
    for number in range(1, 10):
        _publish(publisher, number, number)
        time.now += 1
        _turn(publisher)
    assert wire.events("a") == [1]
    wire.waiting["a"]()
    _turn(publisher)
    assert wire.events("a") == one_to(9)
    assert len(wire.sent) == 2


def test_a_prompt_client_gets_ten_messages_in_any_second_and_two_at_once_after_a_rest(
    publisher: Publisher, wire: Wire, time: Time
) -> None:
    wire.prompt.add("a")
    publisher.join_run("a", RUN)
    times = list[int]()  # of each message, hundredths of a second
    for number in range(1, 201):
        _publish(publisher, number, number)
        time.now = number / 100
        _turn(publisher)
        times += [number] * (len(wire.sent) - len(times))
    assert times[:2] == [1, 2]
    assert max(sum(at <= other < at + 100 for other in times) for at in times) <= 10
    assert len(times) >= 16
    assert wire.events("a") == one_to(len(wire.events("a")))


def test_a_stalled_client_costs_no_memory_and_holds_up_nobody(
    publisher: Publisher, wire: Wire, time: Time, database: Database
) -> None:
    wire.prompt.add("healthy")
    publisher.join_run("stalled", RUN)
    publisher.join_run("healthy", RUN)
    note = "x" * 4000
    _publish(publisher, 1, 1000, note=note)
    _turns(publisher, time, 10)
    tracemalloc.start()
    before = tracemalloc.take_snapshot()
    wire.sent.clear()
    for first in range(1001, 6001, 500):
        _publish(publisher, first, first + 499, note=note)
        _turns(publisher, time, 5)
        healthy = wire.events("healthy")
        wire.sent.clear()
        assert healthy == list(range(healthy[0], healthy[-1] + 1))
    grown = sum(entry.size_diff for entry in tracemalloc.take_snapshot().compare_to(before, "filename"))
    tracemalloc.stop()
    assert healthy[-1] == 6000
    assert grown < 6 * 1024 * 1024  # 20 MB were said meanwhile
    assert len(_stored(database)) == 6000


def test_a_client_without_progress_is_dropped_after_its_time_and_a_slow_one_is_not(
    publisher: Publisher, wire: Wire, time: Time
) -> None:
    publisher.join_run("stalled", RUN)
    publisher.join_run("slow", RUN)
    for number in range(1, 5):
        _publish(publisher, number, number)
        _turn(publisher)
        time.now += delivery.PROGRESS_S - 1
        wire.waiting["slow"]()
        _turn(publisher)
    assert wire.dropped == ["stalled"]
    assert wire.events("slow") == one_to(4)
    assert wire.events("stalled") == [1]


def test_a_client_that_joins_late_gets_only_what_comes_later_and_is_told_where_that_begins(
    publisher: Publisher, wire: Wire, time: Time
) -> None:
    wire.prompt.add("late")
    _publish(publisher, 1, 700)
    _turn(publisher)
    assert publisher.join_run("late", RUN) == 700
    _publish(publisher, 701, 710)
    _turns(publisher, time, 3)
    assert wire.events("late") == list(range(701, 711))


def test_a_client_far_behind_reads_from_the_database_what_memory_no_longer_holds(
    publisher: Publisher, wire: Wire, time: Time
) -> None:
    publisher.join_run("a", RUN)
    _publish(publisher, 1, 1)
    _turn(publisher)
    _publish(publisher, 2, 3000)
    _turn(publisher)
    wire.prompt.add("a")
    wire.waiting["a"]()
    _turns(publisher, time, 20)
    assert wire.events("a") == one_to(3000)


def test_two_runs_of_one_client_take_turns(publisher: Publisher, wire: Wire, time: Time, database: Database) -> None:
    with database.write() as session:
        session.add(Run(id=2, mode="live", series_id=1, state="running", config={}, created=0, summary={}))
    wire.prompt.add("a")
    for run_id in (RUN, 2):
        publisher.join_run("a", run_id)
        _publish(publisher, 1, 500, run_id=run_id)
    _turns(publisher, time, 4)
    assert [body["run_id"] for _, _, body in wire.sent] == [1, 2, 1, 2]


def test_who_comes_later_is_told_the_candle_that_forms_until_it_has_closed_or_is_old(
    publisher: Publisher, wire: Wire, time: Time
) -> None:
    forming = [{"what": "forming", "id": 1, "candle": {"close": close}} for close in (1.0, 2.0)]
    for body in forming:
        publisher.series_changed(1, body)
    publisher.join_series("a", 1)
    _turn(publisher)
    publisher.series_changed(1, {"what": "candles", "id": 1})
    publisher.join_series("b", 1)
    publisher.series_changed(1, forming[1])
    time.now += 61
    publisher.join_series("c", 1)
    _turn(publisher)
    told = {client: body["items"] for client, name, body in wire.sent if name == "series"}
    assert told == {"a": [forming[1]], "b": [forming[1]]}


def test_what_changed_on_a_series_comes_once_and_newest(publisher: Publisher, wire: Wire, time: Time) -> None:
    publisher.join_series("a", 1)
    publisher.series_changed(1, {"what": "annotations", "revision": 1})
    _turn(publisher)
    for revision in (2, 3):
        publisher.series_changed(1, {"what": "annotations", "revision": revision})
    publisher.series_changed(1, {"what": "run", "id": 7})
    publisher.series_changed(2, {"what": "annotations", "revision": 1})
    time.now += 1
    wire.waiting["a"]()
    _turn(publisher)
    assert [body for _, name, body in wire.sent if name == "series"] == [
        {"series_id": 1, "items": [{"what": "annotations", "revision": 1}]},
        {"series_id": 1, "items": [{"what": "annotations", "revision": 3}, {"what": "run", "id": 7}]},
    ]


def test_a_client_that_left_or_is_gone_gets_nothing(publisher: Publisher, wire: Wire, time: Time) -> None:
    wire.prompt.update("ab")
    for sid in "ab":
        publisher.join_run(sid, RUN)
    publisher.leave_run("a", RUN)
    publisher.forget("b")
    _publish(publisher, 1, 3)
    _turns(publisher, time, 2)
    assert wire.sent == []


def test_an_event_whose_run_is_gone_does_not_hold_up_the_others(publisher: Publisher, database: Database) -> None:
    _publish(publisher, 1, 1, run_id=99)
    _publish(publisher, 1, 2)
    _turn(publisher)
    assert _stored(database) == [1, 2]


def test_a_database_that_takes_no_events_holds_them_back_until_it_does(
    publisher: Publisher, wire: Wire, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher.join_run("a", RUN)
    _publish(publisher, 1, 3)
    sent_while_full: list[int] = []

    def free_the_disk(_seconds: float) -> None:
        sent_while_full.append(len(wire.sent))
        _let_grow(database, 10_000)

    monkeypatch.setattr("annotate.publisher.time.sleep", free_the_disk)
    _let_grow(database, 1)
    _publish(publisher, 4, 500, note="x" * 4000)
    _turn(publisher)
    assert sent_while_full == [0]
    assert _stored(database) == one_to(500)
    assert wire.events("a") == one_to(200)


def test_what_was_published_is_stored_when_the_publisher_stops(database: Database, wire: Wire) -> None:
    threaded = Publisher(database, wire)  # type: ignore[arg-type]
    _publish(threaded, 1, 1500)
    threaded.stop()
    assert _stored(database) == one_to(1500)


def _let_grow(database: Database, pages: int) -> None:
    """Give the database so many pages more than it has: the disk is as full as that."""

    def limit(connection: Any, _record: object) -> None:
        (used,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={used + pages}")

    database._event_writers.dispose()
    event.listen(database._event_writers, "connect", limit)


def _publish(publisher: Publisher, first: int, last: int, run_id: int = RUN, **fields: Any) -> None:
    for seq in range(first, last + 1):
        publisher.publish({"run_id": run_id, "seq": seq, "time": 0, "type": "batch_done", **fields})


def _turn(publisher: Publisher) -> None:
    publisher._store()
    publisher._serve()


def _turns(publisher: Publisher, time: Time, count: int) -> None:
    for _ in range(count):
        time.now += delivery.INTERVAL_S
        _turn(publisher)


def _stored(database: Database) -> list[int]:
    with database.read() as session:
        return [event["seq"] for event in events_after(session, RUN, 0)]
