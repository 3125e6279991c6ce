"""Windows of model inputs for NumPy and PyTorch: `.npz` and safetensors, with the names of the features. Pure.

A window ends with the candle that it answers for. For each part of the split: `<part>_x` (m, T, F) float32,
`<part>_time` (m,) open times of the last candles, `<part>_label_<n>` (m,) the class in layer n (−1 none),
`<part>_entry` (m,) 1 where a long trade is entered at that candle, −1 a short one, 0 none. Marks that the leak gate
purged give neither.
"""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from annotate.annotations.geometry import CLASS_KINDS
from annotate.errors import InvalidInput
from annotate.exporting.candle_table import CandleTable
from annotate.exporting.leak_gate import entry_rows, refuse_look_ahead
from annotate.exporting.losses import all_kinds_but, colours, count_marks, details, overlaps
from annotate.exporting.member import Drain, Member, Source
from nn.dataset_dir import Candles, DatasetDir
from nn.features import FEATURES, FeatureState, compute
from nn.split import segment_ids

Json = dict[str, Any]
Rows = npt.NDArray[np.int64]

MOST_BYTES = 4 << 30
BLOCK_WINDOWS = 500
COMPUTED_ROWS = 50_000  # candles whose features are computed at once
SIDES = {"long": 1, "short": -1}
DTYPES = {"<f4": "F32", "<i8": "I64", "|i1": "I8"}  # NumPy's names and those of safetensors


@dataclass(frozen=True, slots=True)
class Array:
    """One array of the file, in blocks along its first axis."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    blocks: Callable[[], Iterator[npt.NDArray[Any]]]


def npz_members(source: Source) -> list[Member]:
    """Give windows.npz; `features`, `layers` and `classes_<n>` in it are the names."""
    arrays, names = _arrays(source)
    return [Member("windows.npz", _npz([*arrays, *map(_texts, names, names.values())]), _parts(arrays), packed=True)]


def safetensors_members(source: Source) -> list[Member]:
    """Give windows.safetensors; the names stand in its metadata, as JSON."""
    arrays, names = _arrays(source)
    return [Member("windows.safetensors", _safetensors(arrays, names), _parts(arrays), packed=True)]


def lost(source: Source) -> list[str]:
    """Name what windows have no place for."""
    dataset = source.dataset
    return [
        *all_kinds_but(dataset, *CLASS_KINDS, "trade"),
        *count_marks(dataset, "trades keep their entry and side only", lambda mark: bool(mark["kind"] == "trade")),
        "prices: the features are relative",
        *overlaps(dataset),
        *colours(dataset),
        *details(dataset),
    ]


def _arrays(source: Source) -> tuple[list[Array], Mapping[str, list[str]]]:
    """Lay out the arrays and their names; raises InvalidInput where they would be too large, Leak from the gate."""
    dataset, length = source.dataset, source.sequence_length
    purged = {mark_id for ids in dataset.manifest["gate"]["purged"].values() for mark_id in ids}
    taught = [mark for mark in dataset.annotations if mark["id"] not in purged]
    table, entries = CandleTable(dataset.candles, taught, dataset.manifest), _entries(dataset, taught)
    answers = {name: _answers(source, *part["rows"]) for name, part in dataset.manifest["parts"].items() if part}
    _check_size(source, sum(map(len, answers.values())))
    rows = _features(dataset.candles)
    arrays: list[Array] = []
    for name, at in answers.items():
        refuse_look_ahead(at, at, taught, dataset.candles.time, dataset.manifest["timeframe"])
        arrays.append(_windows(f"{name}_x", rows, at, length))
        columns: dict[str, npt.NDArray[Any]] = {"time": dataset.candles.time[at], "entry": entries[at]}
        columns |= {f"label_{n}": of[at].astype(np.int64) for n, of in enumerate(table.classes.values())}
        arrays += [_column(f"{name}_{column}", values) for column, values in columns.items()]
    classes = {f"classes_{n}": list(names) for n, names in enumerate(table.layers.values())}
    return arrays, {"features": list(FEATURES), "layers": list(table.layers), **classes}


def _answers(source: Source, first: int, last: int) -> Rows:
    """Give every `stride`-th row of a part that a whole window without a gap ends with."""
    dataset = source.dataset
    segment = segment_ids(dataset.candles.time, int(dataset.manifest["timeframe_ms"]))
    rows: Rows = np.arange(max(first, source.sequence_length - 1), last, source.stride, dtype=np.int64)
    whole: Rows = rows[segment[rows - source.sequence_length + 1] == segment[rows]]
    return whole


def _check_size(source: Source, windows: int) -> None:
    size = windows * source.sequence_length * len(FEATURES) * 4
    if size > MOST_BYTES:
        raise InvalidInput(
            f"stride = {source.stride}: {windows:,} windows of {source.sequence_length} candles are {size / 2**30:.1f} "
            f"GiB, more than {MOST_BYTES >> 30}; raise the stride or shorten the windows",
            field="stride",
        )


def _features(candles: Candles) -> npt.NDArray[np.float32]:
    rows = np.empty((len(candles), len(FEATURES)), np.float32)
    state: FeatureState | None = None
    for start in range(0, len(candles), COMPUTED_ROWS):
        block = candles.slice(start, min(start + COMPUTED_ROWS, len(candles)))
        computed = compute(block, state)
        rows[start : start + len(block)], state = computed.rows, computed.state
    return rows


def _entries(dataset: DatasetDir, taught: list[Json]) -> npt.NDArray[np.int8]:
    trades = sorted((mark for mark in taught if mark["kind"] == "trade"), key=lambda mark: int(mark["updated"]))
    entries = np.zeros(len(dataset.candles), np.int8)
    for row, trade in zip(entry_rows(dataset.candles.time, dataset.manifest["timeframe"], trades), trades, strict=True):
        if row >= 0:
            entries[row] = SIDES[trade["side"]]
    return entries


def _windows(name: str, rows: npt.NDArray[np.float32], ends: Rows, length: int) -> Array:
    def blocks() -> Iterator[npt.NDArray[np.float32]]:
        steps = np.arange(length)
        for start in range(0, len(ends), BLOCK_WINDOWS):
            first = ends[start : start + BLOCK_WINDOWS, None] - length + 1
            yield rows[first + steps]  # (m, T, F)

    return Array(name, np.dtype("<f4"), (len(ends), length, rows.shape[1]), blocks)


def _column(name: str, values: npt.NDArray[Any]) -> Array:
    return Array(name, values.dtype, values.shape, lambda: iter([values]))


def _texts(name: str, texts: list[str]) -> Array:
    return _column(name, np.array(texts, dtype=np.str_))


def _parts(arrays: list[Array]) -> int:
    return sum(max(1, -(-array.shape[0] // BLOCK_WINDOWS)) for array in arrays)


def _npz(arrays: list[Array]) -> Iterator[bytes]:
    sink = Drain()
    with zipfile.ZipFile(cast("Any", sink), "w") as archive:
        for array in arrays:
            entry = zipfile.ZipInfo(array.name + ".npy")
            with archive.open(entry, "w", force_zip64=True) as file:
                header = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
                np.lib.format.write_array_header_1_0(cast("Any", file), header)
                for block in array.blocks():
                    file.write(block.tobytes())
                    yield sink.take()
    yield sink.take()


def _safetensors(arrays: list[Array], names: Mapping[str, list[str]]) -> Iterator[bytes]:
    """Write the format's header (its length, then JSON), then the arrays end to end.

    By hand: the library wants every array in memory at once, and the web process stays free of it.
    """
    header: Json = {"__metadata__": {name: json.dumps(texts, ensure_ascii=False) for name, texts in names.items()}}
    offset = 0
    for array in sorted(arrays, key=_alignment):
        size = int(np.prod(array.shape)) * array.dtype.itemsize
        header[array.name] = {
            "dtype": DTYPES[array.dtype.str], "shape": array.shape, "data_offsets": [offset, offset + size],
        }  # fmt: skip
        offset += size
    text = json.dumps(header, ensure_ascii=False).encode("utf-8")
    text += b" " * (-len(text) % 8)
    yield struct.pack("<Q", len(text)) + text
    for array in sorted(arrays, key=_alignment):
        for block in array.blocks():
            yield block.tobytes()


def _alignment(array: Array) -> int:
    """Sort wide numbers first, so that each array begins at a multiple of its width."""
    return -array.dtype.itemsize
