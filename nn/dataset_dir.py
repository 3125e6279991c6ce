"""The dataset directory: `manifest.json` + `candles.arrow` + `annotations.jsonl`. No torch.

Export writes it and training reads it, so a run can be repeated from the shell a year later.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Json = dict[str, Any]
Floats = npt.NDArray[np.float64]
Times = npt.NDArray[np.int64]

FORMAT = 1
COLUMNS = ("time", "open", "high", "low", "close", "volume")
TYPES: dict[str, pa.DataType] = {"time": pa.int64()} | dict.fromkeys(COLUMNS[1:], pa.float64())
SCHEMA = pa.schema(TYPES)


class DatasetError(ValueError):
    """A directory that is no dataset; names the file and what is wrong."""


@dataclass(frozen=True, slots=True)
class Candles:
    """Closed candles in order of time, as columns (n,): `time` int64 ms UTC, the rest float64; a null volume is NaN."""

    time: Times
    open: Floats
    high: Floats
    low: Floats
    close: Floats
    volume: Floats

    def __len__(self) -> int:
        return len(self.time)

    def slice(self, start: int, end: int) -> Candles:
        """Give rows [start, end) as views."""
        return Candles(*(getattr(self, name)[start:end] for name in COLUMNS))


@dataclass(frozen=True, slots=True)
class DatasetDir:
    """A dataset read into memory; the candle columns are memory-mapped."""

    manifest: Json  # {format, symbol, timeframe, timeframe_ms, simulated, labels: [names], split, …}
    candles: Candles
    annotations: list[Json]  # as in the API, plus id, author, source, mode, decided_at, known_at


def read(path: Path) -> DatasetDir:
    """Read a dataset directory; raise DatasetError naming the file that is missing or wrong."""
    try:
        manifest = json.loads((path / "manifest.json").read_text("utf-8"))
        lines = (path / "annotations.jsonl").read_text("utf-8").split("\n")
        candles = read_candles(path / "candles.arrow")
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path}: not a dataset directory: {error}") from error
    if manifest.get("format") != FORMAT:
        raise DatasetError(f"{path / 'manifest.json'}: format {manifest.get('format')!r}; this version reads {FORMAT}")
    return DatasetDir(manifest, candles, [json.loads(line) for line in lines if line])


def verify(path: Path) -> None:
    """Raise DatasetError where a file is not the one whose SHA-256 the manifest names; what it does not name passes."""
    manifest = json.loads((path / "manifest.json").read_text("utf-8"))
    for name, part in (("candles.arrow", "candles"), ("annotations.jsonl", "annotations")):
        named = (manifest.get(part) or {}).get("sha256")
        with (path / name).open("rb") as file:
            if named is not None and hashlib.file_digest(file, "sha256").hexdigest() != named:
                raise DatasetError(
                    f"{path / name} is not the file that manifest.json names, so this is not that dataset; unpack the "
                    f"export again, or take {part}.sha256 out of manifest.json to train on what is there"
                )


def read_candles(path: Path) -> Candles:
    """Map an Arrow candle file; the prices are views of the file's pages."""
    with pa.memory_map(str(path)) as source:
        table = pa.ipc.open_file(source).read_all().combine_chunks()
    if not table.schema.equals(SCHEMA):
        columns = ", ".join(f"{of.name}: {of.type}" for of in table.schema)
        wanted = ", ".join(f"{name}: {of}" for name, of in TYPES.items())
        raise DatasetError(f"{path}: columns {columns}; a candle file has {wanted}")
    return Candles(*(_column(table, name) for name in COLUMNS))


def write(path: Path, manifest: Mapping[str, Any], candles: Candles, annotations: Iterable[Mapping[str, Any]]) -> None:
    """Write the three files, each whole before it gets its name; the manifest comes last."""
    path.mkdir(parents=True, exist_ok=True)
    write_candles(path / "candles.arrow", candles)
    write_around_candles(path, manifest, jsonl(annotations))


def write_around_candles(path: Path, manifest: Mapping[str, Any], lines: bytes) -> None:
    """Write the other two files of a directory that has its candles; `lines` are what `jsonl` gave."""
    write_whole(path / "annotations.jsonl", lines)
    text = json.dumps({"format": FORMAT, **manifest}, indent=1, sort_keys=True) + "\n"
    write_whole(path / "manifest.json", text.encode())


def jsonl(annotations: Iterable[Mapping[str, Any]]) -> bytes:
    """Give the bytes of annotations.jsonl: one canonical line a mark, in the order given."""
    return "".join(canonical(mark) + "\n" for mark in annotations).encode("utf-8")


def write_candles(path: Path, candles: Candles) -> str:
    """Write a candle file; give its SHA-256."""
    content = candle_bytes(candles)
    write_whole(path, content)
    return hashlib.sha256(content).hexdigest()


def candle_bytes(candles: Candles) -> pa.Buffer:
    """Give the bytes of a candle file: uncompressed Arrow IPC with null for a NaN volume."""
    arrays = [pa.array(getattr(candles, name)) for name in COLUMNS[:-1]]
    volume = pa.array(candles.volume, mask=np.isnan(candles.volume))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, SCHEMA) as writer:
        writer.write_table(pa.table([*arrays, volume], schema=SCHEMA))
    return sink.getvalue()


def write_whole(path: Path, content: bytes | pa.Buffer) -> None:
    """Write a file so that it is whole or absent: temporary name, flush, fsync, rename, directory fsync."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last: a rename is on the disk only then."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def canonical(mark: Mapping[str, Any]) -> str:
    """One line of JSON with sorted keys and no spaces, so that equal marks are equal bytes."""
    return json.dumps(mark, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _column(table: pa.Table, name: str) -> npt.NDArray[Any]:
    column = table.column(name)
    if not table.num_rows:
        return np.empty(0, np.int64 if name == "time" else np.float64)
    chunk: Any = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    # `to_numpy` would load pandas, which a run in a terminal has no use for.
    return np.from_dlpack(chunk.fill_null(np.nan) if chunk.null_count else chunk)
