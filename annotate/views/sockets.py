"""Socket.IO: who may connect, and which runs and series a browser follows. Events only; commands come by HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flask import request
from socketio import exceptions

from annotate.annotations.fields import Fields
from annotate.errors import AnnotateError
from annotate.models import Json
from annotate.security import is_authorised
from annotate.store.runs import MAX_ID, get_run
from annotate.store.series import get_series
from annotate.views.services import MAX_AUTHOR, Services, author

if TYPE_CHECKING:
    from flask_socketio import SocketIO

REFUSED: Any = exceptions.ConnectionRefusedError  # the library has no types


def register(socketio: SocketIO, services: Services) -> None:
    """Answer `connect`, `join`, `leave` and `disconnect`; each of the middle two answers by its acknowledgement."""
    rooms = _Rooms(services)
    answering: Any = socketio
    for name in ("connect", "join", "leave", "disconnect"):
        answering.on_event(name, getattr(rooms, name))


class _Rooms:
    """Rooms are membership only: what a member gets, and when, is the publisher's business."""

    def __init__(self, services: Services) -> None:
        self._database = services.database
        self._publisher = services.publisher

    def connect(self, _credentials: object = None) -> None:
        if not is_authorised(request.environ):
            raise REFUSED("not_authorised")
        self._publisher.name_author(_sid(), author())

    def join(self, room: object = None) -> Json:
        return _answered(room, self._enter_as)

    def leave(self, room: object = None) -> Json:
        return _answered(room, lambda _fields, kind, number: self._go(kind, number))

    def disconnect(self, _reason: object = None) -> None:
        self._publisher.forget(_sid())

    def _enter_as(self, fields: Fields, kind: str, number: int) -> Json:
        if fields.has("author"):
            self._publisher.name_author(_sid(), fields.text("author", MAX_AUTHOR))
        return self._enter(kind, number)

    def _enter(self, kind: str, number: int) -> Json:
        with self._database.read() as session:
            get_run(session, number) if kind == "run" else get_series(session, number)
        if kind == "run":
            return {"run_id": number, "seq": self._publisher.join_run(_sid(), number)}
        self._publisher.join_series(_sid(), number)
        return {"series_id": number}

    def _go(self, kind: str, number: int) -> Json:
        (self._publisher.leave_run if kind == "run" else self._publisher.leave_series)(_sid(), number)
        return {f"{kind}_id": number}


def _answered(room: object, do: Callable[[Fields, str, int], Json]) -> Json:
    """Do it for the run or series that `{run_id}` or `{series_id}` names; a refusal has the shape of every error."""
    try:
        fields = Fields(room)
        fields.only(("run_id", "series_id", "author"))
        kind = "run" if fields.has("run_id") else "series"
        return do(fields, kind, fields.whole(f"{kind}_id", 1, MAX_ID))
    except AnnotateError as error:
        return error.to_json()


def _sid() -> str:
    given: Any = request
    return str(given.sid)  # Flask-SocketIO puts it there
