"""What is no candle file, or no safe one, is refused by what it is."""

from __future__ import annotations

import gzip
import io
import json
import pickle
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from annotate.errors import InvalidInput
from annotate.importing import container, preview
from tests.annotate.importing.asking import HEADER, refused, table
from tests.annotate.importing.files import imported, packed

GOOD = table(["2024-01-01", "2024-01-02"])

OTHERS = {
    "is empty": b"",
    "is blank": b"  \n\r\n\t",
    "no row after the header": f"{HEADER}\n".encode(),
    "'No data'": b"Date,Open,High,Low,Close,Volume\nNo data\n",
    "web page": b"<!DOCTYPE html><html></html>",
    "binary data": bytes(range(256)) * 9,
    "SQLite": b"SQLite format 3\0" + bytes(90),
    "pickle": b"\x80\x04\x95" + bytes(90),
    "trades": b"id,price,qty,quote_qty,time,is_buyer_maker\n1,2,3,6,1704067200000,true\n",
    "trades or ticks": b"1315922016,5.8,1.0\n1315922024,5.83,3.0\n",
    "ticks": b"Gmt time,Ask,Bid,AskVolume,BidVolume\n01.01.2017 22:00:00.000,1.0,1.1,2,2\n",
    "funding rates": b"calc_time,funding_interval_hours,last_funding_rate\n1704067200000,8,0.0001\n",
    "funding rates,": b"symbol,fundingRate,fundingRateTimestamp\nBTCUSDT,0.0001,1704067200000\n",
    "holds funding rates": b'{"code": "0", "data": [{"fundingRate": "0.0001", "fundingTime": "1704067200000"}]}',
    "two or three numbers": b"EUR/USD,20240102 10:00:00.123,1.0955,1.0956\n" * 2,
    "its keys are code, msg": b'{"code": -1121, "msg": "Invalid symbol."}',
    "its list is empty": b'{"code": "0", "data": []}',
    "no valid JSON": b"[[1704067200000,1,2,0.5,1.5,9],[17040",
    "nests too deeply": b"[" * 100_000,
    "thousands of digits": b"[[" + b"9" * 5000 + b",1,2,0.5,1.5,9]]",
    "gzip data is damaged": gzip.compress(GOOD)[:-9],
    "zip archive is damaged": packed({"a.csv": GOOD})[:-30],
}


@pytest.mark.parametrize("words", OTHERS)
def test_a_file_that_is_no_candles_is_named(words: str, tmp_path: Path) -> None:
    assert words in refused(tmp_path, OTHERS[words]).message


def test_files_of_arrays_and_models_that_would_run_code_are_refused_and_run_nothing(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    array = io.BytesIO()
    np.save(array, np.array([Poison(trace)], dtype=object), allow_pickle=True)
    model = packed({"model/data.pkl": pickle.dumps(Poison(trace)), "model/version": b"3"})
    assert "NumPy array, which may hold code" in refused(tmp_path, array.getvalue(), "candles.npy").message
    assert "Python pickle" in refused(tmp_path, model, "model.pt").message
    assert "Python pickle" in refused(tmp_path, pickle.dumps(Poison(trace), 4), "candles.pkl").message
    assert not trace.exists()
    np.load(io.BytesIO(array.getvalue()), allow_pickle=True)
    assert trace.exists(), "the control: this is what unpickling would have done"


class Poison:
    """Makes a file when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.trace,)


def test_freqtrades_funding_rates_are_known_by_their_name(tmp_path: Path) -> None:
    data = table(["2024-01-01 00:00:00+00:00", "2024-01-01 08:00:00+00:00"])
    assert "funding rates" in refused(tmp_path, data, "XRP_USDT_USDT-8h-funding_rate.csv").message


def test_trades_in_json_are_known_by_their_sides(tmp_path: Path) -> None:
    rows = [[1570752011620, "13519807", None, "sell", 0.0014, 23.0, 0.03]] * 2
    assert "trades" in refused(tmp_path, json.dumps(rows).encode(), "a.json").message


def test_a_parquet_file_cut_short_or_without_rows_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    pa.parquet.write_table(pa.table({"time": pa.array([], pa.int64()), "open": pa.array([], pa.float64())}), buffer)
    assert "no rows" in refused(tmp_path, buffer.getvalue()).message
    assert "damaged" in refused(tmp_path, buffer.getvalue()[:-8]).message


STAMPS = [datetime(2024, 1, day, tzinfo=UTC) for day in (1, 2, 3)]
TYPED: dict[str, Any] = {
    "timestamp": pa.array(STAMPS, pa.timestamp("us", "UTC")),
    "date": pa.array(STAMPS, pa.date32()),
    "clock": pa.array([1, 2, 3], pa.time64("us")),
    "duration": pa.array([1, 2, 3], pa.duration("s")),
    "truth": pa.array([True, False, True]),
    "bytes": pa.array([b"1", b"2", b"3"]),
    "list": pa.array([[1.0], [2.0], [3.0]]),
    "record": pa.array([{"a": 1.0}] * 3),
    "words": pa.array(["a", "b", "c"], pa.large_string()),
    "codes": pa.array(["a", "b", "a"]).dictionary_encode(),
    "nothing": pa.nulls(3),
    "huge": pa.array([2**64 - 1] * 3, pa.uint64()),
}


PRICED = {name: [1.0, 2.0, 3.0] for name in ("open", "high", "low", "close", "volume")}
READ = {("time", "timestamp"), ("time", "date"), ("open", "bytes"), ("volume", "bytes"), ("volume", "nothing")}


@pytest.mark.parametrize("kind", TYPED)
def test_a_typed_column_that_cannot_be_what_its_name_says_is_named(kind: str, tmp_path: Path) -> None:
    for name in ("time", "open", "volume"):
        buffer = io.BytesIO()
        pa.parquet.write_table(pa.table({"time": TYPED["timestamp"], **PRICED, name: TYPED[kind]}), buffer)
        (tmp_path / "upload").write_bytes(buffer.getvalue())
        why = why_not(tmp_path / "upload", "A-1d.parquet")
        assert why is None if (name, kind) in READ else name in str(why) or "no candle" in str(why), (name, kind, why)


def why_not(path: Path, name: str) -> str | None:
    """Give why a file has no series, as its preview says; None where it has."""
    try:
        shown = preview(path, name, {})
    except InvalidInput as error:
        return error.message
    return str(shown["problem"]) if shown["problem"] else None


UNSAFE = ["../a.csv", "/etc/a.csv", "..\\a.csv", "C:/a.csv", "a/../../b.csv"]


@pytest.mark.parametrize("name", UNSAFE)
def test_an_archive_with_a_name_that_leaves_its_folder_is_refused(name: str, tmp_path: Path) -> None:
    assert "unsafe name" in refused(tmp_path, packed({name: GOOD})).message


@pytest.mark.parametrize("bomb", ["zip", "gzip"])
def test_a_bomb_is_refused_before_it_is_unpacked_whole(bomb: str, tmp_path: Path) -> None:
    zeros = bytes(container.RATIO_COUNTS_FROM * 3)
    data = packed({"a.csv": zeros}) if bomb == "zip" else gzip.compress(zeros)
    assert "times its size" in refused(tmp_path, data).message


def test_archives_in_archives_workbooks_and_empty_archives_are_refused(tmp_path: Path) -> None:
    assert "archive inside" in refused(tmp_path, packed({"a.zip": packed({"a.csv": GOOD})})).message
    assert "Excel workbook" in refused(tmp_path, packed({"xl/workbook.xml": b"<x/>"})).message
    assert "no data file" in refused(tmp_path, packed({})).message


def test_one_bad_member_refuses_the_whole_archive(tmp_path: Path) -> None:
    error = refused(tmp_path, packed({"A.csv": GOOD, "B.csv": b"garbage"}), symbols="all")
    assert error.details["file"] == "B.csv"


def test_notes_beside_the_data_are_skipped_and_named(tmp_path: Path) -> None:
    members = {"a.csv": GOOD, "a.txt": b"gap report", "README.md": b"x", "__MACOSX/._a.csv": b"\0"}
    report = imported(tmp_path, "a.zip", packed(members)).report
    assert report["skipped_files"] == ["a.txt", "README.md", "__MACOSX/._a.csv"]


def test_a_name_with_folders_is_reduced_to_its_last_part(tmp_path: Path) -> None:
    assert imported(tmp_path, "..\\..\\evil/BTCUSDT-1d.csv", GOOD).report["files"] == ["BTCUSDT-1d.csv"]
