"""`candles.csv`: one row a candle, one column a label layer with its class. Pure; written in blocks of rows.

Arrow writes the numbers: the shortest decimals that read back to the same float64.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from annotate.exporting.arrow import Column, pc
from annotate.exporting.candle_table import LAYER_PREFIX, PRICES, CandleTable
from annotate.exporting.csv_text import escape, quoted, row
from annotate.exporting.member import row_blocks

HEAD = ("time", "time_ms", *PRICES)


def write_candles_csv(table: CandleTable) -> Iterator[bytes]:
    """Give the file block by block: `time, time_ms, open … volume, label__<layer> …, reviewed`."""
    yield row([*HEAD, *(escape(LAYER_PREFIX + name) for name in table.layers), "reviewed"]).encode()
    cells = {layer: [quoted(escape(name)) for name in names] for layer, names in table.layers.items()}
    for start, end in row_blocks(len(table)):
        block = table.block(start, end)
        classes = [table.names(layer, names, start, end) for layer, names in cells.items()]
        plain = {name: block[name].combine_chunks() for name in (*HEAD, "reviewed")}
        head = [iso_column(plain["time"]), *(plain[name] for name in HEAD[1:])]
        yield csv_lines([*head, *classes, plain["reviewed"]])


def csv_lines(columns: list[Column]) -> bytes:
    """Join columns (n,) to n lines, LF at the end of each; texts are quoted already, null is an empty cell."""
    if not len(columns[0]):
        return b""
    texts = [pc.fill_null(column.cast(pa.string()), "") for column in columns]
    lines = pc.binary_join_element_wise(*texts, ",")
    whole = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    return bytes(pc.binary_join(whole, "\n")[0].as_buffer()) + b"\n"


def iso_column(times: Column) -> Column:
    """Write timestamps (n,) as `iso` writes one."""
    texts = pc.replace_substring(times.cast(pa.string()), " ", "T")
    short: Column = pc.replace_substring(texts, ".000Z", "Z")
    return short
