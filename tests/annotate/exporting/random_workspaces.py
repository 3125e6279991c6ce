"""Workspaces of any content: odd names, every timeframe, nights of clock changes, gaps, null volumes, marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from annotate.annotations.labels import LabelSetDraft
from annotate.candle_store import CandleStore
from annotate.candles import Candles
from annotate.db import Database
from annotate.models import Json
from annotate.store.label_sets import create_label_set
from annotate.store.rejected import add_rejected
from annotate.store.series import create_series
from annotate.timeframe import closes_all, parse
from tests.annotate.annotations.builders import Workspace, candles_at, empty_database

ODD = '"quoted", =1+1\n\u202e🚀'
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(str.strip)
PLAIN = ("=1+1", '"q",x;=2', "验证🚀", "عربي", "'tis", "-", "a" * 100)
NAMES = st.one_of(TEXTS, st.sampled_from([*PLAIN, "two\nlines", ODD]))
SYMBOLS = st.sampled_from(["ETH/USDT", *PLAIN])  # printable, as symbols are
TIMEFRAMES = st.sampled_from(["1s", "1m", "1h", "4h", "1d", "1w", "1mo"])
# Nights in which clocks change in Europe and America, a leap day, a turn of the year.
NIGHTS = st.sampled_from(
    [1_711_846_800_000, 1_729_990_800_000, 1_710_054_000_000, 1_709_164_800_000, 1_704_067_200_000]
)
PRICES = st.floats(allow_nan=False, allow_infinity=False)


def empty(folder: Path) -> Workspace:
    """An instance that never had a series."""
    for name in ("candles", "datasets", "uploads"):
        (folder / name).mkdir(parents=True)
    (folder / "annotate.db").write_bytes(empty_database())
    database = Database(folder / "annotate.db")
    return Workspace(folder, database, CandleStore(folder, database), 0)


def add_random_series(workspace: Workspace, data: st.DataObject) -> int:
    """Add a series with a label set of its own and a few marks; give its id."""
    timeframe = data.draw(TIMEFRAMES)
    names = data.draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    labels = [{"name": name, "colour": "#a0b0c0", "layer": data.draw(NAMES)} for name in names]
    with workspace.database.write() as session:
        label_set = create_label_set(session, LabelSetDraft.from_json({"name": data.draw(NAMES), "labels": labels}))
        series = create_series(
            session, symbol=data.draw(SYMBOLS), timeframe=timeframe, source="upload", created=workspace.clock
        )
        series.label_set_id = label_set.id
        session.flush()
        candles = random_candles(data, data.draw(NIGHTS), timeframe)
        workspace.candles.write_series(session, series.id, timeframe, candles)
        workspace.series_id = series.id
    for _ in range(data.draw(st.integers(0, 4))):
        body = data.draw(st.sampled_from(marks_on(workspace, timeframe, data)))
        workspace.put({**body, **data.draw(said_of(names))}, author=data.draw(NAMES))
    with workspace.database.write() as session:
        add_rejected(session, workspace.series_id, rejected_on(workspace, timeframe, names, data), workspace.clock)
    return workspace.series_id


def rejected_on(workspace: Workspace, timeframe: str, names: list[str], data: st.DataObject) -> list[Json]:
    """Up to two suggestions that someone rejected."""
    bodies = [mark for mark in marks_on(workspace, timeframe, data) if mark["kind"] in ("span", "point")]
    chosen = data.draw(st.lists(st.sampled_from(bodies), max_size=2))
    said = {"author": data.draw(NAMES), "decided": workspace.clock, "probability": data.draw(st.floats(0, 1))}
    found = []
    for body in chosen:
        place = {name: value for name, value in body.items() if name != "kind"}
        start = body["start"] if "start" in body else body["time"]
        ends = {"start": start, "end": body.get("end", start + 1)}
        found.append(
            {**said, "kind": body["kind"], "label": data.draw(st.sampled_from(names)), **ends, "geometry": place}
        )
    return found


def said_of(names: list[str]) -> st.SearchStrategy[Json]:
    """What a mark says beside its place."""
    drawn: dict[str, st.SearchStrategy[Any]] = {
        "label": st.sampled_from(names),
        "comment": st.sampled_from(["", ODD, "=1"]),
        "status": st.sampled_from(["done", "draft"]),
        "confidence": st.one_of(st.none(), st.floats(0, 1)),
    }
    return st.fixed_dictionaries(drawn)


def marks_on(workspace: Workspace, timeframe: str, data: st.DataObject) -> list[Json]:
    """One mark of each kind between two candles of the series."""
    times = workspace.candles.read(workspace.series_id).time
    ends = closes_all(times, parse(timeframe))
    rows = st.integers(0, len(times) - 1)
    low, high = sorted((data.draw(rows), data.draw(rows)))
    start, end, price = int(times[low]), int(ends[high]), data.draw(PRICES)
    first, last = {"time": start, "price": price}, {"time": int(times[high]), "price": 1.5}
    line = {"kind": "trend_line", "start": first, "end": {**last, "time": end - 1}, "extend": "right"}
    return [
        {"kind": "span", "start": start, "end": end},
        {"kind": "candle_class", "start": start, "end": int(ends[low])},
        {"kind": "point", **first},
        {"kind": "trade", "side": "short", "entry": first, "exit": last, "stop": price},
        {"kind": "level", "price": price, "time": start, "until": end},
        {"kind": "level", "price": price, "time": None, "until": None},
        {"kind": "chart_class", "start": None, "end": None},
        {"kind": "chart_class", "start": start, "end": end},
        line,
    ]


def random_candles(data: st.DataObject, start: int, timeframe: str) -> Candles:
    """Up to 30 candles in a row with some left out; some volumes are null."""
    length = data.draw(st.integers(1, 30))
    kept = data.draw(st.lists(st.booleans(), min_size=length, max_size=length))
    opens = [start]
    for _ in range(length - 1):
        opens.append(int(closes_all(np.array(opens[-1:], np.int64), parse(timeframe))[0]))
    return candles_at([time for time, keep in zip(opens, [True, *kept[1:]], strict=True) if keep])
