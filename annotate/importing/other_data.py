"""Market data that is no candles (trades, ticks, funding rates, order books), refused by what it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from annotate.errors import InvalidInput
from annotate.importing.columns import plain, roles_by_name
from annotate.importing.header_names import PRICES

KINDS = (
    ("funding rates", ({"fundingrate"}, {"lastfundingrate"}, {"fundinginterval"}, {"fundingtime"})),
    (
        "trades",
        (
            {"price", "qty"},
            {"price", "quantity"},
            {"price", "size"},
            {"price", "amount"},
            {"tradeid"},
            {"tradeprice", "quantity"},
            {"side", "price"},
            {"isbuyermaker"},
            {"p", "q", "m"},
        ),
    ),
    ("ticks (bid and ask)", ({"bid", "ask"}, {"bidprice", "askprice"}, {"bestbidprice"})),
    ("an order book", ({"bids", "asks"}, {"depth", "percentage"})),
    ("open interest", ({"sumopeninterest"}, {"openinterestvalue"})),
)


def refuse_other_data(names: Sequence[str] | None, rows: Sequence[Sequence[str]], filename: str) -> None:
    """Raise InvalidInput when the header or the rows are of another kind of market data; say nothing of candles."""
    kind = _by_names(names) if names is not None else _by_rows(rows)
    if re.search(r"funding[-_ ]?rate", filename, re.IGNORECASE):
        kind = "funding rates"  # freqtrade keeps them in columns named as candles
    if kind is not None:
        raise InvalidInput(
            f"{filename} holds {kind}, not candles; export candles (open, high, low, close) instead",
            file=filename,
            kind=kind,
        )


def _by_names(names: Sequence[str]) -> str | None:
    if sum(price in roles_by_name(names).index for price in PRICES) >= 3:
        return None
    reduced = {plain(name) for name in names}
    for kind, signatures in KINDS:
        if any(signature <= reduced for signature in signatures):
            return kind
    return None


def _by_rows(rows: Sequence[Sequence[str]]) -> str | None:
    """Know Binance's trade files by their true/false cells; three or four cells hold no candle but a price."""
    if not rows:
        return None
    if all(any(cell.strip().lower() in ("buy", "sell") for cell in row) for row in rows):
        return "trades"
    if all(row and _is_flag(row[-1]) and not _is_gate(row) for row in rows):
        return "trades"
    width = len(rows[0])
    if width == 3 and all(len(row) == 3 and _numbers(row[1:]) == 2 for row in rows):
        return "trades or ticks (a time and two numbers)"
    if width == 4 and all(len(row) == 4 and _numbers(row) >= 2 for row in rows):
        return "ticks (a time and two or three numbers)"
    return None


def _is_flag(cell: str) -> bool:
    return cell.strip().lower() in ("true", "false")


def _is_gate(row: Sequence[str]) -> bool:
    """Know a candle of Gate by its time in front and its one flag; Binance's trades have their number in front."""
    return len(row) == 8 and len(row[0].strip()) in (10, 13) and not _is_flag(row[-2]) and _numbers(row[:7]) == 7


def _numbers(row: Sequence[str]) -> int:
    return sum(1 for cell in row if cell.strip().lstrip("+-").replace(".", "", 1).isdigit())
