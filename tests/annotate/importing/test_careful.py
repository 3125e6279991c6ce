"""Arrow reads the plain bulk of a text by itself; cell by cell the file gives the same candles, report or words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.errors import InvalidInput, NeedsAnswer
from annotate.importing import delimited, read_file, text_rows
from annotate.importing.arrow import pc
from annotate.importing.columns import Roles
from annotate.importing.dialect import Dialect
from annotate.importing.text import TextFile
from annotate.importing.text_rows import TextRows
from tests.annotate.importing.asking import HEADER
from tests.annotate.importing.files import Row, lines, rows
from tests.annotate.importing.test_fuzz import NASTY, mangled_files
from tests.annotate.importing.test_layouts import LAYOUTS

ANSWERS = {"zone": "UTC", "stamp": "open", "symbols": "all"}
TIMES: dict[str, Callable[[Row], object]] = {
    "epochs": lambda row: row.time,
    "ISO times": lambda row: row.clock("%Y-%m-%dT%H:%M:%S.123456Z"),
    "clocks": lambda row: row.clock("%Y-%m-%d %H:%M"),
    "offsets": lambda row: row.clock("%Y-%m-%d %H:%M:%S+09:00", "Asia/Tokyo"),
}
CELLS = [*NASTY, "2024-06-03T00:00", "2024-06-03 00:00:00.1234567Z", "2024-06-03T00:00:00-05:30", "+nan", "1.", " 7 "]


def outcome(path: Path, name: str) -> Any:
    """Give what a file is read as: its series, or why there is none."""
    try:
        found = read_file(path, name, ANSWERS)
    except NeedsAnswer as doubt:
        return doubt.details["questions"]
    except InvalidInput as error:
        return error.message, error.details
    return [(each.symbol, each.timeframe, each.report, *map(bytes, columns(each.candles))) for each in found]


def columns(candles: Any) -> list[Any]:
    return [getattr(candles, name) for name in ("time", "open", "high", "low", "close", "volume")]


def carefully(file: TextFile, dialect: Dialect, roles: Roles) -> TextRows:
    return text_rows._read_carefully(file, dialect, roles)


def nasty_files() -> list[tuple[str, str, bytes]]:
    """Give tables in which one cell of one row is odd."""
    candles = rows(30)
    made = []
    for turn, (writing, time) in enumerate(TIMES.items()):
        for at, cell in list(enumerate(CELLS))[turn % 2 :: 2]:  # each cell with two writings
            cells: list[list[object]] = [[time(row), *row.prices, row.volume] for row in candles]
            cells[20][at % 6] = cell
            made.append((f"{writing}, {cell!r} in column {at % 6}", "a.csv", lines(HEADER, cells)))
    return made


def test_the_fast_way_and_the_careful_way_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "upload"
    written = [(layout.id, layout.file, layout.write(layout.rows)) for layout in LAYOUTS]
    files = [*nasty_files(), *written, *mangled_files(90)]
    for label, name, data in files:
        path.write_bytes(data)
        fast = outcome(path, name)
        with monkeypatch.context() as patch:
            patch.setattr(delimited, "read_rows", carefully)
            assert outcome(path, name) == fast, label


def test_plain_epochs_and_iso_times_are_not_read_cell_by_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_arguments: object, **_options: object) -> None:
        raise AssertionError("cells were looked at one by one")

    for time in TIMES.values():
        (tmp_path / "upload").write_bytes(lines(HEADER, [(time(row), *row.prices, row.volume) for row in rows(30)]))
        with monkeypatch.context() as patch:
            patch.setattr(text_rows, "_read_carefully", never)
            patch.setattr(pc, "extract_regex", never)
            assert len(read_file(tmp_path / "upload", "a.csv", {})[0].candles) == 30
