"""A workspace with candles to mark, and drafts to mark them with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import numpy as np

from annotate.annotations.draft import AnnotationDraft
from annotate.annotations.timeline import Timeline
from annotate.candle_store import CandleStore
from annotate.candles import Candles
from annotate.db import Database
from annotate.migrate import migrate
from annotate.models import Json, Series
from annotate.store.annotations import delete_annotation, list_annotations, save_annotation
from annotate.store.series import create_series
from annotate.store.undo import Applied, Gesture, redo, undo
from annotate.timeframe import parse

HOUR = 3_600_000
START = 1_704_067_200_000  # 2024-01-01T00:00:00Z, a Monday


def candles_at(times: list[int]) -> Candles:
    """Candles that open at these times; prices and volumes follow from the place, the third volume is null."""
    place = np.arange(len(times), dtype=np.float64)
    volume = place * 10 + 0.5
    volume[2:3] = np.nan
    return Candles(np.array(times, np.int64), 100 + place, 101.25 + place, 99 + place, 100.1 + place, volume)


def every(timeframe: str, count: int, start: int = START) -> list[int]:
    """Open times of candles without a gap."""
    return [start + place * parse(timeframe) for place in range(count)]


@lru_cache
def empty_database() -> bytes:
    """Migrate once; every workspace starts from a copy."""
    with TemporaryDirectory() as folder:
        database = Database(Path(folder) / "annotate.db")
        migrate(database, Path(folder))
        database.close()
        return database.path.read_bytes()


@dataclass
class Workspace:
    """A data folder with one series, and short ways to draw on it."""

    data_dir: Path
    database: Database
    candles: CandleStore
    series_id: int
    clock: int = START + 1_000 * HOUR

    @classmethod
    def make(
        cls, folder: Path, times: list[int] | None = None, timeframe: str = "1h", symbol: str = "ETH/USDT"
    ) -> Workspace:
        """Make the folder and a series with candles at these times, 100 hours by default."""
        for name in ("candles", "datasets"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "annotate.db").write_bytes(empty_database())
        database = Database(folder / "annotate.db")
        made = cls(folder, database, CandleStore(folder, database), 0)
        made.series_id = made.add_series(candles_at(times or every(timeframe, 100)), timeframe, symbol)
        return made

    def add_series(self, candles: Candles, timeframe: str = "1h", symbol: str = "ETH/USDT") -> int:
        """Add a series with the default label set; give its id."""
        with self.database.write() as session:
            series = create_series(session, symbol=symbol, timeframe=timeframe, source="upload", created=self.clock)
            self.candles.write_series(session, series.id, timeframe, candles)
            return series.id

    def put(self, body: Json, mark_id: str | None = None, author: str = "me", gesture: str | None = None) -> Json:
        """Save a draft a millisecond after the last call; give the stored mark."""
        mark_id = mark_id or str(uuid4())
        draft = AnnotationDraft.from_json(body, mark_id)
        timeline = Timeline(self.candles.read(self.series_id).time, self._timeframe())
        with self.database.write() as session:
            who = self._gesture(author, gesture)
            return save_annotation(session, self.series_id, mark_id, draft, timeline, who).annotation

    def delete(self, mark: Json, author: str = "me", gesture: str | None = None) -> None:
        """Remove a mark at the revision given."""
        with self.database.write() as session:
            delete_annotation(session, self.series_id, mark["id"], mark["revision"], self._gesture(author, gesture))

    def undo(self, author: str = "me", *, skip: bool = False) -> Applied:
        """Take back the author's last gesture."""
        with self.database.write() as session:
            return undo(session, self.series_id, author, skip=skip)

    def redo(self, author: str = "me", *, skip: bool = False) -> Applied:
        """Make the author's last undone gesture again."""
        with self.database.write() as session:
            return redo(session, self.series_id, author, skip=skip)

    def marks(self) -> list[Json]:
        """Give the stored marks as the API shows them."""
        with self.database.read() as session:
            return list_annotations(session, self.series_id)

    def close(self) -> None:
        """Give back the database's connections."""
        self.database.close()

    def _gesture(self, author: str, gesture: str | None) -> Gesture:
        self.clock += 1
        return Gesture(author=author, now=self.clock, id=gesture)

    def _timeframe(self) -> str:
        with self.database.read() as session:
            series = session.get(Series, self.series_id)
            assert series is not None
            return series.timeframe


def span(start: int = 10, end: int = 20, label: str = "Long", **fields: Any) -> Json:
    """A span from the open of candle `start` to the open of candle `end`, on candles of an hour."""
    return {"kind": "span", "label": label, "start": START + start * HOUR, "end": START + end * HOUR, **fields}


def point(place: int = 10, price: float = 101.5, label: str = "Long", **fields: Any) -> Json:
    """A point on a candle."""
    return {"kind": "point", "label": label, "time": START + place * HOUR, "price": price, **fields}


def trade(entry: int = 10, exit_: int = 20, label: str = "Long", side: str = "long", **fields: Any) -> Json:
    """A trade from candle to candle."""
    ends = {
        "entry": {"time": START + entry * HOUR, "price": 100.0},
        "exit": {"time": START + exit_ * HOUR, "price": 103.5},
    }
    return {"kind": "trade", "label": label, "side": side, **ends, **fields}


def level(price: float = 101.5, label: str = "Long", **fields: Any) -> Json:
    """A level over the whole chart, unless it has times."""
    return {"kind": "level", "label": label, "price": price, "time": None, "until": None, **fields}


def trend_line(start: int = 10, end: int = 20, label: str = "Long", **fields: Any) -> Json:
    """A line from candle to candle, rising by the price of the candles."""
    ends = {
        name: {"time": START + place * HOUR, "price": 100.0 + place} for name, place in (("start", start), ("end", end))
    }
    return {"kind": "trend_line", "label": label, **ends, "extend": "none", **fields}


def candle_class(place: int = 10, label: str = "Long", **fields: Any) -> Json:
    """The class of one candle."""
    return span(place, place + 1, label, kind="candle_class", **fields)


def chart_class(start: int | None = None, end: int | None = None, label: str = "Long", **fields: Any) -> Json:
    """The class of the whole chart, or of a window of it."""
    times = {name: None if place is None else START + place * HOUR for name, place in (("start", start), ("end", end))}
    return {"kind": "chart_class", "label": label, **times, **fields}


def said(marks: list[Json]) -> list[Json]:
    """Marks without their revision: what undo has to bring back."""
    return [{name: value for name, value in mark.items() if name != "revision"} for mark in marks]
