"""`candles.csv`: one row a candle, one column a label layer with its class. Pure; written in blocks of rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from annotate.annotations.classes import CandleTimes
from annotate.exporting.csv_text import escape, quoted, row
from annotate.exporting.iso import iso_all
from nn.dataset_dir import COLUMNS, Candles

BLOCK_ROWS = 50_000
LAYER_PREFIX = "label__"
FLAGS = np.array(["false", "true"])


def write_candles_csv(
    candles: Candles, annotations: Sequence[Mapping[str, Any]], manifest: Mapping[str, Any]
) -> Iterator[str]:
    """Give the file block by block: `time, time_ms, open … volume, label__<layer> …, reviewed`.

    A candle's class in a layer is that of the span that covers it, the last updated one where several do, empty where
    none does. `reviewed` says that a mark of any kind touches the candle. Prices read back to the same float64.
    """
    rows = CandleTimes(candles.time, manifest["timeframe"])
    layers: Mapping[str, Sequence[str]] = manifest["layers"]
    classes = [_class_cells(rows.layer_classes(annotations, names).classes, names) for names in layers.values()]
    reviewed = FLAGS[(rows.covers(annotations) > 0).astype(np.int64)]
    yield row(["time", "time_ms", *COLUMNS[1:], *(LAYER_PREFIX + name for name in layers), "reviewed"])
    for start in range(0, len(candles), BLOCK_ROWS):
        end = min(start + BLOCK_ROWS, len(candles))
        block = [column[start:end].tolist() for column in (*classes, reviewed)]
        lines = map(",".join, zip(*_candle_cells(candles.slice(start, end)), *block, strict=True))
        yield "\n".join(lines) + "\n"


def _candle_cells(candles: Candles) -> list[list[str]]:
    prices = [[repr(value) for value in getattr(candles, name).tolist()] for name in COLUMNS[1:5]]
    volume = ["" if math.isnan(value) else repr(value) for value in candles.volume.tolist()]
    return [iso_all(candles.time), [str(time) for time in candles.time.tolist()], *prices, volume]


def _class_cells(classes: npt.NDArray[np.int32], names: Sequence[str]) -> npt.NDArray[np.object_]:
    # NO_CLASS is −1 and so picks the last cell, the empty one.
    cells = np.array([*(quoted(escape(name)) for name in names), ""], dtype=object)
    chosen: npt.NDArray[np.object_] = cells[classes]
    return chosen
