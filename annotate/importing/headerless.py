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

CLOCK = re.compile(r"^\s*(\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?|\d{1,6})\s*$")
DATE_ONLY = re.compile(r"^\s*(\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}|(19|20)\d{6})\s*$")
TOLERATED = 0.05  # rows that may break the high/low rule before the order of the columns is doubted
WORD = re.compile(r"^\s*[A-Za-z][\w.:/ -]*\s*$")

Floats = NDArray[np.float64]

# Orders in which public interfaces give the columns after the time.
USUAL = ("open", "high", "low", "close", "volume")
PUBLISHED = {
    "low, high, open, close, volume": ("low", "high", "open", "close", "volume"),  # Coinbase
    "open, close, high, low, volume": ("open", "close", "high", "low", "volume"),  # Bitfinex, KuCoin
}
OTHER_ORDERS = PUBLISHED | {
    "volume, close, high, low, open": ("volume", "close", "high", "low", "open"),  # Gate
    "close, open, high, low, volume": ("close", "open", "high", "low", "volume"),
    "close, high, low, open, volume": ("close", "high", "low", "open", "volume"),
    "open, low, high, close, volume": ("open", "low", "high", "close", "volume"),
    "high, low, open, close, volume": ("high", "low", "open", "close", "volume"),
}
ORDERS = {", ".join(USUAL): USUAL} | OTHER_ORDERS


@dataclass(frozen=True, slots=True)
class Shape:
    """Where the columns begin: leading symbol columns, the time, an optional clock, then the numbers."""

    time: int
    clock: int | None
    first_number: int
    symbol: int | None = None
    period: int | None = None


def find_shapes(row: Sequence[str]) -> list[Shape]:
    """Give the shapes that a row of data can have, the likelier first; none when no four numbers follow a time.

    Digits after a date are its clock or the first price, so that there can be two.
    """
    at, symbol, period = _leading(row)
    if at >= len(row) or not TIME.match(row[at]):
        return []
    clock = row[at + 1] if DATE_ONLY.match(row[at]) and at + 1 < len(row) else ""
    with_clock = Shape(at, at + 1, at + 2, symbol, period)
    without = Shape(at, None, at + 1, symbol, period)
    shapes = [without]
    if ":" in clock and CLOCK.match(clock):
        shapes = [with_clock]
    elif CLOCK.match(clock):
        shapes = [with_clock, without] if clock.strip().startswith("0") else [without, with_clock]
    return [shape for shape in shapes if _has_prices(row, shape)]


def _leading(row: Sequence[str]) -> tuple[int, int | None, int | None]:
    """Give where the time stands, the symbol's and the period's column, if they come first."""
    if WORD.match(row[0]) and len(row) > 5 and not TIME.match(row[0]):
        # Stooq and MetaStock put the period between the ticker and the date.
        if re.fullmatch(r"\s*([DWMI]|\d{1,3})\s*", row[1]) and TIME.match(row[2]):
            return 2, 0, 1
        return 1, 0, None
    if re.fullmatch(r"\s*\d{1,7}\s*", row[0]) and len(row) > 6 and re.fullmatch(r"\s*(\d{10,19}|\d{4}-.*)", row[1]):
        return 1, None, None  # a row number before the time
    return 0, None, None


def _has_prices(row: Sequence[str], shape: Shape) -> bool:
    cells = row[shape.first_number : shape.first_number + 4]
    return len(cells) == 4 and all(NUMERIC.match(cell) or not cell.strip() for cell in cells)


def choose_shape(shapes: Sequence[Shape], numbers: Sequence[Floats], doubts: Doubts) -> int:
    """Choose between a clock and a price after the date, by the high/low rule; ask when both keep it."""
    fitting = [at for at, table in enumerate(numbers) if _fits(table, USUAL)]
    if len(fitting) < 2:
        return fitting[0] if fitting else 0
    choices = [
        Choice(str(at), "the clock of the date" if shapes[at].clock is not None else "the open price", likely=at == 0)
        for at in fitting
    ]
    reason = "The file has no header, and the cell after the date can be read either way."
    return int(doubts.ask("after_date", "What stands in the column after the date?", choices, reason))


def roles_by_shape(shape: Shape, numbers: Floats, doubts: Doubts, *, published: bool) -> Roles:
    """Name the number columns by the order that the high/low rule allows; `numbers` is (rows, columns) of a sample.

    `published` says that the rows come as an exchange's interface sends them, whose other orders are known.
    """
    order, reason = _order(numbers, doubts, published=published)
    index = {"time": shape.time}
    for role, at in (("clock", shape.clock), ("symbol", shape.symbol), ("period", shape.period)):
        if at is not None:
            index[role] = at
    index |= {role: shape.first_number + at for at, role in enumerate(order) if at < numbers.shape[1]}
    reasons = dict.fromkeys((*PRICES, "volume"), reason) | {"time": "the first cell that is a time"}
    return Roles(index, {role: text for role, text in reasons.items() if role in index})


def _order(numbers: Floats, doubts: Doubts, *, published: bool) -> tuple[tuple[str, ...], str]:
    given = doubts.given("column_order")
    if given in ORDERS:
        return ORDERS[given], "as answered"
    if _broken(numbers, USUAL) == 0:
        return USUAL, "no header; the usual order, and no row contradicts it"
    # Of an illiquid market most rows are flat and fit every order, so that one row which tells them apart decides.
    if published:
        for name, order in PUBLISHED.items():
            if _broken(numbers, order) == 0:
                return order, f"no names; {name} is an order that exchanges send, and the usual one breaks the rule"
    fitting = [name for name, order in OTHER_ORDERS.items() if _broken(numbers, order) == 0]
    if not fitting or (len(fitting) > 1 and _fits(numbers, USUAL)):
        return USUAL, "no header; the usual order, though rows break the high/low rule"
    choices = [Choice(name, name, likely=name == fitting[0]) for name in (*fitting, ", ".join(USUAL))]
    reason = "The file has no header, and open, high, low, close would put highs below lows."
    answer = doubts.ask("column_order", "In which order are the columns after the time?", choices, reason)
    return ORDERS[answer], "as answered"


def _fits(numbers: Floats, order: tuple[str, ...]) -> bool:
    """Tell whether the order keeps the high/low rule in nearly all sampled rows; one bad row is no other layout."""
    broken = _broken(numbers, order)
    return broken is not None and broken <= TOLERATED * len(numbers)


def _broken(numbers: Floats, order: tuple[str, ...]) -> int | None:
    """Count the sampled rows that break the high/low rule in this order; None where there are too few columns."""
    if numbers.shape[1] < len(order) - (order[-1] == "volume"):
        return None
    columns = {role: numbers[:, order.index(role)] for role in PRICES}
    top = np.maximum(columns["open"], columns["close"])
    bottom = np.minimum(columns["open"], columns["close"])
    return int(np.count_nonzero((columns["high"] < top) | (columns["low"] > bottom)))


def average_before_volume(numbers: Floats) -> bool:
    """Tell whether the fifth number lies between low and high wherever it is not 0: a mean price before the volume."""
    low, high, fifth = numbers[:, 2], numbers[:, 1], numbers[:, 4]
    return bool(np.all((fifth == 0) | ((fifth >= low) & (fifth <= high))))
