"""CSV cells that no spreadsheet runs and that come back as they were. Pure.

A spreadsheet may cut a file at semicolons, tabs or bars too, and a line break begins a row: so each piece between them
is looked at. A piece that begins with one of = + - @ ' or a control character gets a ' in front; the reader takes it
away.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator

from annotate.errors import InvalidInput

RISKY = frozenset("=+-@'＝＋－＠")  # full-width ones too: they are turned into the plain ones where Japanese is typed
NEEDS_QUOTES = frozenset(',"\r\n')
LONGEST_CELL = 256 << 20

_BREAKS = re.compile("([;\t|\r\n]+)")
_CONTROL_BREAKS = ("\t", "\r", "\n")
_SKIPPED = ("Z", "Cf")  # spaces and marks that cannot be seen: some spreadsheets drop them


def escape(text: str) -> str:
    """Make a text harmless in a spreadsheet.

    Examples
    --------
    >>> escape("=1+1"), escape("Long"), escape("'tis"), escape("a;=1+1")
    ("'=1+1", 'Long', "''tis", "a;'=1+1")
    """
    if text.isalnum():
        return text
    pieces = "".join("'" + piece if _is_risky(piece) else piece for piece in _BREAKS.split(text))
    return "'" + pieces if text[:1] in _CONTROL_BREAKS else pieces


def unescape(cell: str) -> str:
    """Give the text that `escape` was given."""
    return "".join(piece.removeprefix("'") for piece in _BREAKS.split(cell)) if "'" in cell else cell


def quoted(cell: str) -> str:
    """Write one cell; the csv module before Python 3.13 leaves a lone carriage return bare, and readers break there."""
    return '"' + cell.replace('"', '""') + '"' if NEEDS_QUOTES.intersection(cell) else cell


def row(cells: Iterable[str]) -> str:
    """Write one line, LF at its end."""
    return ",".join(map(quoted, cells)) + "\n"


def read_rows(text: str, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Give each row as (number of its last line, cells); raise InvalidInput where it is no delimited text."""
    csv.field_size_limit(LONGEST_CELL)  # a cell may hold what a tool wrote as JSON
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise InvalidInput(f"line {reader.line_num}: {error}", line=reader.line_num) from None
        if cells is None:
            return
        yield reader.line_num, cells


def _is_risky(piece: str) -> bool:
    """Tell whether a piece would be run; blanks and quotes before its first letter do not hide it."""
    if not piece or _BREAKS.fullmatch(piece):
        return False
    if unicodedata.category(piece[0]) == "Cc":
        return True
    first = next((letter for letter in piece if letter != '"' and not _is_blank(letter)), "")
    return first in RISKY or piece[0] == "'"


def _is_blank(letter: str) -> bool:
    return unicodedata.category(letter).startswith(_SKIPPED)
