"""Files of marks that come in: one module a format. Pure; no database.

`read_marks` tells the format by what stands in the file, never by its name.
"""

from annotate.mark_files.found import Chart, Found, FoundMark
from annotate.mark_files.reader import read_marks

__all__ = ["Chart", "Found", "FoundMark", "read_marks"]
