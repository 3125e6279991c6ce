"""A Hugging Face dataset folder: candles as Parquet, one file a split, and the marks as a config of their own. Pure.

The splits are the dataset's, purged and embargoed; a train candle that only a purged mark covers has no class.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from annotate.exporting.candle_table import CandleTable
from annotate.exporting.labels_csv import plain_rows
from annotate.exporting.losses import colours, overlaps
from annotate.exporting.member import Drain, Member, Source, row_blocks
from nn.dataset_dir import DatasetDir

Json = dict[str, Any]

MARKS = pa.schema(
    dict.fromkeys(("label_id", "kind", "class"), pa.string())
    | dict.fromkeys(("t_start_ms", "t_end_ms"), pa.int64())
    | dict.fromkeys(("price_start", "price_end"), pa.float64())
    | {"side": pa.string(), "stop": pa.float64(), "target": pa.float64(), "confidence": pa.float64()}
    | dict.fromkeys(("comment", "author", "source", "mode"), pa.string())
    | dict.fromkeys(("decided_at", "known_at", "created_at", "updated_at", "revision"), pa.int64())
    | {"status": pa.string(), "extend": pa.string(), "entry_decided_at": pa.int64(), "updated_by": pa.string()}
    | dict.fromkeys(("review", "review_by", "review_comment", "review_correction"), pa.string())
    | {"review_at": pa.int64()}
)
TYPES = {
    pa.string(): "string",
    pa.int64(): "int64",
    pa.float64(): "float64",
    pa.bool_(): "bool",
    pa.timestamp("ms", "UTC"): "timestamp[ms, tz=UTC]",
}


def members(source: Source) -> list[Member]:
    """Give README.md, a Parquet file a split that is not empty, and the marks."""
    dataset = source.dataset
    purged = {mark_id for ids in dataset.manifest["gate"]["purged"].values() for mark_id in ids}
    taught = [mark for mark in dataset.annotations if mark["id"] not in purged]
    table = CandleTable(dataset.candles, taught, dataset.manifest)
    parts = _parts(dataset)
    return [
        Member("README.md", [_readme(dataset, table, parts).encode("utf-8")]),
        *(
            Member(
                f"data/{name}-00000-of-00001.parquet",
                table.parquet(dataset.manifest, first, last),
                len(row_blocks(last - first)) + 1,
                packed=True,
            )
            for name, (first, last) in parts.items()
        ),
        Member("marks/train-00000-of-00001.parquet", _marks(dataset), packed=True),
    ]


def lost(source: Source) -> list[str]:
    """Name what the folder has no place for."""
    dataset = source.dataset
    kept = sum(last - first for first, last in _parts(dataset).values())
    between = len(dataset.candles) - kept
    said = [f"{between} candles between the splits: purge and embargo"] if between else []
    return [*said, *overlaps(dataset), *colours(dataset)]


def _parts(dataset: DatasetDir) -> dict[str, tuple[int, int]]:
    parts = dataset.manifest["parts"]
    return {name: (part["rows"][0], part["rows"][1]) for name, part in parts.items() if part}


def _marks(dataset: DatasetDir) -> Iterator[bytes]:
    sink = Drain()
    rows = [{name: mark[name] for name in MARKS.names} for mark in plain_rows(dataset.annotations)]
    with pq.ParquetWriter(pa.PythonFile(sink, mode="w"), MARKS, compression="zstd") as writer:
        writer.write_table(pa.Table.from_pylist(rows, schema=MARKS))
    yield sink.take()


def _readme(dataset: DatasetDir, table: CandleTable, parts: dict[str, tuple[int, int]]) -> str:
    """Write the card; its header is YAML, of which JSON is a part: names are quoted by JSON's rules."""
    files = [{"split": name, "path": f"data/{name}-*"} for name in parts]
    head = {
        "configs": [
            {"config_name": "default", "data_files": files},
            {"config_name": "marks", "data_files": [{"split": "train", "path": "marks/train-*"}]},
        ],
        "dataset_info": [
            {"config_name": "default", "features": _features(table.schema)},
            {"config_name": "marks", "features": _features(MARKS)},
        ],
    }
    lines = [f"{name}: {json.dumps(value, ensure_ascii=True)}" for name, value in head.items()]
    rows = "\n".join(f"| {name} | {last - first} |" for name, (first, last) in parts.items())
    series = f"{dataset.manifest['symbol']} {dataset.manifest['timeframe']}"
    gate = dataset.manifest["gate"]
    return "\n".join(
        [
            "---",
            *lines,
            "---",
            f"# {_plain(series)}",
            f"Candles with the classes of their annotations, split by time; {gate['purge']} candles before and "
            f"{gate['embargo']} after each border are left out.",
            "",
            "| split | candles |",
            "|---|---|",
            rows,
            "",
        ]
    )


def _features(schema: pa.Schema) -> list[Json]:
    return [{"name": field.name, "dtype": TYPES[field.type]} for field in schema]


def _plain(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum() or letter in " /-_.")
