"""Puts the parts together and serves them; the only file that knows all of them."""

from __future__ import annotations

import dataclasses
import errno
import logging
import os
import signal
import sys
import threading
from types import FrameType

# pyarrow imports pandas on its first conversion; done here, the first upload does not wait for it.
import pandas as pd  # noqa: F401
from flask import Flask
from flask_socketio import SocketIO
from werkzeug.serving import BaseWSGIServer, make_server

from annotate import __version__, data_folder, security
from annotate.candle_store import CandleStore
from annotate.db import Database
from annotate.errors import AnnotateError
from annotate.exporting.builds import Builds
from annotate.exporting.dataset import remove_orphans
from annotate.feeds.intake import Intake
from annotate.folding import Folding
from annotate.migrate import migrate
from annotate.publisher import Publisher
from annotate.sample import load_sample
from annotate.settings import Settings
from annotate.suggesting.door import Suggester
from annotate.training import Trainer
from annotate.uploads import Uploads
from annotate.views import incoming, replies, sockets, veil
from annotate.views.blueprints import BLUEPRINTS
from annotate.views.services import Services
from annotate.workspace_imports import WorkspaceImports

log = logging.getLogger(__name__)

MAX_SOCKET_BYTES = 256 * 1024
WARM_UP_AFTER_S = 2.0  # the worker imports torch for seconds; the first page goes first


def create_app(settings: Settings) -> Flask:
    """Build the application on its data folder: lock, migrate, sample, services, routes, guard.

    Raises AnnotateError where the folder cannot be used. The trainer's worker is not started yet.
    """
    settings = dataclasses.replace(settings, data_dir=data_folder.prepare(settings.data_dir))
    lock = data_folder.FolderLock.take(settings.data_dir)
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = settings.max_upload_mb * security.MIB
    incoming.register(app)
    app.url_map.merge_slashes = False
    app.extensions["folder_lock"] = lock
    app.extensions["log_handler"] = data_folder.open_log(settings.data_dir, settings.log_level)
    socketio = SocketIO(async_mode="threading", max_http_buffer_size=MAX_SOCKET_BYTES, cors_allowed_origins=None)
    parts = app.extensions["annotate"] = _services(settings, socketio)
    app.extensions["folding"] = Folding(parts.database, settings.keep_candle_events_hours)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    replies.register_errors(app)
    veil.register(app)
    socketio.init_app(app)
    sockets.register(socketio, app.extensions["annotate"])
    # Outside of Socket.IO's own middleware, so that no handshake gets past it.
    app.wsgi_app = security.Guard(app.wsgi_app, settings, security.credentials(settings))  # type: ignore[method-assign]
    return app


def _services(settings: Settings, socketio: SocketIO) -> Services:
    database = Database(settings.data_dir / "annotate.db")
    migrate(database, settings.data_dir)
    candles = CandleStore(settings.data_dir, database)
    candles.recover()
    remove_orphans(database, settings.data_dir)
    load_sample(database, candles)
    publisher = Publisher(database, socketio)
    intake = Intake(database, candles, publisher.series_changed)
    trainer = Trainer(settings, database, candles, publisher, intake)
    trainer.settle()
    suggester = Suggester(settings, database, candles, publisher, trainer.read_labels)
    exports = Builds(database, candles, settings.data_dir)
    waiting = Uploads(database, candles, settings.data_dir, publisher.series_changed)
    workspaces = WorkspaceImports(database, candles, settings.data_dir, publisher.series_changed)
    return Services(settings, database, candles, trainer, publisher, exports, waiting, intake, suggester, workspaces)


def close_app(app: Flask) -> None:
    """Stop the worker, store what is in memory, let go of the folder."""
    parts: Services = app.extensions["annotate"]
    app.extensions["folding"].stop()
    parts.exports.close()
    parts.workspaces.close()
    parts.uploads.close()
    parts.suggester.stop()
    parts.trainer.stop()
    parts.publisher.stop()
    parts.candles.close()
    parts.database.close()
    logging.getLogger().removeHandler(app.extensions["log_handler"])
    app.extensions["log_handler"].close()
    app.extensions["folder_lock"].release()


def main() -> int:
    """Serve until interrupted; give the exit code."""
    try:
        settings = Settings.from_environment(os.environ)
        app = create_app(settings)
    except AnnotateError as error:
        print(f"Annotate cannot start: {error.message}", file=sys.stderr)
        return 1
    try:
        server = make_server(settings.host, settings.port, app, threaded=True)
    except (OSError, SystemExit) as error:
        print(f"Annotate cannot start: {_why_not_bound(settings, error)}", file=sys.stderr)
        close_app(app)
        return 1
    _serve(server, app, settings)
    return 0


def _serve(server: BaseWSGIServer, app: Flask, settings: Settings) -> None:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        threading.Thread(target=server.shutdown).start()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    warm_up = threading.Timer(WARM_UP_AFTER_S, app.extensions["annotate"].trainer.start)
    warm_up.start()
    app.extensions["folding"].start()
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    token = security.credentials(app.extensions["annotate"].settings).token
    print(f"Annotate {__version__} serves at http://{host}:{server.port}/?token={token}", flush=True)
    server.serve_forever()
    warm_up.cancel()
    close_app(app)


def _why_not_bound(settings: Settings, error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno not in (None, errno.EADDRINUSE):
        return f"{settings.host}:{settings.port}: {error.strerror}"
    return f"port {settings.port} is in use; stop the other program or set ANNOTATE_PORT to a free one"


if __name__ == "__main__":
    sys.exit(main())
