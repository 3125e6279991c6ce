"""What a marked trade would have brought: filled at the open after it was decided, with costs, stop and target. Pure.

A fill is at the open of the first candle after the decision: the close of the candle that holds the mark's entry or
exit, in a replay never before the cursor at which it was placed. While the trade is held, high and low reach for stop
and target; where one candle reaches both, the stop counts. A candle that opens beyond either fills at that open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from annotate.annotations.fields import Fields
from annotate.candles import Candles
from annotate.timeframe import closes_all, parse

Json = dict[str, Any]
Mark = Mapping[str, Any]

BPS = 10_000.0
MOST_BPS = 1_000.0
NAMES = ("fee_bps", "slippage_bps")


@dataclass(frozen=True, slots=True)
class Costs:
    """What a side costs, in hundredths of a percent: the fee on its value, and by how much worse it fills."""

    fee_bps: float = 10.0
    slippage_bps: float = 0.0

    @classmethod
    def from_fields(cls, fields: Fields) -> Self:
        """Read what was sent; raise InvalidInput naming the field."""
        fields.only(NAMES)
        values = {name: fields.number(name) for name in NAMES if fields.has(name)}
        for name, value in values.items():
            if not 0 <= value <= MOST_BPS:
                raise fields.bad(name, f"must be from 0 to {MOST_BPS:g}")
        return cls(**values)

    def to_json(self) -> Json:
        """Give plain data."""
        return {"fee_bps": self.fee_bps, "slippage_bps": self.slippage_bps}

    @property
    def paid(self) -> float:
        """Give what a unit of price comes to when it is bought."""
        return (1 + self.slippage_bps / BPS) * (1 + self.fee_bps / BPS)

    @property
    def received(self) -> float:
        """Give what a unit of price comes to when it is sold."""
        return (1 - self.slippage_bps / BPS) * (1 - self.fee_bps / BPS)


@dataclass(frozen=True, slots=True)
class _Exit:
    row: int  # the candle in which the trade ends; one that ends at an open does not hold that candle
    price: float
    reason: str  # exit, stop or target


class Worth:
    """Values the trades on one series, by the candles that may be seen."""

    def __init__(self, candles: Candles, timeframe: str, costs: Costs) -> None:
        self._candles = candles
        self._closes = closes_all(candles.time, parse(timeframe))
        self._costs = costs

    def of(self, mark: Mark) -> Json:
        """Give a trade's result: `{state, reason, entry, exit, return, r, candles, mfe, mae}` with who it is.

        `state` is waiting (not filled yet), open or closed. `return` is after costs, a share of what was put in; `r` is
        the gain over the distance from entry to stop; `mfe` and `mae` are the best and the worst share of the entry
        price while it was held, before costs. What is not known is null.
        """
        entry_row = self._fill_row(mark, "entry", mark.get("entry_decided_at"))
        about = {name: mark[name] for name in ("id", "label", "author", "mode", "side")}
        nothing: Json = dict.fromkeys(("reason", "entry", "exit", "return", "r", "candles", "mfe", "mae"))
        if entry_row is None:
            return {**about, "state": "waiting", **nothing}
        price = float(self._candles.open[entry_row])
        entry = {"time": int(self._candles.time[entry_row]), "price": price}
        left = self._exit(mark, entry_row)
        held = self._held(mark, entry_row, left)
        if left is None:
            return {**about, "state": "open", **nothing, "entry": entry, **held}
        result = {"return": self._return(mark, price, left.price), "r": self._r(mark, price, left.price)}
        exit_ = {"time": int(self._candles.time[left.row]), "price": left.price}
        return {**about, "state": "closed", "reason": left.reason, "entry": entry, "exit": exit_, **result, **held}

    def _fill_row(self, mark: Mark, end: str, decided_at: int | None) -> int | None:
        """Give the candle at whose open an end of the trade is filled; None where it has not come yet."""
        time = self._candles.time
        holds = int(np.searchsorted(time, mark[end]["time"], side="right")) - 1
        decided = int(self._closes[holds]) if holds >= 0 else int(mark[end]["time"])
        if mark["mode"] == "replay" and decided_at is not None:
            decided = max(decided, decided_at)
        row = int(np.searchsorted(time, decided, side="left"))
        return row if row < len(time) else None

    def _exit(self, mark: Mark, entry_row: int) -> _Exit | None:
        wanted = self._fill_row(mark, "exit", mark["decided_at"])
        if wanted is not None and wanted <= entry_row:
            wanted = None
        end = len(self._candles) if wanted is None else wanted
        stopped = self._touched(mark, "stop", entry_row, end)
        hit = self._touched(mark, "target", entry_row, end)
        if stopped is not None and (hit is None or stopped.row <= hit.row):
            return stopped
        if hit is not None:
            return hit
        return None if wanted is None else _Exit(wanted, float(self._candles.open[wanted]), "exit")

    def _touched(self, mark: Mark, name: str, start: int, end: int) -> _Exit | None:
        """Give where stop or target is reached first in rows [start, end)."""
        level = mark.get(name)
        if level is None:
            return None
        falls = (mark["side"] == "long") == (name == "stop")  # this level is below the price
        reached = self._candles.low[start:end] <= level if falls else self._candles.high[start:end] >= level
        rows = np.flatnonzero(reached)
        if not len(rows):
            return None
        row = start + int(rows[0])
        opened = float(self._candles.open[row])
        return _Exit(row, min(level, opened) if falls else max(level, opened), name)

    def _held(self, mark: Mark, entry_row: int, left: _Exit | None) -> Json:
        """Say how far the price went while the trade was held.

        Of the candle in which stop or target ends it only what lies on the way to that fill counts.
        """
        reason = None if left is None else left.reason
        last = len(self._candles) if left is None else left.row + (reason != "exit")
        price, sign = float(self._candles.open[entry_row]), 1 if mark["side"] == "long" else -1
        rows = slice(entry_row, last - (reason in ("stop", "target")))
        highs, lows = self._candles.high[rows] - price, self._candles.low[rows] - price
        gains, losses = (highs, lows) if sign > 0 else (-lows, -highs)
        fill = [] if left is None else [sign * (left.price - price)]
        share = _share_of(price)
        return {
            "candles": last - entry_row,
            "mfe": share(max([0.0, *fill, float(gains.max(initial=0.0))])),
            "mae": share(min([0.0, *fill, float(losses.min(initial=0.0))])),
        }

    def _return(self, mark: Mark, entry: float, left: float) -> float | None:
        if entry <= 0 or left <= 0:
            return None
        if mark["side"] == "long":
            return left * self._costs.received / (entry * self._costs.paid) - 1
        return 1 - left * self._costs.paid / (entry * self._costs.received)

    def _r(self, mark: Mark, entry: float, left: float) -> float | None:
        """Give the gain after costs over the risk; None without a stop on the losing side."""
        if mark["stop"] is None:
            return None
        if mark["side"] == "long":
            gain, risk = left * self._costs.received - entry * self._costs.paid, entry - mark["stop"]
        else:
            gain, risk = entry * self._costs.received - left * self._costs.paid, mark["stop"] - entry
        return gain / risk if risk > 0 else None


def totals(results: Sequence[Json]) -> Json:
    """Sum up: `{all, label, author, mode}`; of each group `{name, trades, closed, won, sum, mean, mean_r}`."""
    return {"all": _total("all", results), **{by: _grouped(results, by) for by in ("label", "author", "mode")}}


def _grouped(results: Sequence[Json], by: str) -> list[Json]:
    names = sorted({each[by] for each in results})
    return [_total(name, [each for each in results if each[by] == name]) for name in names]


def _total(name: str, results: Sequence[Json]) -> Json:
    returns = [each["return"] for each in results if each["return"] is not None]
    rs = [each["r"] for each in results if each["r"] is not None]
    return {
        "name": name,
        "trades": len(results),
        "closed": sum(each["state"] == "closed" for each in results),
        "won": sum(value > 0 for value in returns),
        "sum": math.fsum(returns) if returns else None,
        "mean": math.fsum(returns) / len(returns) if returns else None,
        "mean_r": math.fsum(rs) / len(rs) if rs else None,
    }


def _share_of(price: float) -> Callable[[float], float | None]:
    return lambda gain: gain / price if price > 0 else None
