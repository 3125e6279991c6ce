"""Candles made up for tests, and a slow, plain way to aggregate them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from annotate.candle_store import CandleStore
from annotate.candles import COLUMNS, Candles
from annotate.db import Database
from annotate.store.series import create_series
from annotate.timeframe import parse

Row = tuple[int, float, float, float, float, float | None]


@dataclass(frozen=True)
class Shelf:
    """A database and a candle store on one folder."""

    folder: Path
    database: Database
    store: CandleStore

    def series(self, candles: Candles, timeframe: str = "1m", symbol: str = "TEST") -> int:
        """Make a series of these candles and give its id."""
        with self.database.write() as session:
            made = create_series(session, symbol=symbol, timeframe=timeframe, source="upload", created=0)
            self.store.write_series(session, made.id, timeframe, candles)
            return made.id

    def reopened(self) -> CandleStore:
        """Give a store that knows nothing but what is on the disk."""
        return CandleStore(self.folder, self.database)

    def files(self) -> set[Path]:
        """List every file under the candle folder."""
        return {path for path in (self.folder / "candles").rglob("*") if path.is_file()}


def ms(text: str) -> int:
    """Give an ISO time without offset, read as UTC, in ms."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


def candles_of(rows: Sequence[Row]) -> Candles:
    """Make candles of (time, open, high, low, close, volume or None)."""
    time, *values = zip(*rows, strict=True)
    columns = [[math.nan if value is None else value for value in column] for column in values]
    return Candles(np.array(time, np.int64), *(np.array(column, np.float64) for column in columns))


def random_candles(
    rows: int, timeframe: str = "1m", seed: int = 0, start: str = "2024-02-28T22:47:00", kept: float = 0.9
) -> Candles:
    """Make a random walk with holes, and null volumes among the others. Volumes are whole, so that sums are exact."""
    generator = np.random.default_rng(seed)
    steps = np.cumsum(1 + generator.geometric(kept, rows) - 1)
    time = ms(start) + steps.astype(np.int64) * parse(timeframe)
    close = np.round(100 * np.exp(np.cumsum(generator.normal(0, 1e-3, rows))), 2)
    opened = np.concatenate([[100.0], close[:-1]])
    volume = np.where(generator.random(rows) < 0.3, math.nan, generator.integers(0, 1000, rows))
    return Candles(time, opened, np.maximum(opened, close) + 0.01, np.minimum(opened, close) - 0.01, close, volume)


def rows_of(candles: Candles) -> list[Row]:
    """Give candles as plain rows, null volumes as None, for comparison."""
    columns = [getattr(candles, name).tolist() for name in COLUMNS]
    rows = zip(*columns, strict=True)
    return [(time, o, h, low, c, None if math.isnan(v) else v) for time, o, h, low, c, v in rows]


def plainly_aggregated(rows: Sequence[Row], timeframe: str) -> list[Row]:
    """Aggregate with the calendar of the standard library, one row after the other."""
    buckets: dict[int, list[Row]] = {}
    for row in rows:
        buckets.setdefault(_bucket(row[0], timeframe), []).append(row)
    return [_joined(opened, inside) for opened, inside in buckets.items()]


def _joined(opened: int, rows: Sequence[Row]) -> Row:
    volumes = [row[5] for row in rows if row[5] is not None]
    return (
        opened,
        rows[0][1],
        max(row[2] for row in rows),
        min(row[3] for row in rows),
        rows[-1][4],
        sum(volumes) if volumes else None,
    )


def _bucket(time: int, timeframe: str) -> int:
    moment = datetime.fromtimestamp(time / 1000, UTC)
    midnight = int(moment.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()) * 1000
    if timeframe == "1mo":
        return midnight - (moment.day - 1) * parse("1d")
    if timeframe == "1w":
        return midnight - moment.weekday() * parse("1d")
    return time - time % parse(timeframe)
