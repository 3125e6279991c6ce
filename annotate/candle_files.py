"""One candle file: uncompressed Arrow IPC, named by its SHA-256, mapped and never changed."""

from __future__ import annotations

from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from annotate.candles import COLUMNS, Candles, Times
from annotate.errors import StorageFailed
from annotate.files import write_hashed

FIELDS: dict[str, pa.DataType] = {name: pa.int64() if name == "time" else pa.float64() for name in COLUMNS}
SCHEMA = pa.schema(FIELDS)
SUFFIX = ".arrow"


@dataclass(frozen=True, slots=True)
class MappedFile:
    """A candle file's pages in memory; nothing is read before a row is asked for."""

    time: Times
    prices: tuple[npt.NDArray[np.float64], ...]
    volume: pa.Array[Any]

    def between(self, start: int | None, end: int | None) -> Candles:
        """Give the candles whose open time is in [start, end): views of the pages where the volume has no null."""
        first, last = self._rows(start, end)
        opened, high, low, close = (price[first:last] for price in self.prices)
        volume = _values(self.volume.slice(first, last - first))
        return Candles(self.time[first:last], opened, high, low, close, volume)

    def count(self, start: int | None, end: int | None) -> int:
        """Count the candles whose open time is in [start, end)."""
        first, last = self._rows(start, end)
        return last - first

    def _rows(self, start: int | None, end: int | None) -> tuple[int, int]:
        first = 0 if start is None else int(self.time.searchsorted(start))
        last = len(self.time) if end is None else int(self.time.searchsorted(end))
        return first, max(first, last)


def write_candles(folder: Path, candles: Candles) -> tuple[Path, bool]:
    """Write candles to a file of the folder; give its path, and whether it is new. Raise StorageFailed."""
    arrays = [pa.array(getattr(candles, name)) for name in COLUMNS[:-1]]
    volume = pa.array(candles.volume, mask=np.isnan(candles.volume))
    batch = pa.record_batch([*arrays, volume], schema=SCHEMA)

    def write(file: BufferedIOBase) -> None:
        with pa.ipc.new_file(file, SCHEMA) as writer:
            writer.write_batch(batch)

    return write_hashed(folder, SUFFIX, write)


def map_candles(path: Path) -> MappedFile:
    """Map a candle file; raise FileNotFoundError, or StorageFailed for a file that is damaged."""
    try:
        with pa.memory_map(str(path)) as source:
            batch = pa.ipc.open_file(source).get_batch(0)
    except pa.ArrowInvalid as error:
        raise StorageFailed(
            f"the candle file {path.name} is damaged; restore it from a backup", file=path.name
        ) from error
    time, *prices = (_values(batch.column(name)) for name in COLUMNS[:-1])
    return MappedFile(time, tuple(prices), batch.column("volume"))


def _values(column: pa.Array[Any]) -> npt.NDArray[Any]:
    return column.to_numpy(zero_copy_only=not column.null_count)
