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
from annotate.importing.number_habits import DOT_IS_DECIMAL, DOT_MAY_PART, DotHabit
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
SPACES = " \u00a0\u2007\u2009\u202f\t"
COMMA_IS_DECIMAL = r"^[^,]*,(\d{1,2}|\d{4,})\D*$|^[^\d]*0,\d+\D*$|\.\d{3},"
COMMA_IS_THOUSANDS = r"\d,\d{3}\.|,\d{2,3},"
THIRTY_SECONDS = r"^\s*\d{2,3}['’](0\d|[12]\d|3[01])[0257]?\s*$"
UNPARTED = r"^\D*\d{4,}\D*$"
THREE_BEFORE = r"^\D*\d{3}\."


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """How a file writes numbers, and why it is read so."""

    decimal: str
    reason: str


def number_style(
    columns: Mapping[str, Column], doubts: Doubts, *, commas_part: bool, habit: DotHabit | None = None
) -> NumberStyle:
    """Tell decimal commas from thousands commas by every numeric cell of the file; ask when all fit both.

    `commas_part` says that commas between thousands are likelier, `habit` why dots may part them in this file.
    """
    _refuse_thirty_seconds(columns)
    if any(_any(pc.match_substring_regex(column, r"\.\d{3}\.\d{3}")) for column in columns.values()):
        return NumberStyle(",", "dots part thousands: a number has two of them")
    cells = [column for column in columns.values() if _any(pc.match_substring(column, ","))]
    if not cells:
        return _style_of_dots(columns, doubts, habit)
    if doubts.given("decimal_comma"):
        return _asked_style(cells[0], doubts, commas_part=commas_part)
    if any(_any(pc.match_substring_regex(column, COMMA_IS_THOUSANDS)) for column in cells):
        return NumberStyle(".", "commas part thousands: a comma stands before a group of three digits that goes on")
    commas, dots = (_count(columns.values(), pattern) for pattern in (COMMA_IS_DECIMAL, DOT_IS_DECIMAL))
    # Both in one file is a mistake somewhere; the rarer writing is then named as no number.
    if commas > dots:
        return NumberStyle(",", "commas are decimal: one stands where no thousands mark could")
    if dots:
        return NumberStyle(".", "commas part thousands: dots are the decimals")
    return _asked_style(cells[0], doubts, commas_part=commas_part)


def _style_of_dots(columns: Mapping[str, Column], doubts: Doubts, habit: DotHabit | None) -> NumberStyle:
    """Take dots for decimal where one stands where no thousands mark could, or nothing speaks against it; else ask."""
    dotted = [column.filter(pc.match_substring(column, ".")) for column in columns.values()]
    count = sum(map(len, dotted))
    is_open = count > 0 and count == _count(dotted, DOT_MAY_PART) and not _count(dotted, DOT_IS_DECIMAL)
    if habit is None or not is_open:
        return NumberStyle(".", "no cell has a comma")
    if habit.sure and not doubts.given("decimal_dot"):
        return NumberStyle(",", habit.reason)
    example = next(column for column in dotted if len(column))[0].as_py().strip()
    # 145.123 is rather yen than thousands of something, and who parts thousands does so everywhere.
    is_decimal = count == _count(dotted, THREE_BEFORE) or _count(columns.values(), UNPARTED) > 0
    choices = [
        Choice("thousands", f"{example} is {example.replace('.', '')}", likely=not is_decimal),
        Choice(
            "decimal", f"{example} is {example.replace('.', ',')} as written with a decimal comma", likely=is_decimal
        ),
    ]
    reason = f"Every number with a dot has three digits after it, so both readings fit, and {habit.reason}."
    answer = doubts.ask("decimal_dot", f"What does {example} mean in this file?", choices, reason)
    return NumberStyle("," if answer == "thousands" else ".", "as answered")


def _refuse_thirty_seconds(columns: Mapping[str, Column]) -> None:
    """Refuse bonds' prices, where 110'165 is 110 and 16.5 thirty-seconds; with thousands marks some would not fit."""
    prices = {name: columns[name] for name in PRICES if name in columns}
    if prices and all(pc.all(pc.match_substring_regex(cells, THIRTY_SECONDS)).as_py() for cells in prices.values()):
        name, cells = next(iter(prices.items()))
        raise CellProblem(Cell(0, name, cells[0].as_py()), "is a price in thirty-seconds; export prices as decimals")


def _asked_style(column: Column, doubts: Doubts, *, commas_part: bool) -> NumberStyle:
    example = column.filter(pc.match_substring(column, ","))[0].as_py().strip()
    whole, part = example.replace(",", ""), example.replace(",", ".")
    choices = [
        Choice("thousands", f"{example} is {whole}", likely=commas_part),
        Choice("decimal", f"{example} is {part}", likely=not commas_part),
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
    marks = rf"[{mark}'’ \x{{a0}}\x{{2007}}\x{{2009}}\x{{202f}}]"
    # Groups of two stand for Indian numbers such as 12,34,567.
    formed = rf"^[+-]?\d{{1,3}}(?:{marks}\d{{2,3}})*{marks}\d{{3}}(?:[{decimal}]\d*)?(?:e\d+)?$"
    grouped = pc.match_substring_regex(cells, formed)
    if not _any(grouped):
        return cells
    ungrouped: Column = pc.if_else(grouped, pc.replace_substring_regex(cells, marks, ""), cells)
    return ungrouped


def _floats(column: Column) -> Floats:
    return np.array(column.to_numpy(zero_copy_only=False), dtype=np.float64)
