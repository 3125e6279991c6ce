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
OWN_NOTICES = ("replay", "blind")  # of the author's own replay and blind pass
OF_NO_MARK = frozenset(  # types of event that tell nothing of what was learnt from marks
    {"model_loaded", "candle_scored", "candle_learnt", "drift_alarm", "rolled_back", "run_resumed"}
)


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
        self._known()  # what was stored before this process began is no change while it answers
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
        veil = self.of(run.series_id, author)
        return [_event(item, veil, timeframe) for item in items]

    def notices(self, author: str, series_id: int, items: Sequence[Json]) -> list[Json]:
        """Give the notices of a series as an author may see them."""
        veil = self.of(series_id, author)
        mine = [item for item in items if item["what"] not in OWN_NOTICES or item["author"] == author]
        if veil.is_open:
            return mine
        shown = (_notice(item, veil, series_id) for item in mine)
        return [item for item in shown if item is not None]

    def run(self, author: str, run: Json) -> Json:
        """Give a run as an author may see it: without what it learnt from a future or from marks that are hidden."""
        veil = self.of(run["series_id"], author)
        if veil.cursor is not None:
            return {**run, "config": {"model": run["config"].get("model")}, "summary": {}, "cause": None}
        return run if veil.hides is None else {**run, "summary": {}}

    def _known(self) -> dict[tuple[str, int], Veil]:
        if self._veils is None:
            self.reload()
        return self._veils or {}


def _sees_less(before: Veil | None, now: Veil) -> bool:
    if before is None or (before.hides is None and now.hides is not None):
        return True
    return now.cursor is not None and (before.cursor is None or now.cursor < before.cursor)


def _event(event: Json, veil: Veil, timeframe: str) -> Json:
    if veil.cursor is not None and not _tells_past(event, veil.cursor, timeframe):
        return _blank(event)
    if veil.hides is None or event["type"] in OF_NO_MARK:
        return event
    return {**event, "label_probabilities": None} if event["type"] == "candle_predicted" else _blank(event)


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


def _notice(item: Mapping[str, Any], veil: Veil, series_id: int) -> Json | None:
    if item["what"] in WHOLE_NOTICES:
        told = () if veil.hides is None else ("author", "task")
        return {name: value for name, value in item.items() if name not in told}
    if item["what"] in OWN_NOTICES:
        return dict(item)
    if item["what"] == "annotation":
        mark = item.get("annotation")
        if mark is None and item["author"] != veil.author:  # it may have been hidden: the browser asks what is left
            return {"what": "annotations", "id": series_id}
        return dict(item) if mark is None or veil.shows(mark) else None
    if veil.cursor is not None:
        return None
    return {**item, "run": {**item["run"], "summary": {}}} if item["what"] == "run" else dict(item)
