"""Who sees what of a series at this moment, for requests and sockets: replay sessions and blind passes, in memory.

The database has them first; memory mirrors it. `generation` rises whenever an author comes to see less, so that an
answer which was made before can be held back.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from annotate.annotations.veil import Veil
from annotate.db import Database
from annotate.store.hiding import every_veil
from annotate.store.runs import get_run
from annotate.store.series import get_series
from annotate.timeframe import close_of

Json = dict[str, Any]

HIDDEN = "hidden"  # type of an event that may not be told; its number stays, so that none seems lost
WHOLE_NOTICES = ("label_set", "annotations", "reviewed", "suggestions")  # tell no more than that there is news


class Veils:
    """What is hidden from whom; any thread may ask."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._generations: dict[str, int] = defaultdict(int)
        self._veils: dict[tuple[str, int], Veil] | None = None  # read when first asked

    def of(self, series_id: int, author: str) -> Veil:
        """Give what an author sees of a series."""
        return self._known().get((author, series_id)) or Veil(author)

    def hidden_series(self, author: str) -> dict[int, Veil]:
        """Give the series of which something is hidden from an author."""
        return {series_id: veil for (name, series_id), veil in self._known().items() if name == author}

    def generation(self, author: str) -> int:
        """Give a number that is another one after the author came to see less."""
        return self._generations[author]

    def reload(self) -> None:
        """Read the database again, after a change there was committed."""
        with self._lock, self._database.read() as session:
            before, self._veils = self._veils or {}, every_veil(session)
            for (author, series_id), veil in self._veils.items():
                if _sees_less(before.get((author, series_id)), veil):
                    self._generations[author] += 1

    def events(self, author: str, run_id: int, items: Sequence[Json]) -> list[Json]:
        """Give a run's events as an author may see them, every number there."""
        if not self.hidden_series(author):
            return list(items)
        with self._database.read() as session:
            run = get_run(session, run_id)
            timeframe = get_series(session, run.series_id).timeframe
        cursor = self.of(run.series_id, author).cursor
        if cursor is None:
            return list(items)
        return [item if _tells_past(item, cursor, timeframe) else _blank(item) for item in items]

    def notices(self, author: str, series_id: int, items: Sequence[Json]) -> list[Json]:
        """Give the notices of a series as an author may see them."""
        veil = self.of(series_id, author)
        if veil.is_open:
            return list(items)
        shown = (_notice(item, veil) for item in items)
        return [item for item in shown if item is not None]

    def run(self, author: str, run: Json) -> Json:
        """Give a run as an author may see it: without what it learnt on a series whose future is hidden."""
        if self.of(run["series_id"], author).cursor is None:
            return run
        return {**run, "config": {"model": run["config"].get("model")}, "summary": {}, "cause": None}

    def _known(self) -> dict[tuple[str, int], Veil]:
        if self._veils is None:
            self.reload()
        return self._veils or {}


def _sees_less(before: Veil | None, now: Veil) -> bool:
    if before is None or (before.hides is None and now.hides is not None):
        return True
    return now.cursor is not None and (before.cursor is None or now.cursor < before.cursor)


def _tells_past(event: Json, cursor: int, timeframe: str) -> bool:
    """Tell whether an event speaks of candles that had closed by the cursor, from weights that knew no later one."""

    def had_closed(time: int | None) -> bool:
        return time is None or close_of(time, timeframe) <= cursor

    match event["type"]:
        case "candle_predicted":
            return had_closed(event["as_of"]) and had_closed(event["data_cut"]) and not event["seen"]
        case "candle_scored" | "candle_learnt":
            return had_closed(event["candle_time"]) and not event["seen"]
        case "model_loaded":
            return had_closed(event["data_cut"])
    return False


def _blank(event: Json) -> Json:
    return {"run_id": event["run_id"], "seq": event["seq"], "time": event["time"], "type": HIDDEN, "line": None}


def _notice(item: Mapping[str, Any], veil: Veil) -> Json | None:
    if item["what"] in WHOLE_NOTICES:
        return dict(item)
    if item["what"] == "replay":
        return dict(item) if item["author"] == veil.author else None
    if item["what"] == "annotation":
        mark = item.get("annotation")
        return dict(item) if mark is None or veil.shows(mark) else None
    return None if veil.cursor is not None else dict(item)
