"""Events → database → browsers: stored before they are sent, in order, none dropped, at each client's own pace.

One thread stores and sends. Rooms are membership only; nothing is broadcast past a client's credit.
"""

from __future__ import annotations

import collections
import itertools
import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import IntegrityError, OperationalError

from annotate.delivery import Client
from annotate.store.events import add_events, events_after, last_seq
from annotate.veils import Veils

if TYPE_CHECKING:
    from flask_socketio import SocketIO

    from annotate.db import Database

log = logging.getLogger(__name__)

Json = dict[str, Any]

BATCH = 200  # events in one message or one transaction
RECENT = 512  # newest events of a run kept in memory
RECENT_RUNS = 8
RETRY_S = 1.0  # after a disk that would not take events
FORMS_S = 60.0  # so long a forming candle is told to whoever comes later


class Publisher:
    """Takes numbered events from the trainer thread and notices from anyone; serves every browser from one thread."""

    def __init__(self, database: Database, socketio: SocketIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._socketio = socketio
        self._clock = clock
        self._changed = threading.Condition()
        self._incoming: collections.deque[Json] = collections.deque()
        self._clients: dict[str, Client] = {}
        self._stored: dict[int, int] = {}  # run → number of its last stored event
        self._recent: collections.OrderedDict[int, collections.deque[Json]] = collections.OrderedDict()
        self._forming: dict[int, tuple[float, Json]] = {}  # series → when its forming candle was last told, and how
        self._watchers: list[Callable[[int, Json], None]] = []
        self.veils = Veils(database)  # what is hidden from whom
        self._thread: threading.Thread | None = None
        self._stopping = False

    def publish(self, event: Json) -> None:
        """Take the next event of a run, `{run_id, seq, time, type, …}`; it is stored, then sent, soon."""
        with self._changed:
            self._incoming.append(event)
            self._wake()

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything published so far is stored; False when that took too long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._incoming, timeout_s)

    def series_changed(self, series_id: int, body: Json) -> None:
        """Tell the browsers that follow a series; `what` and `id` in the body name the thing: its newest counts."""
        with self._changed:
            if body["what"] == "forming":
                self._forming[series_id] = (self._clock(), body)
            elif body["what"] == "candles":
                self._forming.pop(series_id, None)
            for client in self._clients.values():
                client.notice(series_id, body)
            self._wake()
        for watcher in self._watchers:
            watcher(series_id, body)

    def watch_series(self, watcher: Callable[[int, Json], None]) -> None:
        """Have a part of this process told what the browsers are told; it must not wait. Called before the first."""
        self._watchers.append(watcher)

    def name_author(self, sid: str, author: str) -> None:
        """Note whose browser a client is: in a replay it is told less."""
        with self._changed:
            self._client(sid).author = author

    def join_run(self, sid: str, run_id: int) -> int:
        """Let a client follow a run from now on; give the number of its last stored event: it asks up to there."""
        with self._database.read() as session:
            seq = last_seq(session, run_id)
        with self._changed:
            seq = self._stored[run_id] = max(seq, self._stored.get(run_id, 0))
            self._client(sid).cursors.setdefault(run_id, seq)
            self._wake()
        return seq

    def join_series(self, sid: str, series_id: int) -> None:
        """Let a client hear of changes to a series, and of the candle that forms there: it is stored nowhere."""
        with self._changed:
            client = self._client(sid)
            client.series.add(series_id)
            told_s, forming = self._forming.get(series_id, (0.0, None))
            if forming is not None and self._clock() - told_s < FORMS_S:
                client.notice(series_id, forming)
            self._wake()

    def leave_run(self, sid: str, run_id: int) -> None:
        """Send a client no more of a run."""
        with self._changed:
            self._client(sid).cursors.pop(run_id, None)

    def leave_series(self, sid: str, series_id: int) -> None:
        """Tell a client no more of a series."""
        with self._changed:
            self._client(sid).series.discard(series_id)

    def forget(self, sid: str) -> None:
        """Drop what is kept of a client that is gone."""
        with self._changed:
            self._clients.pop(sid, None)

    def stop(self) -> None:
        """Store what is still in memory, then end the thread."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread:
            self._thread.join()

    def _server(self) -> Any:
        return self._socketio.server  # made by init_app, later than this object

    def _client(self, sid: str) -> Client:
        return self._clients.setdefault(sid, Client())

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="publisher", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._wait_for_work()
                if self._stopping and not self._incoming:
                    return
            try:
                self._store()
                self._serve()
            except Exception:  # the only way from events to disk and browsers must outlive what goes wrong once
                log.exception("publisher failed; it tries again")
                time.sleep(RETRY_S)

    def _wait_for_work(self) -> None:
        looks = [look for client in self._clients.values() if (look := client.next_look(self._stored)) is not None]
        if self._incoming or self._stopping:
            return
        self._changed.wait(max(0.0, min(looks) - self._clock()) if looks else None)

    def _store(self) -> None:
        while events := self._first_incoming():
            try:
                with self._database.write_events() as session:
                    add_events(session, events)
            except IntegrityError:
                stored = self._store_singly(events)
            except OperationalError as error:
                log.warning("%d events wait in memory, the database takes none: %s", len(self._incoming), error.orig)
                if not self._stopping:
                    time.sleep(RETRY_S)
                    continue
                stored = []
            else:
                stored = events
            self._note(len(events), stored)

    def _first_incoming(self) -> list[Json]:
        with self._changed:
            return list(itertools.islice(self._incoming, BATCH))

    def _store_singly(self, events: list[Json]) -> list[Json]:
        """Store what can be stored: the run of an event may have been deleted meanwhile, with its series."""
        stored = []
        for event in events:
            try:
                with self._database.write_events() as session:
                    add_events(session, [event])
            except IntegrityError as error:
                log.warning("event %s of run %s has no place: %s", event["seq"], event["run_id"], error.orig)
            else:
                stored.append(event)
        return stored

    def _note(self, taken: int, stored: list[Json]) -> None:
        with self._changed:
            for _ in range(taken):
                self._incoming.popleft()
            for event in stored:
                self._stored[event["run_id"]] = event["seq"]
                self._remember(event)
            self._changed.notify_all()

    def _remember(self, event: Json) -> None:
        recent = self._recent.setdefault(event["run_id"], collections.deque(maxlen=RECENT))
        self._recent.move_to_end(event["run_id"])
        recent.append(event)
        while len(self._recent) > RECENT_RUNS:
            self._recent.popitem(last=False)

    def _serve(self) -> None:
        now = self._clock()
        with self._changed:
            clients = list(self._clients.items())
        for sid, client in clients:
            if client.is_stalled(now):
                log.info("client %s made no progress and is dropped", sid)
                self.forget(sid)
                self._drop(sid)
            elif client.may_send(now):
                self._send_next(sid, client, now)

    def _drop(self, sid: str) -> None:
        """Close the connection beneath a client, upon which its library connects again; a goodbye would forbid that."""
        server = self._server()
        connection = server.eio.sockets.get(server.manager.eio_sid_from_sid(sid, "/"))
        if connection is not None:
            connection.close(wait=False, abort=True)  # not waiting: its queue may never empty

    def _send_next(self, sid: str, client: Client, now: float) -> None:
        with self._changed:
            notices = client.take_notices()
            run_id = client.next_run(self._stored) if notices is None else None
            after = client.cursors[run_id] if run_id is not None else 0
        if notices is not None:
            shown = self.veils.notices(client.author, notices["series_id"], notices["items"])
            if shown:
                self._emit(sid, client, "series", {**notices, "items": shown}, now)
        elif run_id is not None and (items := self._read(run_id, after)):
            with self._changed:
                client.advance(run_id, items[-1]["seq"])
            told = self.veils.events(client.author, run_id, items)
            self._emit(sid, client, "events", {"run_id": run_id, "items": told}, now)

    def _read(self, run_id: int, after: int) -> list[Json]:
        with self._changed:
            recent = self._recent.get(run_id)
            if recent and recent[0]["seq"] <= after + 1:
                return [event for event in recent if event["seq"] > after][:BATCH]
        with self._database.read() as session:
            return events_after(session, run_id, after, BATCH)

    def _emit(self, sid: str, client: Client, name: str, body: Json, now: float) -> None:
        message = client.sent(now)

        def acknowledged(*_answer: object) -> None:
            with self._changed:
                client.acknowledged(message)
                self._changed.notify_all()

        self._server().emit(name, body, to=sid, callback=acknowledged)
