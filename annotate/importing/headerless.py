"""Rows without a header: which column is which, by the shape of the cells and the high/low rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotate.importing.columns import Roles
from annotate.importing.dialect import NUMERIC, TIME
from annotate.importing.doubts import Choice, Doubts
from annotate.importing.header_names import PRICES

CLOCK = re.compile(r"^\s*(\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?|\d{4}|\d{6})\s*$")
DATE_ONLY = re.compile(r"^\s*(\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}|(19|20)\d{6})\s*$")
WORD = re.compile(r"^\s*[A-Za-z][\w.:/ -]*\s*$")

# Orders in which public interfaces give the columns after the time; the first that all rows allow is taken.
ORDERS = {
    "open, high, low, close, volume": ("open", "high", "low", "close", "volume"),
    "low, high, open, close, volume (Coinbase)": ("low", "high", "open", "close", "volume"),
    "open, close, high, low, volume (Bitfinex, KuCoin)": ("open", "close", "high", "low", "volume"),
    "volume, close, high, low, open (Gate)": ("volume", "close", "high", "low", "open"),
}
ASKED_ORDERS = {
    "close, open, high, low, volume": ("close", "open", "high", "low", "volume"),
    "close, high, low, open, volume": ("close", "high", "low", "open", "volume"),
    "open, low, high, close, volume": ("open", "low", "high", "close", "volume"),
    "high, low, open, close, volume": ("high", "low", "open", "close", "volume"),
}


@dataclass(frozen=True, slots=True)
class Shape:
    """Where the columns begin: leading symbol columns, the time, an optional clock, then the numbers."""

    time: int
    clock: int | None
    first_number: int
    symbol: int | None = None
    period: int | None = None


def find_shape(row: Sequence[str]) -> Shape | None:
    """Find time and numbers in the first row of data; None when there are not four numbers after a time."""
    at, symbol, period = 0, None, None
    if WORD.match(row[0]) and len(row) > 5 and not TIME.match(row[0]):
        symbol, at = 0, 1
        # Stooq and MetaStock put the period between the ticker and the date.
        if re.fullmatch(r"\s*([DWMI]|\d{1,3})\s*", row[1]) and TIME.match(row[2]):
            period, at = 1, 2
    elif re.fullmatch(r"\s*\d{1,7}\s*", row[0]) and len(row) > 6 and re.fullmatch(r"\s*(\d{10,19}|\d{4}-.*)", row[1]):
        at = 1  # a row number before the time
    if at >= len(row) or not TIME.match(row[at]):
        return None
    clock = at + 1 if DATE_ONLY.match(row[at]) and at + 1 < len(row) and _is_clock(row[at + 1]) else None
    first = at + 1 if clock is None else at + 2
    numbers = [cell for cell in row[first : first + 4] if NUMERIC.match(cell) or not cell.strip()]
    return Shape(at, clock, first, symbol, period) if len(numbers) == 4 else None


def _is_clock(cell: str) -> bool:
    return bool(CLOCK.match(cell)) and (":" in cell or len(cell.strip()) in (4, 6))


def roles_by_shape(shape: Shape, numbers: NDArray[np.float64], doubts: Doubts) -> Roles:
    """Name the number columns by the order that the high/low rule allows; `numbers` is (rows, columns) of a sample."""
    order, reason = _order(numbers, doubts)
    index = {"time": shape.time}
    for role, at in (("clock", shape.clock), ("symbol", shape.symbol), ("period", shape.period)):
        if at is not None:
            index[role] = at
    index |= {role: shape.first_number + at for at, role in enumerate(order) if at < numbers.shape[1]}
    reasons = dict.fromkeys((*PRICES, "volume"), reason) | {"time": "the first cell that is a time"}
    return Roles(index, {role: text for role, text in reasons.items() if role in index})


def _order(numbers: NDArray[np.float64], doubts: Doubts) -> tuple[tuple[str, ...], str]:
    given = doubts.given("column_order")
    everything = ORDERS | ASKED_ORDERS
    if given in everything:
        return everything[given], "as answered"
    for name, order in ORDERS.items():
        if _fits(numbers, order):
            why = "the usual order, and no row contradicts it" if order == next(iter(ORDERS.values())) else name
            return order, f"no header; {why}"
    fitting = [name for name, order in ASKED_ORDERS.items() if _fits(numbers, order)]
    if not fitting:
        return next(iter(ORDERS.values())), "no header; the usual order, though rows break the high/low rule"
    choices = [Choice(name, name, likely=name == fitting[0]) for name in fitting]
    choices += [Choice(name, name) for name in ORDERS]
    reason = "The file has no header, and open, high, low, close would put highs below lows."
    answer = doubts.ask("column_order", "In which order are the columns after the time?", choices, reason)
    return everything[answer], "as answered"


def _fits(numbers: NDArray[np.float64], order: tuple[str, ...]) -> bool:
    """Tell whether the order keeps the high/low rule in nearly all sampled rows; one bad row is no other layout."""
    if numbers.shape[1] < len(order) - (order[-1] == "volume"):
        return False
    columns = {role: numbers[:, order.index(role)] for role in PRICES}
    top = np.maximum(columns["open"], columns["close"])
    bottom = np.minimum(columns["open"], columns["close"])
    broken = (columns["high"] < top) | (columns["low"] > bottom)
    return bool(np.count_nonzero(broken) <= 0.05 * len(broken))
