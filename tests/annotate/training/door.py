"""A trainer with a real database, real candles and the peer as its worker, and words to ask it by."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from flask import Flask
from flask.testing import FlaskClient
from flask_socketio import SocketIO
from werkzeug.serving import make_server

from annotate import data_folder
from annotate.candle_store import CandleStore
from annotate.candles import Candles
from annotate.db import Base, Database
from annotate.feeds.intake import Intake
from annotate.feeds.replay import Clock
from annotate.live_feed import OpenGateway
from annotate.publisher import Publisher
from annotate.security import Guard, credentials
from annotate.settings import Settings
from annotate.store.events import events_after
from annotate.store.runs import get_run, run_to_json
from annotate.store.series import create_series
from annotate.training import Trainer
from annotate.views import models, replies, run_figures, runs, sockets
from annotate.views.services import Services

PEER = [sys.executable, str(Path(__file__).with_name("peer.py"))]
UNTYPED_SOCKETIO: Any = SocketIO
TOKEN = "a-token-for-tests"
SMALL = {"sequence_length": 8, "epochs": 2}
LONG = {**SMALL, "epochs": 10_000}
LIVE = {"sequence_length": 8, "feed": {"kind": "replay", "speed": "max"}}

Json = dict[str, Any]


def some_candles(count: int, first: int = 0) -> Candles:
    """Candles of a second, priced by their number."""
    number = np.arange(first, first + count)
    price = (100 + number % 7).astype(np.float64)
    return Candles(number * 1000, price, price + 1, price - 1, price, np.ones(count))


class Door:
    def __init__(
        self,
        data_dir: Path,
        clock: Clock | None = None,
        worker: list[str] | None = None,
        open_gateway: OpenGateway | None = None,
        **settings: Any,
    ) -> None:
        self.settings = Settings(data_dir=data_folder.prepare(data_dir), threads=1, token=TOKEN, **settings)
        self.database = Database(self.settings.data_dir / "annotate.db")
        Base.metadata.create_all(self.database.engine)
        self.candles = CandleStore(self.settings.data_dir, self.database)
        socketio = UNTYPED_SOCKETIO(async_mode="threading")
        self.publisher = Publisher(self.database, socketio)
        self.intake = Intake(self.database, self.candles, self.publisher.series_changed)
        self.trainer = Trainer(
            *(self.settings, self.database, self.candles, self.publisher, self.intake),
            worker=worker or PEER,
            clock=clock,
            open_gateway=open_gateway,
        )
        self.trainer.settle()
        self.app = self._app(socketio)

    def _app(self, socketio: Any) -> Flask:
        app = Flask("door")
        parts = {
            name: getattr(self, name) for name in ("settings", "database", "candles", "trainer", "publisher", "intake")
        }
        parts["veils"] = self.publisher.veils
        app.extensions["annotate"] = cast("Services", SimpleNamespace(**parts))  # all that the views below ask for
        for blueprint in (models.bp, runs.bp, run_figures.bp):
            app.register_blueprint(blueprint)
        replies.register_errors(app)
        socketio.init_app(app)
        sockets.register(socketio, app.extensions["annotate"])
        app.wsgi_app = Guard(app.wsgi_app, self.settings, credentials(self.settings))  # type: ignore[method-assign]
        return app

    def client(self) -> FlaskClient:
        """A client of the API that sends the token."""
        made = self.app.test_client()
        made.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {TOKEN}"
        return made

    @contextmanager
    def served(self) -> Iterator[str]:
        """Serve on a free port; give the address."""
        server = make_server("127.0.0.1", 0, self.app, threaded=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.port}"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def add_series(self, count: int = 100) -> int:
        candles = some_candles(count)
        with self.database.write() as session:
            series = create_series(session, symbol="SIM/USDT", timeframe="1s", source="upload", created=0)
            self.candles.write_series(session, series.id, "1s", candles)
            return series.id

    def close(self) -> None:
        self.trainer.stop()
        self.publisher.stop()
        self.database.close()

    def run(self, run_id: int) -> Json:
        with self.database.read() as session:
            return run_to_json(get_run(session, run_id))

    def events(self, run_id: int, event_type: str | None = None) -> list[Json]:
        with self.database.read() as session:
            events = events_after(session, run_id, 0)
        return [event for event in events if event_type in (None, event["type"])]

    def wait_for(self, condition: Callable[[], Any], within_s: float = 60) -> Any:
        deadline = time.monotonic() + within_s
        while not (found := condition()):
            assert time.monotonic() < deadline, "nothing came of it in time"
            time.sleep(0.01)
        return found

    def wait_for_state(self, run_id: int, *states: str, within_s: float = 60) -> Json:
        found: Json = self.wait_for(
            lambda: run if (run := self.run(run_id))["state"] in states else None, within_s=within_s
        )
        return found

    def started_batch(self, series_id: int, config: Json | None = None) -> int:
        run_id: int = self.trainer.submit("batch", config or LONG, series_id=series_id)["id"]
        self.wait_for(lambda: len(self.events(run_id)) > 3)
        return run_id

    def finished_batch(self, series_id: int, config: Json | None = None) -> int:
        run_id: int = self.trainer.submit("batch", config or SMALL, series_id=series_id)["id"]
        self.wait_for_state(run_id, "finished")
        return run_id


def in_order(events: list[Json]) -> bool:
    """Tell whether events are numbered from 1 without a hole."""
    return [event["seq"] for event in events] == one_to(len(events))


def one_to(count: int) -> list[int]:
    return list(range(1, count + 1))
