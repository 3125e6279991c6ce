"""Arrow reads the plain bulk of a text, also while it arrives; cell by cell the file gives the same series or words."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.errors import InvalidInput, NeedsAnswer
from annotate.importing import Arriving, Opened, delimited, open_file, read_file, text_rows
from annotate.importing.arrow import pc
from annotate.importing.columns import Roles
from annotate.importing.dialect import Dialect
from annotate.importing.doubts import Doubts
from annotate.importing.text import TextFile
from annotate.importing.text_rows import TextRows
from tests.annotate.importing.asking import HEADER
from tests.annotate.importing.files import Row, lines, rows
from tests.annotate.importing.test_fuzz import NASTY, mangled_files
from tests.annotate.importing.test_layouts import LAYOUTS

PART = 64  # bytes that arrive at once
ANSWERS = {"zone": "UTC", "stamp": "open", "symbols": "all"}
TIMES: dict[str, Callable[[Row], object]] = {
    "epochs": lambda row: row.time,
    "ISO times": lambda row: row.clock("%Y-%m-%dT%H:%M:%S.123456Z"),
    "clocks": lambda row: row.clock("%Y-%m-%d %H:%M"),
    "offsets": lambda row: row.clock("%Y-%m-%d %H:%M:%S+09:00", "Asia/Tokyo"),
}
CELLS = [*NASTY, "2024-06-03T00:00", "2024-06-03 00:00:00.1234567Z", "2024-06-03T00:00:00-05:30", "+nan", "1.", " 7 "]


def outcome(path: Path, name: str, opened: Opened | None = None) -> Any:
    """Give what a file is read as: its series, or why there is none."""
    try:
        found = read_file(path, name, ANSWERS, opened=opened)
    except NeedsAnswer as doubt:
        return doubt.details["questions"]
    except InvalidInput as error:
        return error.message, error.details
    return [(each.symbol, each.timeframe, each.report, *map(bytes, columns(each.candles))) for each in found]


def columns(candles: Any) -> list[Any]:
    return [getattr(candles, name) for name in ("time", "open", "high", "low", "close", "volume")]


def carefully(file: TextFile, dialect: Dialect, roles: Roles, **_options: bool) -> TextRows:
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


def opened_while_it_arrives(path: Path, name: str) -> Opened | None:
    """Open a file that comes in small parts; None where it cannot be opened."""
    arriving = Arriving(path)

    def receive() -> None:
        with arriving:
            for size in range(0, path.stat().st_size, PART):
                arriving.grew(size)

    receiving = threading.Thread(target=receive)
    receiving.start()
    try:
        return open_file(path, name, {}, arriving)
    except InvalidInput:
        return None
    finally:
        receiving.join()


def test_every_way_to_read_a_file_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_rows, "BLOCK", 8 * PART)  # so that rows lie across blocks, as in a large file
    path = tmp_path / "upload"
    written = [(layout.id, layout.file, layout.write(layout.rows)) for layout in LAYOUTS]
    early = []
    for label, name, data in [*nasty_files(), *written, *mangled_files(60)]:
        path.write_bytes(data)
        fast = outcome(path, name)
        if data:
            early.append(opened_while_it_arrives(path, name))
            assert early[-1] is None or outcome(path, name, early[-1]) == fast, label
        with monkeypatch.context() as patch:
            patch.setattr(delimited, "read_rows", carefully)
            assert outcome(path, name) == fast, label
    assert sum(each is not None for each in early) > len(early) / 2


def test_a_file_that_breaks_off_is_not_read_to_its_end(tmp_path: Path) -> None:
    arriving = Arriving(tmp_path / "upload")
    arriving.path.write_bytes(lines(HEADER, [(row.time, *row.prices, row.volume) for row in rows(30)]))
    arriving.grew(PART)
    arriving.end(whole=False)
    with pytest.raises(OSError, match="broke off"):
        open_file(arriving.path, "a.csv", {}, arriving)


def test_what_was_opened_serves_other_answers_unless_it_rests_on_them(tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(lines(HEADER, [(row.clock("%Y-%m-%d %H:%M"), *row.prices, row.volume) for row in rows(30)]))
    opened = open_file(path, "a.csv", {})
    for answers, is_kept in (({"zone": "Asia/Tokyo", "symbol": "A"}, True), ({"column_close": "open"}, False)):
        assert opened.fits(Doubts(answers)) == is_kept
        again, fresh = (read_file(path, "a.csv", answers, opened=each)[0] for each in (opened, None))
        assert (again.report, *map(bytes, columns(again.candles))) == (
            fresh.report,
            *map(bytes, columns(fresh.candles)),
        )


def test_plain_epochs_and_iso_times_are_not_read_cell_by_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_arguments: object, **_options: object) -> None:
        raise AssertionError("cells were looked at one by one")

    for time in TIMES.values():
        (tmp_path / "upload").write_bytes(lines(HEADER, [(time(row), *row.prices, row.volume) for row in rows(30)]))
        with monkeypatch.context() as patch:
            patch.setattr(text_rows, "_read_carefully", never)
            patch.setattr(pc, "extract_regex", never)
            assert len(read_file(tmp_path / "upload", "a.csv", {})[0].candles) == 30
