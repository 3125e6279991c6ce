"""Sockets: who may connect, what may be joined, and that nothing is said to those who did not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import websocket
from socketio.exceptions import ConnectionError as RefusedError

from annotate import delivery
from tests.annotate.training.door import Door
from tests.web.reader import BEARER, connected


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    made = Door(tmp_path / "data")
    yield made
    made.close()


@pytest.fixture
def address(door: Door) -> Iterator[str]:
    with door.served() as address:
        yield address


@pytest.mark.parametrize("transport", ["websocket", "polling"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {**BEARER, "Origin": "http://evil.example"},
        {**BEARER, "Host": "evil.example"},
    ],
)
def test_a_stranger_gets_no_socket(address: str, transport: str, headers: dict[str, str]) -> None:
    with pytest.raises(RefusedError), connected(address, headers, transport):
        pass


@pytest.mark.parametrize("transport", ["websocket", "polling"])
def test_joining_a_run_tells_the_number_of_its_last_event(door: Door, address: str, transport: str) -> None:
    run_id = door.finished_batch(door.add_series())
    with connected(address, transport=transport) as client:
        assert client.call("join", {"run_id": run_id}) == {"run_id": run_id, "seq": len(door.events(run_id))}
        assert client.call("leave", {"run_id": run_id}) == {"run_id": run_id}


@pytest.mark.parametrize(
    ("room", "code"),
    [({"run_id": 9}, "not_found"), ({"series_id": 9}, "not_found"), ({}, "invalid_input"), ([1], "invalid_input"),
     ({"run_id": "1"}, "invalid_input"), ({"everything": 1}, "invalid_input")],
)  # fmt: skip
def test_a_room_that_is_none_is_refused_in_the_shape_of_every_error(address: str, room: object, code: str) -> None:
    with connected(address) as client:
        assert client.call("join", room)["error"]["code"] == code


def test_a_client_that_joined_nothing_hears_nothing_and_one_on_the_series_hears_of_its_runs(
    door: Door, address: str
) -> None:
    series_id = door.add_series()
    heard: dict[str, list[Any]] = {"quiet": [], "member": []}
    with connected(address) as quiet, connected(address) as member:
        quiet.on("*", lambda _name, message: heard["quiet"].append(message))
        member.on("*", lambda _name, message: heard["member"].append(message))
        member.call("join", {"series_id": series_id})
        run_id = door.finished_batch(series_id)
        door.wait_for(lambda: _states(heard["member"], run_id)[-1:] == ["finished"])
    assert heard["quiet"] == []
    assert {message["series_id"] for message in heard["member"]} == {series_id}


def test_a_client_that_acknowledges_nothing_gets_one_message_and_then_its_connection_closed(
    door: Door, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "PROGRESS_S", 0.5)
    run_id = door.started_batch(door.add_series())
    raw: Any = websocket.create_connection(
        address.replace("http", "ws") + "/socket.io/?EIO=4&transport=websocket", header=BEARER, timeout=10
    )
    raw.send("40")
    raw.send(f'42["join",{{"run_id":{run_id}}}]')
    frames: list[str] = []
    while frame := raw.recv():
        frames.append(frame)
    raw.shutdown()
    messages = [frame for frame in frames if "batch_done" in frame]
    assert len(messages) == 1
    assert not any(frame.startswith("41") for frame in frames)  # a goodbye, after which browsers do not come back


def _states(messages: list[Any], run_id: int) -> list[str]:
    items = [item for message in messages for item in message["items"]]
    return [item["run"]["state"] for item in items if (item["what"], item["id"]) == ("run", run_id)]
