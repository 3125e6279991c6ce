"""Formats that other tools load as tables: Hugging Face, freqtrade, TRAINSET, Parquet; read as those do."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from annotate.exporting.trainset import short_names
from nn.dataset_dir import COLUMNS
from tests.annotate.annotations.builders import HOUR, START, point, span, trade
from tests.annotate.exporting.builders import dataset_of, exported, hours, labels_of, lost

ODD = ['"quoted", comma', "=1+1", "验证🚀", "line\nbreak"]
LOAD = """
import datasets, json, sys
default = datasets.load_dataset(sys.argv[1])
marks = datasets.load_dataset(sys.argv[1], "marks")
rows = {name: split.num_rows for name, split in default.items()}
print(json.dumps({"rows": rows, "train": default["train"][12], "names": default["train"].column_names,
                  "marks": marks["train"].to_list()}, default=str))
"""


def test_the_folder_loads_with_load_dataset_and_has_the_rows_of_the_manifest(tmp_path: Path) -> None:
    dataset = dataset_of([span(10, 20, ODD[0]), trade(30, 40, ODD[1], comment="=1")], labels=labels_of(ODD))
    for name, content in exported(dataset, "hugging_face").items():
        (tmp_path / "folder" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / name).write_bytes(content)
    quiet = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home"), "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(tmp_path / "folder")],
        env={**os.environ, **quiet},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout)
    assert loaded["rows"] == {name: part["candles"] for name, part in dataset.manifest["parts"].items()}
    assert loaded["names"] == ["time", "time_ms", *COLUMNS[1:], "label__default", "reviewed"]
    assert loaded["train"]["label__default"] == ODD[0]
    assert loaded["train"]["time"] == "2024-01-01 12:00:00+00:00"
    assert [mark["class"] for mark in loaded["marks"]] == ODD[:2]
    assert loaded["marks"][1]["side"] == "long"


def test_a_mark_that_reaches_into_validation_teaches_no_candle_of_train() -> None:
    files = exported(dataset_of([span(10, 20), span(60, 75)]), "hugging_face")
    train = pq.read_table(io.BytesIO(files["data/train-00000-of-00001.parquet"])).to_pylist()
    assert [row["time_ms"] for row in train if row["label__default"]] == [START + n * HOUR for n in range(10, 20)]
    marks = pq.read_table(io.BytesIO(files["marks/train-00000-of-00001.parquet"]))
    assert marks.num_rows == 2


def test_an_empty_split_has_no_file() -> None:
    names = set(exported(dataset_of([], hours(8)), "hugging_face"))
    assert names == {
        "README.md",
        "manifest.json",
        "data/train-00000-of-00001.parquet",
        "marks/train-00000-of-00001.parquet",
    }


def test_the_feather_has_exactly_the_six_columns_of_freqtrade_and_its_times() -> None:
    files = exported(dataset_of([span(10, 20, confidence=0.75), point()]), "freqtrade")
    frame = pd.read_feather(io.BytesIO(files["ETH_USDT-1h.feather"]))
    assert list(frame.columns) == ["date", "open", "high", "low", "close", "volume"]
    assert str(frame["date"].dt.tz) == "UTC"
    assert frame["date"].dt.as_unit("ms").astype("int64").tolist() == hours().time.tolist()
    assert frame["close"].to_numpy().tobytes() == hours().close.tobytes()
    labels = pd.read_feather(io.BytesIO(files["ETH_USDT-1h.labels.feather"]))
    assert list(labels.columns) == ["date", "label", "confidence"]
    merged = frame.merge(labels, on="date")
    assert merged["label"].notna().sum() == 10
    assert set(merged.loc[10:19, "confidence"]) == {0.75}
    assert "1 marks of kind point" in lost(files)


def test_a_month_is_written_as_freqtrade_writes_it() -> None:
    assert "BTC_USDT-1M.feather" in exported(dataset_of([], timeframe="1mo", symbol="BTC/USDT"), "freqtrade")


def test_trainset_has_a_file_a_layer_with_labels_it_takes() -> None:
    labels = labels_of(["=Long one with a name", "Short"], "trend") + labels_of(["Wide"], "more/layers")
    files = exported(
        dataset_of([span(10, 20, "=Long one with a name"), span(15, 30, "Wide")], labels=labels), "trainset"
    )
    first, second = (
        list(csv.reader(io.StringIO(files[name].decode())))
        for name in ("trainset-1-trend.csv", "trainset-2-more-layers.csv")
    )
    assert first[0] == ["series", "timestamp", "value", "label"]
    assert first[11] == ["close", "2024-01-01T10:00:00Z", "110.1", "Long_one_with_a_"]
    assert [row[3] for row in second[1:]].count("Wide") == 15
    assert "the name '=Long one with a name': it is written Long_one_with_a_" in lost(files)


def test_no_two_short_names_are_alike() -> None:
    names = [f"a name that is too long {n}" for n in range(30)] + ODD
    short = short_names(names)
    assert len(set(short)) == len(names)
    assert all(
        len(each) <= 16 and each.isascii() and each.replace("_", "").replace("-", "").isalnum() for each in short
    )


def test_parquet_holds_typed_times_classes_and_what_it_is_of() -> None:
    dataset = dataset_of([span(10, 20, ODD[3])], labels=labels_of(ODD))
    table = pq.read_table(io.BytesIO(exported(dataset, "dataset")["candles.parquet"]))
    assert table.schema.field("time").type == pa.timestamp("ms", "UTC")
    assert table.schema.field("reviewed").type == pa.bool_()
    assert table["label__default"].to_pylist()[10] == ODD[3]
    assert table["volume"].null_count == 1
    assert np.array_equal(table["close"].to_numpy(), dataset.candles.close)
    about = json.loads((table.schema.metadata or {})[b"annotate"])
    assert about == {"hash": dataset.manifest["hash"], "layers": {"default": ODD}, "timeframe": "1h", "zone": "UTC"}
