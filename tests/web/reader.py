"""A reader of a run's events that works as the page does, on a real socket that a test can cut."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
import socketio

from tests.annotate.training.door import TOKEN, Json

BEARER = {"Authorization": f"Bearer {TOKEN}"}


class Connection:
    """A Socket.IO client; `polling` sends the token with each request, as a browser does with its cookie."""

    def __init__(self, address: str, headers: dict[str, str], transport: str) -> None:
        self._session = requests.Session()
        self._session.headers.update(headers)
        self._transport = transport
        made: Any = socketio.Client
        self.client: Any = made(reconnection=False, http_session=self._session)
        try:
            self.client.connect(address, headers=headers, transports=[transport], wait_timeout=10)
        except Exception:
            self._session.close()
            raise

    def cut(self) -> None:
        """Tear the connection without a word to the server."""
        engine = self.client.eio
        if self._transport == "websocket":
            engine.ws.sock.shutdown(socket.SHUT_RDWR)
            engine.read_loop_task.join(10)
        else:
            engine.disconnect(abort=True)
        self._session.close()


@contextmanager
def connected(address: str, headers: dict[str, str] = BEARER, transport: str = "websocket") -> Iterator[Any]:
    connection = Connection(address, headers, transport)
    try:
        yield connection.client
    finally:
        connection.cut()


class Reader:
    """Joins, then asks for what was missed; drops doubles, asks again where a number is missing."""

    def __init__(self, address: str, run_id: int, transport: str) -> None:
        self.address, self.run_id, self.transport = address, run_id, transport
        self.items: list[Json] = []
        self.asked = 0  # how often it had to ask
        self._lock = threading.Lock()
        self._connection: Connection | None = None

    def connect(self) -> None:
        self._connection = Connection(self.address, BEARER, self.transport)
        self._connection.client.on("events", self.receive)
        self._connection.client.call("join", {"run_id": self.run_id})
        self.catch_up()

    def cut(self) -> None:
        assert self._connection is not None
        self._connection.cut()

    def receive(self, message: Json) -> None:
        with self._lock:
            self.take(message["items"])
            hole = message["items"][-1]["seq"] > len(self.items)
        if hole:
            self.catch_up()

    def catch_up(self) -> None:
        url = f"{self.address}/api/runs/{self.run_id}/events"
        with self._lock:
            self.asked += 1
            self.take(requests.get(url, params={"after": len(self.items)}, headers=BEARER, timeout=10).json()["items"])

    def take(self, items: list[Json]) -> None:
        for item in items:
            if item["seq"] == len(self.items) + 1:
                self.items.append(item)
