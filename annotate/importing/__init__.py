"""Read a candle file: sniff, map, parse, check, report. Pure; no database."""

from annotate.importing.reader import preview, read_file
from annotate.importing.series import Imported

__all__ = ["Imported", "preview", "read_file"]
