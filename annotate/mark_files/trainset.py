"""A TRAINSET file: `series,timestamp,value,label`, a row a candle; neighbours of one label are a span. Pure."""

from __future__ import annotations

from annotate.importing.doubts import Doubts
from annotate.mark_files.cells import Rows, times_of
from annotate.mark_files.found import Chart, Found, joined_spans

COLUMNS = ["series", "timestamp", "value", "label"]


def is_trainset(names: list[str]) -> bool:
    """Tell whether these are TRAINSET's columns."""
    return [name.lower() for name in names] == COLUMNS


def read_trainset(rows: Rows, chart: Chart, doubts: Doubts) -> Found:
    """Read the rows that have a label."""
    kept = [place for place, cells in enumerate(rows.cells) if cells[3].strip()]
    lines = [rows.lines[place] for place in kept]
    times, written = times_of([rows.cells[place][1] for place in kept], "timestamp", lines, doubts)
    labels = [rows.cells[place][3].strip() for place in kept]
    labelled = sorted(zip(times, labels, [f"line {line}" for line in lines], strict=True))
    mapping = {"time": f"timestamp ({written})", "label": "label", "rows": "spans: neighbours of one label are joined"}
    return Found("trainset", joined_spans(chart, labelled), mapping=mapping)
