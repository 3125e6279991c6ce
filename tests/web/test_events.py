"""A browser's list of events equals the stored one, whatever happens to its socket."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from nn.events import EVENTS, Event
from tests.annotate.training.door import LIVE, Door, in_order
from tests.web.reader import Reader

CUTS = 8


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    made = Door(tmp_path / "data")
    yield made
    made.close()


@pytest.mark.parametrize("transport", ["websocket", "polling"])
def test_eight_cuts_during_a_run_leave_the_readers_list_equal_to_the_stored_one(door: Door, transport: str) -> None:
    series_id = door.add_series()
    with door.served() as address:
        run_id = door.started_batch(series_id)
        reader = Reader(address, run_id, transport)
        for _ in range(CUTS):
            reader.connect()
            door.wait_for(partial(_has_more_than, reader, len(reader.items) + 5))
            reader.cut()
        reader.connect()
        door.trainer.stop_run(run_id)
        door.wait_for_state(run_id, "stopped")
        stored = door.events(run_id)
        door.wait_for(lambda: len(reader.items) == len(stored))
        reader.cut()
    assert reader.items == stored
    assert in_order(stored)


def test_a_reader_that_joined_hears_every_event_by_its_socket_alone(door: Door) -> None:
    series_id = door.add_series(1000)
    config = {**LIVE, "feed": {"kind": "replay", "speed": 50}}
    with door.served() as address:
        run_id = door.trainer.submit("live", config, series_id=series_id)["id"]
        reader = Reader(address, run_id, "websocket")
        reader.connect()
        door.wait_for(partial(_has_more_than, reader, len(reader.items) + 100))
        reader.cut()
    assert reader.asked == 1
    assert in_order(reader.items)


@pytest.mark.parametrize("event_type", EVENTS)
def test_the_page_of_events_names_each_type_with_every_field(event_type: str) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "events.md").read_text("utf-8")
    row = next(line for line in page.split("\n") if line.startswith(f"| `{event_type}` |"))
    common = {field.name for field in dataclasses.fields(Event)}
    named = set(re.findall(r"\w+", row.split("|")[3]))
    assert {field.name for field in dataclasses.fields(EVENTS[event_type])} - common <= named


def _has_more_than(reader: Reader, count: int) -> bool:
    return len(reader.items) > count
