"""Read a candle file: sniff, map, parse, check, report. Pure; no database."""

from annotate.importing.arriving import Arriving
from annotate.importing.names import likely_symbol
from annotate.importing.reader import Opened, open_file, preview, read_file
from annotate.importing.series import Imported

__all__ = ["Arriving", "Imported", "Opened", "likely_symbol", "open_file", "preview", "read_file"]
