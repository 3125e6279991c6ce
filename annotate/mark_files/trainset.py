"""A TRAINSET file: `series,timestamp,value,label`, a row a candle; neighbours of one label are a span. Pure.

Older versions call the first column `filename` and write 1 and 0 for labelled and not. Several series in a file are
read apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from annotate.mark_files.cells import Rows, times_of
from annotate.mark_files.doubts import MarkDoubts
from annotate.mark_files.found import Chart, Found, joined_spans

REST = ["timestamp", "value", "label"]
FIRST = ("series", "filename")
FLAGS = {"0", "1", ""}


def is_trainset(names: Sequence[str]) -> bool:
    """Tell whether these are TRAINSET's columns."""
    low = [name.lower() for name in names]
    return low[1:] == REST and low[0] in FIRST


def read_trainset(rows: Rows, chart: Chart, doubts: MarkDoubts) -> Found:
    """Read the rows that have a label."""
    labels = [cells[3].strip() for cells in rows.cells]
    unset = {"0", ""} if set(labels) <= FLAGS else {""}
    held = rows.take([place for place, label in enumerate(labels) if label not in unset])
    (times,), written = times_of({rows.names[1]: held.column(rows.names[1])}, held.lines, doubts)
    series = [cells[0].strip() for cells in held.cells]
    marks = []
    for one in dict.fromkeys(series):
        places = [place for place, name in enumerate(series) if name == one]
        labelled = [(times[at], held.cells[at][3].strip(), f"line {held.lines[at]}") for at in places]
        marks += joined_spans(chart, labelled)
    mapping = {"time": f"timestamp ({written})", "label": "label", "rows": "spans: neighbours of one label are joined"}
    return Found("trainset", marks, mapping=mapping, notes=_notes(series))


def _notes(series: Sequence[str]) -> list[str]:
    names = list(dict.fromkeys(series))
    return [f"labels of {len(names)} series are joined apart: {', '.join(names[:5])}"] if len(names) > 1 else []
