"""Cells to float64: decimal comma, thousands marks, K/M/B, currency signs, blanks. Exact: `float(text) == value`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from annotate.importing.arrow import Column, mask_of, pc
from annotate.importing.doubts import Choice, Doubts
from annotate.importing.header_names import PRICES
from annotate.importing.problems import Cell, CellProblem

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# What exporters write where they have no value. `nan` stands here too: no price is no candle.
BLANKS: tuple[str, ...] = (
    "",
    "-",
    "--",
    "—",
    "–",
    ".",
    "null",
    "NULL",
    "Null",
    "none",
    "None",
    "NONE",
    "nan",
    "NaN",
    "NAN",
    "na",
    "NA",
)
BLANKS += ("n/a", "N/A", "#N/A", "<NA>", "-nan", "(null)", "nil")

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
NO_NUMBER = r"^[+-]?(?i:nan)(\(\w*\))?$"  # as C prints it, on Windows as -nan(ind)
INFINITE = r"^[+-]?(?i:inf(inity)?)$"
SPACES = " \u00a0\u202f\u2009\t"
COMMA_IS_DECIMAL = r"^[^,]*,(\d{1,2}|\d{4,})\D*$|^[^\d]*0,\d+\D*$|\.\d{3},"
COMMA_IS_THOUSANDS = r"\d,\d{3}\.|,\d{2,3},"
THIRTY_SECONDS = r"^\s*\d{2,3}['’](0\d|[12]\d|3[01])[0257]?\s*$"
DOT_IS_DECIMAL = r"\.(\d{1,2}|\d{4,})\D*$|^\D*0\.\d"


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """How a file writes numbers, and why it is read so."""

    decimal: str
    reason: str


def number_style(columns: Mapping[str, Column], doubts: Doubts, *, comma_separated: bool) -> NumberStyle:
    """Tell decimal commas from thousands commas by every numeric cell of the file; ask when all fit both."""
    _refuse_thirty_seconds(columns)
    if any(_any(pc.match_substring_regex(column, r"\.\d{3}\.\d{3}")) for column in columns.values()):
        return NumberStyle(",", "dots part thousands: a number has two of them")
    cells = [column for column in columns.values() if _any(pc.match_substring(column, ","))]
    if not cells:
        return NumberStyle(".", "no cell has a comma")
    if doubts.given("decimal_comma"):
        return _asked_style(cells[0], doubts, comma_separated=comma_separated)
    if any(_any(pc.match_substring_regex(column, COMMA_IS_THOUSANDS)) for column in cells):
        return NumberStyle(".", "commas part thousands: a comma stands before a group of three digits that goes on")
    commas, dots = (_count(columns.values(), pattern) for pattern in (COMMA_IS_DECIMAL, DOT_IS_DECIMAL))
    # Both in one file is a mistake somewhere; the rarer writing is then named as no number.
    if commas > dots:
        return NumberStyle(",", "commas are decimal: one stands where no thousands mark could")
    if dots:
        return NumberStyle(".", "commas part thousands: dots are the decimals")
    return _asked_style(cells[0], doubts, comma_separated=comma_separated)


def _refuse_thirty_seconds(columns: Mapping[str, Column]) -> None:
    """Refuse bonds' prices, where 110'165 is 110 and 16.5 thirty-seconds; with thousands marks some would not fit."""
    prices = {name: columns[name] for name in PRICES if name in columns}
    if prices and all(pc.all(pc.match_substring_regex(cells, THIRTY_SECONDS)).as_py() for cells in prices.values()):
        name, cells = next(iter(prices.items()))
        raise CellProblem(Cell(0, name, cells[0].as_py()), "is a price in thirty-seconds; export prices as decimals")


def _asked_style(column: Column, doubts: Doubts, *, comma_separated: bool) -> NumberStyle:
    example = column.filter(pc.match_substring(column, ","))[0].as_py().strip()
    whole, part = example.replace(",", ""), example.replace(",", ".")
    choices = [
        Choice("thousands", f"{example} is {whole}", likely=comma_separated),
        Choice("decimal", f"{example} is {part}", likely=not comma_separated),
    ]
    reason = "Every number with a comma has three digits after it, so both readings fit."
    answer = doubts.ask("decimal_comma", f"What does {example} mean in this file?", choices, reason)
    return NumberStyle("," if answer == "decimal" else ".", "as answered")


def _count(columns: Iterable[Column], pattern: str) -> int:
    return sum(pc.sum(pc.match_substring_regex(column, pattern)).as_py() or 0 for column in columns)


def _any(mask: Column) -> bool:
    return bool(pc.any(mask).as_py())


@dataclass(frozen=True, slots=True)
class ParsedNumbers:
    """Values of one column; NaN where the cell is blank; `bad` marks cells that are no number."""

    values: Floats
    bad: Bools


def parse_numbers(column: Column, style: NumberStyle) -> ParsedNumbers:
    """Read text cells as float64; nothing is rounded twice (`27.41K` is read as `27.41e3`)."""
    cells = _cleaned(column, style)
    infinite = mask_of(pc.match_substring_regex(cells, INFINITE))
    blank = mask_of(pc.is_in(cells, value_set=pa.array(BLANKS))) | mask_of(pc.is_null(cells))
    blank |= mask_of(pc.match_substring_regex(cells, NO_NUMBER))
    fits = mask_of(pc.match_substring_regex(cells, NUMBER))
    numbers = pc.if_else(pa.array(fits), cells, pa.scalar(None, pa.string()))
    # Arrow's float parser takes no leading plus sign everywhere, and float() gives the same double without it.
    values = _floats(pc.cast(pc.replace_substring_regex(numbers, r"^\+", ""), pa.float64()))
    values[infinite] = np.inf
    return ParsedNumbers(values, ~(fits | blank | infinite))


def _cleaned(column: Column, style: NumberStyle) -> Column:
    cells = pc.utf8_trim(column, characters=SPACES)
    cells = pc.replace_substring(cells, "\u2212", "-")
    cells = pc.replace_substring_regex(cells, r"""^"\s*(.*?)\s*"$|^'\s*(.*?)\s*'$""", r"\1\2")
    cells = pc.replace_substring_regex(cells, r"^([+-]?)(?:[$€£¥₹₽₩]|US\$)\s*|\s*[$€£¥₹₽₩]$", r"\1")
    for suffix, power in (("[kK]", "e3"), ("[mM]", "e6"), ("[bB]", "e9"), ("[tT]", "e12")):
        cells = pc.replace_substring_regex(cells, rf"(\d)\s*{suffix}$", rf"\1{power}")
    cells = _without_thousands(cells, "," if style.decimal == "." else ".", style.decimal)
    if style.decimal == ".":
        return cells
    # A dot that is no thousands mark makes the cell unreadable here, so that it is named and not taken for decimal.
    dotless = pc.replace_substring(cells, ".", "..")
    plain: Column = pc.replace_substring(dotless, ",", ".")
    return plain


def _without_thousands(cells: Column, mark: str, decimal: str) -> Column:
    """Take thousands marks out of well-formed numbers only: a misplaced one keeps its cell unreadable, hence named."""
    marks = rf"[{mark}'’ \x{{a0}}\x{{202f}}\x{{2009}}]"
    # Groups of two stand for Indian numbers such as 12,34,567.
    formed = rf"^[+-]?\d{{1,3}}(?:{marks}\d{{2,3}})*{marks}\d{{3}}(?:[{decimal}]\d*)?(?:e\d+)?$"
    grouped = pc.match_substring_regex(cells, formed)
    if not _any(grouped):
        return cells
    ungrouped: Column = pc.if_else(grouped, pc.replace_substring_regex(cells, marks, ""), cells)
    return ungrouped


def _floats(column: Column) -> Floats:
    return np.array(column.to_numpy(zero_copy_only=False), dtype=np.float64)
