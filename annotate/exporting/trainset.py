"""TRAINSET: one CSV a label layer, `series,timestamp,value,label`, one row a candle with its close. Pure.

A label has at most 16 characters out of letters, digits, `_` and `-`; other names are changed and said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from annotate.annotations.geometry import CLASS_KINDS
from annotate.exporting.archive import safe_name
from annotate.exporting.candle_table import TIME, CandleTable
from annotate.exporting.candles_csv import csv_lines, iso_column
from annotate.exporting.csv_text import row
from annotate.exporting.losses import all_kinds_but, colours, details, overlaps
from annotate.exporting.member import Member, Source, row_blocks

COLUMNS = ("series", "timestamp", "value", "label")
SERIES = "close"
MAX_LABEL = 16


def members(source: Source) -> list[Member]:
    """Give a file a layer."""
    dataset = source.dataset
    table = CandleTable(dataset.candles, dataset.annotations, dataset.manifest)
    return [
        Member(f"trainset-{place}-{safe_name(layer, 'layer')}.csv", _rows(table, layer), len(row_blocks(len(table))))
        for place, layer in enumerate(table.layers, 1)
    ]


def lost(source: Source) -> list[str]:
    """Name what the files have no place for."""
    dataset = source.dataset
    renamed = [
        f"the name {name!r}: it is written {short}"
        for names in dataset.manifest["layers"].values()
        for name, short in zip(names, short_names(names), strict=True)
        if name != short
    ]
    prices = ["open, high, low and volume of the candles"]
    return [
        *all_kinds_but(dataset, *CLASS_KINDS),
        *renamed,
        *overlaps(dataset),
        *prices,
        *colours(dataset),
        *details(dataset),
    ]


def short_names(names: Iterable[str]) -> list[str]:
    """Give each name a spelling that TRAINSET takes, no two alike.

    Examples
    --------
    >>> short_names(["Long", "=1+1", "A very long name 1", "A very long name 2", "验证"])
    ['Long', '1_1', 'A_very_long_name', 'A_very_long_na_2', 'label']
    """
    made: list[str] = []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9-]+", "_", name).strip("_")[:MAX_LABEL] or "label"
        short, number = plain, 2
        while short in made:
            tail = f"_{number}"
            short, number = plain[: MAX_LABEL - len(tail)] + tail, number + 1
        made.append(short)
    return made


def _rows(table: CandleTable, layer: str) -> Iterator[bytes]:
    yield row(COLUMNS).encode()
    names: Sequence[str] = short_names(table.layers[layer])
    for start, end in row_blocks(len(table)):
        candles = table.candles.slice(start, end)
        series = pa.array([SERIES] * len(candles), pa.string())
        times = iso_column(pa.array(candles.time).cast(TIME))
        yield csv_lines([series, times, pa.array(candles.close), table.names(layer, names, start, end)])
