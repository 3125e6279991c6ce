"""Whether dots may part thousands in a text: by what parts its cells and by what else stands in them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from annotate.importing.columns import Roles
from annotate.importing.dialect import Dialect
from annotate.importing.header_names import NUMBERS

# A dot where no thousands mark could stand, and one where it could.
DOT_IS_DECIMAL = r"\.(\d{1,2}|\d{4,})\D*$|\.\d+\s*[kKmMbBtT]|^\D*0\.\d|\d{4}\."
DOT_MAY_PART = r"^\D*\d{1,3}(\.\d{3})+\D*$"
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d{1,3}(\.\d{3})*,(\d{1,2}|\d{4,})\s*[%KMB]?\s*")
DOTTED_DATE = re.compile(r"\s*\d{1,2}\.\d{1,2}\.(\d{4}|\d{2})(\s|$)")


@dataclass(frozen=True, slots=True)
class DotHabit:
    """Why dots may part thousands in a file; `sure` where it proves that commas are its decimals."""

    reason: str
    sure: bool = False


def dot_habit(dialect: Dialect, roles: Roles, *, quoted: bool) -> DotHabit | None:
    """Tell by the first rows whether dots may part thousands; None where a number shows that they are decimal.

    A comma between cells speaks against it, unless they are `quoted`.
    """
    numbers = [roles.index[role] for role in NUMBERS if role in roles.index]
    if dots_are_decimal(row[at] for row in dialect.rows for at in numbers if at < len(row)):
        return None
    if dialect.delimiter == "," and not quoted:
        return None
    if example := next((cell for row in dialect.rows for cell in row if DECIMAL_COMMA.fullmatch(cell)), None):
        return DotHabit(f"dots part thousands: commas are the decimals of {example.strip()!r}", sure=True)
    if writes_decimal_commas(dialect):
        return DotHabit("semicolons between cells or dots in dates are the habit of countries with decimal commas")
    return None


def writes_decimal_commas(dialect: Dialect) -> bool:
    """Tell whether a file has habits of countries that write decimal commas."""
    return dialect.delimiter == ";" or any(DOTTED_DATE.match(cell) for row in dialect.rows for cell in row)


def dots_are_decimal(cells: Iterable[str]) -> bool:
    """Tell whether one of the cells has a dot where no thousands mark could stand."""
    return any(re.search(DOT_IS_DECIMAL, cell) for cell in cells)


def dots_may_part(cells: list[str]) -> bool:
    """Tell whether all numbers with a dot fit thousands, some at all."""
    dotted = [cell for cell in cells if "." in cell]
    return bool(dotted) and all(re.search(DOT_MAY_PART, cell) for cell in dotted) and not dots_are_decimal(dotted)
