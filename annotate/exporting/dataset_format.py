"""The dataset directory with its tables: what this product reads back whole. Pure.

manifest.json, candles.arrow and annotations.jsonl are the dataset; labels.csv, candles.csv and candles.parquet say the
same for others to read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotate.exporting.candle_table import CandleTable
from annotate.exporting.candles_csv import write_candles_csv
from annotate.exporting.labels_csv import write_labels
from annotate.exporting.member import Member, Source, row_blocks

STORED = ("manifest.json", "candles.arrow", "annotations.jsonl")
CHUNK_BYTES = 1 << 20


def members(source: Source) -> list[Member]:
    """Give the six files."""
    dataset = source.dataset
    table = CandleTable(dataset.candles, dataset.annotations, dataset.manifest)
    parts = len(row_blocks(len(table)))
    return [
        *(Member(name, _chunks(source.folder / name)) for name in STORED),
        Member("labels.csv", _labels(source)),
        Member("candles.csv", write_candles_csv(table), parts),
        Member("candles.parquet", table.parquet(dataset.manifest), parts, packed=True),
    ]


def lost(_source: Source) -> list[str]:
    """Nothing is lost: it comes back byte for byte."""
    return []


def _labels(source: Source) -> Iterator[bytes]:
    yield write_labels(source.dataset.annotations, source.dataset.manifest).encode("utf-8")


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(CHUNK_BYTES):
            yield block
