"""Read a candle file: sniff, map, parse, check, report. Pure; no database."""

from annotate.importing.names import likely_symbol
from annotate.importing.reader import preview, read_file
from annotate.importing.series import Imported

__all__ = ["Imported", "likely_symbol", "preview", "read_file"]
