"""What a view may call: the parts that app.py put together, and who is asking."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, unquote

from flask import current_app, request

from annotate.errors import InvalidInput

if TYPE_CHECKING:
    from annotate.candle_store import CandleStore
    from annotate.db import Database
    from annotate.exporting.builds import Builds
    from annotate.feeds.intake import Intake
    from annotate.publisher import Publisher
    from annotate.settings import Settings
    from annotate.suggesting.door import Suggester
    from annotate.training import Trainer
    from annotate.uploads import Uploads
    from annotate.veils import Veils
    from annotate.workspace_imports import WorkspaceImports

MAX_AUTHOR = 100
AUTHOR_COOKIE = "annotate_author"


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of one running instance."""

    settings: Settings
    database: Database
    candles: CandleStore
    trainer: Trainer
    publisher: Publisher
    exports: Builds
    uploads: Uploads
    intake: Intake
    suggester: Suggester
    workspaces: WorkspaceImports

    @property
    def veils(self) -> Veils:
        """What is hidden from whom, for requests as for sockets."""
        return self.publisher.veils


def services() -> Services:
    """Give the parts of the instance that serves this request."""
    return cast("Services", current_app.extensions["annotate"])


def author() -> str:
    """Name the person of this request: `X-Author`, percent-encoded UTF-8, else the cookie's; `me` by default."""
    given = request.headers.get("X-Author") or request.cookies.get(AUTHOR_COOKIE, "")
    name = unquote(given).strip() or "me"
    if len(name) > MAX_AUTHOR:
        raise InvalidInput(f"X-Author: a name has at most {MAX_AUTHOR} characters, this one has {len(name)}")
    return name


def author_cookie() -> str:
    """Give the author of this request as the cookie holds it."""
    return quote(author(), safe="")


def now_ms() -> int:
    """Give the present time, ms UTC."""
    return time.time_ns() // 1_000_000
