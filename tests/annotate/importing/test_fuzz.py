"""Mangled files: each gives sound candles or a named refusal, never another exception, and never hangs."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from annotate.candles import check_storable
from annotate.errors import InvalidInput
from annotate.importing import preview, read_file
from tests.annotate.importing.test_layouts import LAYOUTS

SEED = 20_240_603
IN_THE_SUITE, IN_THE_SOAK = 300, 20_000
LONGEST_S = 3.0  # of CPU time: the machine may be busy

NASTY = [
    *("", " ", "-", "nan", "NaN", "inf", "-inf", "null", "0", "-0", "1e400", "-1e-400", "1e", "1_0", "0x1F", "+1"),
    *("--1", "99999999999999999999", "9" * 400, "1,5", "1.234.567,8", "1'000", "$5", "12%", "5K", "(5)", "∞", "１２"),
    *("2024-13-01", "2024-02-30", "31.02.2024", "24:00:00", "2024-06-03T25:00", "0001-01-01", "9999-12-31", "\u202e1"),
    *("Jan 99, 2024", "=1+1", "'; DROP TABLE", '"', '""', '"a', "a,b", "a;b", "\t", "\0", "\ufeff", "true", "[]", "{}"),
    *("[1]", "é", "1/2/3", "New York", "time", "open", "close", "2024-06-03 00:00:00+99:99", "2024-06-03 00:00:00 EST"),
    *("1e18", "-62135596800", "45292", "17.5", "20240603", "2024-06-03"),
]

Mangle = Callable[[bytes, random.Random], bytes]


def flip_bytes(data: bytes, source: random.Random) -> bytes:
    mangled = bytearray(data)
    for _ in range(source.randint(1, 8)):
        mangled[source.randrange(len(mangled))] = source.randrange(256)
    return bytes(mangled)


def cut(data: bytes, source: random.Random) -> bytes:
    start, end = sorted(source.randrange(len(data) + 1) for _ in range(2))
    return data[:end] if source.random() < 0.5 else data[start:]


def drop_slice(data: bytes, source: random.Random) -> bytes:
    start = source.randrange(len(data))
    return data[:start] + data[start + source.randint(1, 60) :]


def repeat_slice(data: bytes, source: random.Random) -> bytes:
    start = source.randrange(len(data))
    end = start + source.randint(1, 400)
    return data[:end] + data[start:end] * source.randint(1, 3) + data[end:]


def insert_nasty(data: bytes, source: random.Random) -> bytes:
    at = source.randrange(len(data))
    return data[:at] + source.choice(NASTY).encode() + data[at:]


def replace_cells(data: bytes, source: random.Random) -> bytes:
    lines = data.split(b"\n")
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(lines))
        mark = next((mark for mark in (b"\t", b";", b",") if mark in lines[at]), b",")
        cells = lines[at].split(mark)
        cells[source.randrange(len(cells))] = source.choice(NASTY).encode()
        lines[at] = mark.join(cells)
    return b"\n".join(lines)


def shuffle_lines(data: bytes, source: random.Random) -> bytes:
    lines = data.split(b"\n")
    source.shuffle(lines)
    return b"\n".join(lines)


def swap_marks(data: bytes, source: random.Random) -> bytes:
    one, other = source.sample([b",", b";", b"\t", b".", b"-", b":", b" ", b'"', b"\n", b"\r\n"], 2)
    return data.replace(one, other)


MANGLES: list[Mangle] = [
    *(flip_bytes, cut, drop_slice, repeat_slice, insert_nasty, replace_cells, shuffle_lines, swap_marks),
]


def mangled_files(count: int) -> list[tuple[str, str, bytes]]:
    """Give mangled files by a fixed seed: what was done, the name, the bytes."""
    source = random.Random(SEED)
    originals = [(layout, layout.write(layout.rows)) for layout in LAYOUTS]
    made = []
    for number in range(count):
        layout, data = originals[number % len(originals)]
        done = []
        for mangle in source.choices(MANGLES, k=source.choice((1, 1, 1, 2, 3))):
            data = mangle(data, source) if data else data
            done.append(mangle.__name__)
        made.append((f"{number} {layout.id}: {', '.join(done)}", layout.file, data))
    return made


def assert_sound(path: Path, name: str, answers: dict[str, str]) -> None:
    """Read a file; a refusal is fine, and candles must be storable, counted and JSON-able."""
    try:
        found = read_file(path, name, answers)
    except InvalidInput as error:
        json.dumps(error.to_json(), allow_nan=False)
        return
    for series in found:
        check_storable(series.candles)
        report = json.loads(json.dumps(series.report, allow_nan=False))
        lost = sum(each["count"] for each in report["dropped"].values())
        assert report["rows_kept"] == len(series.candles) > 0
        assert report["rows_kept"] + lost == report["rows_read"]


def run_fuzz(count: int, folder: Path) -> None:
    path = folder / "upload"
    for label, name, data in mangled_files(count):
        path.write_bytes(data)
        started = time.process_time()
        try:
            for answers in ({}, {"zone": "America/New_York", "stamp": "close", "timeframe": "1h", "symbols": "all"}):
                assert_sound(path, name, answers)
            preview_or_refusal(path, name)
        except Exception as error:
            raise AssertionError(f"{label}: {data[:300]!r}") from error
        assert time.process_time() - started < LONGEST_S, label


def preview_or_refusal(path: Path, name: str) -> None:
    try:
        json.dumps(preview(path, name, {}), allow_nan=False)
    except InvalidInput:
        return


def test_mangled_files_give_candles_or_a_named_refusal(tmp_path: Path) -> None:
    run_fuzz(IN_THE_SUITE, tmp_path)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_twenty_thousand_mangled_files_give_candles_or_a_named_refusal(tmp_path: Path) -> None:
    run_fuzz(IN_THE_SOAK, tmp_path)
