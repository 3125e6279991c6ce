"""QuantConnect LEAN files: times since midnight of the date in the name, prices in ten-thousandths."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa

from annotate.errors import InvalidInput
from annotate.importing.arrow import ints_of, pc
from annotate.importing.dialect import Dialect
from annotate.importing.headerless import Shape
from annotate.importing.layouts import NEW_YORK, Layout
from annotate.importing.table import Table

DATED = re.compile(
    r"^(\d{8})_(?:\w+?_)?(?:(?:minute|second|tick|hour|daily)_)?(trade|quote|openinterest)\.csv$", re.IGNORECASE
)
DAY = 86_400_000
SCALE = 10_000
LEAN = "QuantConnect LEAN"
LEAN_SHAPE = Shape(time=0, clock=None, first_number=1)


def lean_layout(dialect: Dialect, filename: str) -> Layout | None:
    """Know a LEAN file by its name, or by a row of `yyyymmdd hh:mm` and whole numbers; None for any other."""
    first = [cell.strip() for cell in dialect.rows[0]]
    if match := DATED.match(filename):
        if match[2].lower() != "trade" or len(first) > 6:
            kind = "open interest" if match[2].lower() == "openinterest" else "bid and ask quotes"
            raise InvalidInput(
                f"{filename} holds QuantConnect LEAN {kind}; take its trade file", file=filename, kind=kind
            )
        return Layout(LEAN, NEW_YORK, scale=_scale(dialect))
    if re.fullmatch(r"\d{8} \d{2}:\d{2}", first[0]) and dialect.delimiter == "," and _scale(dialect) == SCALE:
        return Layout(LEAN, NEW_YORK, scale=SCALE)
    return None


def _scale(dialect: Dialect) -> int:
    """Equities are whole numbers of ten-thousandths; currencies have their decimals and are as they are."""
    cells = [cell for row in dialect.rows for cell in row[1:5]]
    return SCALE if all(re.fullmatch(r"\s*\d+\s*", cell) for cell in cells) else 1


def with_dates(table: Table, filename: str) -> Table:
    """Add the date of the file's name to times that count ms since midnight."""
    match = DATED.match(filename)
    if match is None or not pc.all(pc.ascii_is_decimal(table.columns["time"])).as_py():
        return table
    text = match[1]
    midnight = np.datetime64(f"{text[:4]}-{text[4:6]}-{text[6:]}", "ms")
    since = ints_of(pc.cast(table.columns["time"], pa.int64()))
    if np.any(since >= DAY):
        raise InvalidInput(
            f"{filename}: times are to count ms since midnight, and one is beyond the day", file=filename
        )
    times = pa.chunked_array([pa.array(midnight + since.astype("timedelta64[ms]"))])
    return replace(table, columns={**table.columns, "time": times}, careful=None)
