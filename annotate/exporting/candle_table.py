"""Candles as a table, one column a label layer, for candles.csv, candles.parquet and the Hugging Face folder. Pure.

A candle's class in a layer is that of the span that covers it, the last updated one where several do, null where none
does. `reviewed` says that a mark of any kind touches the candle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from annotate.annotations.classes import NO_CLASS, CandleTimes
from annotate.exporting.arrow import Column, pc
from annotate.exporting.member import Drain, row_blocks
from nn.dataset_dir import COLUMNS, Candles, canonical

Json = Mapping[str, Any]

LAYER_PREFIX = "label__"
TIME = pa.timestamp("ms", "UTC")
PRICES = COLUMNS[1:]


class CandleTable:
    """The candles of a dataset with their classes; made at once, given in blocks of rows."""

    def __init__(self, candles: Candles, annotations: Sequence[Json], manifest: Json) -> None:
        rows = CandleTimes(candles.time, manifest["timeframe"])
        self.candles = candles
        self.layers: Mapping[str, Sequence[str]] = manifest["layers"]
        self.classes: dict[str, npt.NDArray[np.int32]] = {
            layer: rows.layer_classes(annotations, names).classes for layer, names in self.layers.items()
        }
        self.reviewed: npt.NDArray[np.bool_] = rows.reviewed(annotations, manifest.get("reviewed_ranges", []))

    def __len__(self) -> int:
        return len(self.candles)

    @property
    def schema(self) -> pa.Schema:
        """Name the columns and their types."""
        fields: dict[str, pa.DataType] = {"time": TIME, "time_ms": pa.int64(), **dict.fromkeys(PRICES, pa.float64())}
        return pa.schema(
            fields | {LAYER_PREFIX + layer: pa.string() for layer in self.layers} | {"reviewed": pa.bool_()}
        )

    def block(self, start: int, end: int) -> pa.Table:
        """Give rows [start, end)."""
        candles = self.candles.slice(start, end)
        time = pa.array(candles.time)
        columns: list[Column] = [time.cast(TIME), time, *(pa.array(getattr(candles, name)) for name in PRICES[:-1])]
        columns.append(pa.array(candles.volume, mask=np.isnan(candles.volume)))
        columns += [self.names(layer, self.layers[layer], start, end) for layer in self.layers]
        columns.append(pa.array(self.reviewed[start:end]))
        return pa.table(columns, schema=self.schema)

    def names(self, layer: str, names: Sequence[str], start: int, end: int) -> Column:
        """Give for rows [start, end) the one of `names` that stands for the class in a layer, null without one."""
        classes = self.classes[layer][start:end]
        named: Column = pc.take(pa.array(names, pa.string()), pa.array(classes, mask=classes == NO_CLASS))
        return named

    def parquet(self, manifest: Json, first: int = 0, last: int | None = None) -> Iterator[bytes]:
        """Give rows [first, last) as a Parquet file, block by block; its metadata name the dataset and its classes."""
        end = len(self) if last is None else last
        about = {
            "hash": manifest["hash"],
            "layers": manifest["layers"],
            "timeframe": manifest["timeframe"],
            "zone": "UTC",
        }
        sink = Drain()
        schema = self.schema.with_metadata({"annotate": canonical(about)})
        with pq.ParquetWriter(pa.PythonFile(sink, mode="w"), schema, compression="zstd") as writer:
            for start, stop in row_blocks(end - first):
                block = self.block(first + start, first + stop)
                writer.write_table(block.replace_schema_metadata(schema.metadata))
                yield sink.take()
        yield sink.take()
