"""The shape of delimited text: delimiter, header line, first line of data, and how many cells a row has."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from annotate.importing.columns import roles_by_name

DELIMITERS = ("\t", ";", "|", ",", " ")
SAMPLE_ROWS = 200
LEAST_ROLES = 3
WIDEST = 2000  # a line of more cells is no header, and not searched for names

NUMERIC = re.compile(r"^\s*[$€£¥]?\s*[+-]?(\d[\d.,' \u00a0\u202f]*|\.\d+)([eE][+-]?\d+)?\s*[kKmMbBtT%]?\s*$")
TIME = re.compile(
    r"^\s*("
    r"\d{8,19}(\.\d*)?|\d(\.\d+)?[eE]\+?\d+"
    r"|\d{4}[-./年]\d{1,2}([-./月]\d{1,2}.*)?|\d{1,2}[-./]\d{1,2}[-./]\d{2,4}.*|\d{8}[ T]\d{2}.*"
    r"|\d{1,2}[-. /]?[A-Za-z]{3,9}[-. /,]+\d{2,4}.*|([A-Za-z]{3,9},?\s+)?[A-Za-z]{3,9}\.? \d{1,2},? \d{4}.*"
    r")\s*$"
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a text is laid out; lines count from 1, and `rows` are the first rows of data."""

    delimiter: str
    names: list[str] | None
    first_line: int
    width: int
    rows: list[list[str]]
    preamble: list[str] = field(default_factory=list)
    tickers: list[str] | None = None


def sniff(lines: Sequence[str]) -> Dialect | None:
    """Find delimiter and header in the first lines; None when nothing is laid out in columns."""
    delimiter = _delimiter(lines)
    if delimiter is None or (delimiter == " " and any("  " in line.strip() for line in lines)):
        return None  # columns that are aligned with several spaces are no cells yet
    rows = [_split(line, delimiter) for line in lines[: SAMPLE_ROWS * 2]]
    header = _header_line(rows)
    first = _first_data_line(rows, header)
    data = [row for row in rows[first:] if any(cell.strip() for cell in row)][:SAMPLE_ROWS]
    names = rows[header] if header is not None else None
    width = Counter(len(row) for row in data).most_common(1)[0][0] if data else len(names or [])
    preamble = [line for line in lines[: header if header is not None else first] if line.strip()]
    tickers = _tickers(rows, header, first)
    return Dialect(delimiter, names, first + 1, width, data, preamble, tickers)


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)


def _delimiter(lines: Sequence[str]) -> str | None:
    """Take the first delimiter that gives most lines the same number of cells, five or more (then three or more)."""
    filled = [line for line in lines if line.strip()][-100:]
    for least in (5, 3):
        for delimiter in DELIMITERS:
            counts = Counter(len(_split(line, delimiter)) for line in filled)
            cells, often = counts.most_common(1)[0] if counts else (0, 0)
            if cells >= least and often >= 0.6 * len(filled) and (delimiter != " " or least == 5):
                return delimiter
    return next((delimiter for delimiter in DELIMITERS[:-1] if _names_candles(filled, delimiter)), None)


def _names_candles(lines: Sequence[str], delimiter: str) -> bool:
    """Know a header above a remark such as `No data`."""
    return bool(lines) and roles_by_name(_split(lines[0], delimiter)).complete


def _header_line(rows: list[list[str]]) -> int | None:
    """Find the first line whose cells are names of candle columns; None when data comes first."""
    for at, row in enumerate(rows[:60]):
        if len(row) > WIDEST:
            break
        found = [role for role in roles_by_name(row).index if role not in ("symbol", "period", "confirmed")]
        if len(found) >= LEAST_ROLES and not _is_data(row):
            return at
        if _is_data(row):
            break
    return _nameless_header(rows)


def _nameless_header(rows: list[list[str]]) -> int | None:
    """Take the line before the first row of data as header, when it has as many cells and none is a number."""
    filled = [at for at, row in enumerate(rows[:60]) if any(cell.strip() for cell in row)]
    for at, after in pairwise(filled):
        if _is_data(rows[at]):
            return None
        names = [cell for cell in rows[at] if cell.strip()]
        if _is_data(rows[after]) and abs(len(rows[at]) - len(rows[after])) <= 1 and len(names) >= LEAST_ROLES:
            return None if any(NUMERIC.match(name) or TIME.match(name) for name in names) else at
    return None


def _is_data(row: Sequence[str]) -> bool:
    numbers = sum(1 for cell in row if NUMERIC.match(cell))
    return numbers >= LEAST_ROLES and any(TIME.match(cell) or NUMERIC.match(cell) for cell in row[:4])


def _first_data_line(rows: list[list[str]], header: int | None) -> int:
    """Pass the header, and the further header lines of pandas (`Ticker,SPY,…` and `Date,,,`)."""
    if header is None:
        return next((at for at, row in enumerate(rows) if _is_data(row)), 0)
    at = header + 1
    while at < min(len(rows), header + 4) and _is_more_header(rows[at]):
        at += 1
    return at


def _is_more_header(row: Sequence[str]) -> bool:
    first = row[0].strip().lower() if row else ""
    filled = [cell for cell in row if cell.strip()]
    named = not any(NUMERIC.match(cell) or TIME.match(cell) for cell in filled)
    return named and (not filled or first in ("ticker", "tickers", "date", "datetime", "time", "timestamp"))


def _tickers(rows: list[list[str]], header: int | None, first: int) -> list[str] | None:
    if header is None:
        return None
    # Grouped by field, yfinance writes the tickers below the names; grouped by ticker, above them.
    near = [*rows[max(0, header - 1) : header], *rows[header + 1 : first]]
    return next((row for row in near if row and row[0].strip().lower() in ("ticker", "tickers")), None)
