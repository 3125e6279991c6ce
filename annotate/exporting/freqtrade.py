"""freqtrade: candles as feather with exactly its six columns, and the labels in a sidecar to merge on `date`. Pure.

Its loader names columns by position, so a seventh one stops it; it has no import of labels of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from annotate.annotations.classes import CandleTimes, gives_class
from annotate.annotations.geometry import CLASS_KINDS
from annotate.exporting.arrow import Column
from annotate.exporting.candle_table import LAYER_PREFIX, PRICES, TIME, CandleTable
from annotate.exporting.losses import all_kinds_but, colours, count_marks, details, overlaps
from annotate.exporting.member import Drain, Member, Source, row_blocks
from nn.dataset_dir import DatasetDir

LZ4 = pa.ipc.IpcWriteOptions(compression="lz4")


def members(source: Source) -> list[Member]:
    """Give `<PAIR>-<timeframe>.feather` and `<PAIR>-<timeframe>.labels.feather`."""
    dataset = source.dataset
    table = CandleTable(dataset.candles, dataset.annotations, dataset.manifest)
    name, parts = _file(dataset), len(row_blocks(len(table)))
    return [
        Member(f"{name}.feather", _candles(table), parts + 1, packed=True),
        Member(f"{name}.labels.feather", _labels(table, dataset), parts + 1, packed=True),
    ]


def lost(source: Source) -> list[str]:
    """Name what the two files have no place for."""
    dataset = source.dataset
    nulls = int(np.count_nonzero(np.isnan(dataset.candles.volume)))
    return [
        *all_kinds_but(dataset, *CLASS_KINDS),
        *count_marks(dataset, "comments", lambda mark: bool(mark["comment"])),
        *overlaps(dataset),
        *colours(dataset),
        *([f"{nulls} null volumes: they become NaN"] if nulls else []),
        *details(dataset)[-1:],
    ]


def _candles(table: CandleTable) -> Iterator[bytes]:
    schema = pa.schema({"date": TIME} | dict.fromkeys(PRICES, pa.float64()))
    blocks = (table.candles.slice(start, end) for start, end in row_blocks(len(table)))
    columns = ([_dates(c.time), *(pa.array(getattr(c, name)) for name in PRICES)] for c in blocks)
    yield from _feather(schema, (pa.table(each, schema=schema) for each in columns))


def _labels(table: CandleTable, dataset: DatasetDir) -> Iterator[bytes]:
    """Write `date, label, confidence`, label and confidence of the first layer; further layers as `label__<layer>`."""
    first, *others = table.layers or {"default": []}
    confidence = _confidences(dataset, table.layers.get(first, []))
    columns: dict[str, pa.DataType] = {"date": TIME, "label": pa.string(), "confidence": pa.float64()}
    schema = pa.schema(columns | {LAYER_PREFIX + layer: pa.string() for layer in others})
    yield from _feather(schema, (_label_block(table, confidence, schema, *at) for at in row_blocks(len(table))))


def _label_block(
    table: CandleTable, confidence: npt.NDArray[np.float64], schema: pa.Schema, start: int, end: int
) -> pa.Table:
    classes = [table.names(layer, names, start, end) for layer, names in table.layers.items()]
    sure = pa.array(confidence[start:end], mask=np.isnan(confidence[start:end]))
    return pa.table([_dates(table.candles.time[start:end]), classes[0], sure, *classes[1:]], schema=schema)


def _confidences(dataset: DatasetDir, names: Sequence[str]) -> npt.NDArray[np.float64]:
    """Give each candle the confidence of the span that gives its class, NaN without one."""
    rows = CandleTimes(dataset.candles.time, dataset.manifest["timeframe"])
    found = np.full(len(dataset.candles), np.nan)
    spans = [mark for mark in dataset.annotations if gives_class(mark) and mark["label"] in names]
    for span in sorted(spans, key=_updated):
        found[rows.touched(span)] = np.nan if span["confidence"] is None else span["confidence"]
    return found


def _feather(schema: pa.Schema, tables: Iterator[pa.Table]) -> Iterator[bytes]:
    sink = Drain()
    with pa.ipc.new_file(pa.PythonFile(sink, mode="w"), schema, options=LZ4) as writer:
        for table in tables:
            writer.write_table(table)
            yield sink.take()
    yield sink.take()


def _dates(time: npt.NDArray[np.int64]) -> Column:
    return pa.array(time).cast(TIME)


def _file(dataset: DatasetDir) -> str:
    """Name the pair as freqtrade does: `ETH_USDT-1h`, months as `1M`."""
    pair = re.sub(r"[^A-Za-z0-9]+", "_", dataset.manifest["symbol"]).strip("_") or "PAIR"
    return f"{pair}-{dataset.manifest['timeframe'].replace('mo', 'M')}"


def _updated(mark: Mapping[str, Any]) -> int:
    return int(mark["updated"])
