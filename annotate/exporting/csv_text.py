"""CSV cells that no spreadsheet runs and that come back as they were. Pure.

A text cell that begins with one of = + - @ ' or a control character gets a leading '; the reader takes it away again.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

RISKY = frozenset("=+-@'")
NEEDS_QUOTES = frozenset(',"\r\n')


def escape(text: str) -> str:
    """Make a text harmless in a spreadsheet.

    Examples
    --------
    >>> escape("=1+1"), escape("Long"), escape("'tis")
    ("'=1+1", 'Long', "''tis")
    """
    return "'" + text if text and (text[0] in RISKY or unicodedata.category(text[0]) == "Cc") else text


def unescape(cell: str) -> str:
    """Give the text that `escape` was given."""
    return cell[1:] if cell.startswith("'") else cell


def quoted(cell: str) -> str:
    """Write one cell; the csv module before Python 3.13 leaves a lone carriage return bare, and readers break there."""
    return '"' + cell.replace('"', '""') + '"' if NEEDS_QUOTES.intersection(cell) else cell


def row(cells: Iterable[str]) -> str:
    """Write one line, LF at its end."""
    return ",".join(map(quoted, cells)) + "\n"
