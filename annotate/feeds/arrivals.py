"""What a call may feed: candles read from JSON, aligned, each closed or still forming, once a time. No database."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotate.annotations.fields import Fields, shown
from annotate.candles import COLUMNS, Candles
from annotate.errors import InvalidInput
from annotate.timeframe import close_of, floor

Json = dict[str, Any]

MAX_A_CALL = 10_000
KNOWN_FIELDS = (*COLUMNS, "closed")
EARLIEST_MARKET_MS = 100_000_000_000  # 1973; today's seconds are below it, and no venue traded by the second before


@dataclass(frozen=True, slots=True)
class Candle:
    """One candle from outside. `time` is its open time, ms UTC."""

    time: int
    open: float
    high: float
    low: float
    close: float
    volume: float | None

    def to_json(self) -> Json:
        """Give the candle as the API shows it."""
        return {name: getattr(self, name) for name in COLUMNS}


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The candles of one call: closed ones in order of time, and the newest forming one."""

    closed: list[Candle]
    forming: Candle | None
    repeated: int  # the same closed candle twice in this call
    out_of_order: int  # closed candles that stood after a later one


def read_arrivals(body: object, timeframe: str, phase: int, now: int) -> Arrivals:
    """Read one candle object or a list of them.

    A candle without `closed` is closed when its time is over by the clock `now` (ms UTC). A candle opens on the grid of
    the timeframe, or `phase` ms after it, as the series does. Raises InvalidInput naming the candle and the way out.
    """
    given = body if isinstance(body, list) else [body]
    if not 0 < len(given) <= MAX_A_CALL:
        raise InvalidInput(f"{len(given)} candles: send 1 to {MAX_A_CALL:,} in a call", field="candles")
    closed: list[Candle] = []
    forming: dict[int, Candle] = {}
    for index, item in enumerate(given):
        fields = Fields(item, f"candles[{index}]." if isinstance(body, list) else "")
        candle = _candle(fields, timeframe, phase)
        if _is_closed(fields, candle, timeframe, now):
            closed.append(candle)
        else:
            forming[candle.time] = candle
    once = _once(closed)
    newest = max(forming, default=None)
    last = None if newest is None or (once and newest <= once[-1].time) else forming[newest]
    return Arrivals(once, last, len(closed) - len(once), _out_of_order(closed))


def columns_of(candles: Iterable[Candle]) -> Candles:
    """Give candles as columns; a null volume is NaN there."""
    rows = [(c.time, c.open, c.high, c.low, c.close, math.nan if c.volume is None else c.volume) for c in candles]
    if not rows:
        return Candles.empty()
    time, *values = zip(*rows, strict=True)
    return Candles(np.array(time, np.int64), *(np.array(column, np.float64) for column in values))


def candles_of(candles: Candles) -> list[Candle]:
    """Give columns as candles."""
    return [row_of(candles, row) for row in range(len(candles))]


def row_of(candles: Candles, row: int) -> Candle:
    """Give one row of columns as a candle."""
    time, open_, high, low, close, volume = (getattr(candles, name)[row].item() for name in COLUMNS)
    return Candle(time, open_, high, low, close, None if math.isnan(volume) else volume)


def is_aligned(time: int, timeframe: str, phase: int = 0) -> bool:
    """Tell whether a candle may open at a time: on the grid, or `phase` ms after it."""
    return time - floor(time, timeframe) in (0, phase)


def _candle(fields: Fields, timeframe: str, phase: int) -> Candle:
    fields.only(KNOWN_FIELDS)
    time = fields.time("time")
    if not is_aligned(time, timeframe, phase):
        opens = floor(time, timeframe)
        raise fields.bad(
            "time",
            f"no {timeframe} candle of this series opens then; send its open time, {opens}, in ms UTC"
            + (" (this looks like seconds)" if 0 < time < EARLIEST_MARKET_MS else ""),
        )
    open_, high, low, close = (fields.number(name) for name in COLUMNS[1:5])
    volume = fields.optional_number("volume")
    if volume is not None and volume < 0:
        raise fields.bad("volume", "must not be negative; leave it out where it is not known")
    return Candle(time, open_, high, low, close, volume)


def _is_closed(fields: Fields, candle: Candle, timeframe: str, now: int) -> bool:
    # Decided by the sender's word, else by time, never by place: the last candle of a list may well be whole.
    return fields.flag("closed") if fields.has("closed") else close_of(candle.time, timeframe) <= now


def _once(candles: list[Candle]) -> list[Candle]:
    found: dict[int, Candle] = {}
    for candle in candles:
        other = found.setdefault(candle.time, candle)
        if other != candle:
            raise InvalidInput(
                f"the candle at {candle.time} comes twice, as {shown(other.to_json(), 200)} and as "
                f"{shown(candle.to_json(), 200)}; send it once, as it closed",
                field="time",
                versions=[other.to_json(), candle.to_json()],
            )
    return [found[time] for time in sorted(found)]


def _out_of_order(candles: list[Candle]) -> int:
    newest, count = -math.inf, 0
    for candle in candles:
        count += candle.time < newest
        newest = max(newest, candle.time)
    return count
