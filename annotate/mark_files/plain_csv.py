"""A plain table of marks: (time, label) or (start, end, label), columns found by name or named by a person. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from annotate.errors import InvalidInput
from annotate.importing.doubts import Choice, Doubts
from annotate.mark_files.cells import Rows, number_of, times_of
from annotate.mark_files.found import Chart, Found, FoundMark, joined_spans

Json = dict[str, Any]

KNOWN: dict[str, tuple[str, ...]] = {
    "label": ("label", "labels", "class", "tag", "category", "pattern", "annotation", "type", "name"),
    "start": ("start", "start_time", "starttime", "t_start", "begin", "from", "start_date"),
    "end": ("end", "end_time", "endtime", "t_end", "finish", "to", "end_date"),
    "time": ("time", "timestamp", "datetime", "date", "date_time", "t", "unix"),
    "price": ("price", "value", "y"),
    "comment": ("comment", "comments", "note", "notes", "text"),
    "confidence": ("confidence", "probability", "score"),
}
ENDS = ("close", "last_candle")
ROWS = ("points", "spans")


def read_plain(rows: Rows, chart: Chart, doubts: Doubts) -> Found:
    """Read the rows that have a label.

    Answers that `doubts` may hold: a column for each of KNOWN, `zone`, `end_is` (the `close` of the last candle or the
    `last_candle` itself) and, for rows with one time, `rows_are` (`points`, or `spans` of neighbours with one label).
    Asks for the columns that it does not find.
    """
    if len(rows.names) < len(("time", "label")):
        raise InvalidInput("no table of marks: a time and a label need two columns", field="file")
    if not rows.cells:
        return Found("plain_csv", [], notes=["the file has a header and no rows"])
    columns = _columns(rows.names, doubts)
    kept = [place for place, cell in enumerate(rows.column(columns["label"])) if cell.strip()]
    held = Rows(rows.names, [rows.cells[place] for place in kept], [rows.lines[place] for place in kept])
    labels = [cell.strip() for cell in held.column(columns["label"])]
    if "start" in columns and "end" in columns:
        return _spans(held, labels, columns, chart, doubts)
    return _moments(held, labels, columns, chart, doubts)


def _columns(names: Sequence[str], doubts: Doubts) -> dict[str, str]:
    by_lower = {name.lower().replace(" ", "_"): name for name in reversed(names)}
    found: dict[str, str] = {}
    for what, spellings in KNOWN.items():
        given = doubts.given(what)
        if given is not None and given not in names:
            raise InvalidInput(f"{what} = {given!r}: the file has the columns {', '.join(names)}", field=what)
        guess = given or next((by_lower[each] for each in spellings if each in by_lower), None)
        if guess is not None and guess not in found.values():
            found[what] = guess
    needed = ["label"] if "start" in found and "end" in found else ["time", "label"]
    for what in needed:
        if what not in found:
            choices = [Choice(name, name) for name in names]
            reason = f"The file has the columns {', '.join(names)}."
            found[what] = doubts.ask(what, f"Which column holds the {what}?", choices, reason)
    return found


def _spans(rows: Rows, labels: Sequence[str], columns: dict[str, str], chart: Chart, doubts: Doubts) -> Found:
    end_is = doubts.option("end_is", ENDS)
    (starts, written), (ends, _) = (
        times_of(rows.column(columns[edge]), columns[edge], rows.lines, doubts) for edge in ("start", "end")
    )
    marks = []
    for place, (label, start, end) in enumerate(zip(labels, starts, ends, strict=True)):
        close = chart.close_after(end) if end_is == "last_candle" else end
        body = {"kind": "span", "label": label, "start": start, "end": close, **_said(rows, columns, place)}
        marks.append(FoundMark(f"line {rows.lines[place]}", body))
    return Found("plain_csv", marks, mapping={**columns, "times": written, "end_is": end_is})


def _moments(rows: Rows, labels: Sequence[str], columns: dict[str, str], chart: Chart, doubts: Doubts) -> Found:
    times, written = times_of(rows.column(columns["time"]), columns["time"], rows.lines, doubts)
    order = np.argsort(np.array(times, np.int64), kind="stable").tolist()
    labelled = [(times[place], labels[place], f"line {rows.lines[place]}") for place in order]
    spans = joined_spans(chart, labelled)
    likely = "spans" if len(spans) * 2 <= len(labelled) else "points"
    rows_are = doubts.option("rows_are", (likely, *(each for each in ROWS if each != likely)))
    mapping = {**columns, "times": written, "rows_are": rows_are}
    if rows_are == "spans":
        return Found("plain_csv", spans, mapping=mapping)
    marks = [
        FoundMark(f"line {rows.lines[place]}", _point(rows, columns, place, labels[place], times[place], chart))
        for place in range(len(times))
    ]
    return Found("plain_csv", marks, mapping=mapping)


def _point(rows: Rows, columns: dict[str, str], place: int, label: str, time: int, chart: Chart) -> Json:
    price = _number(rows, columns, place, "price")
    where = chart.price_at(time) if price is None else price
    return {"kind": "point", "label": label, "time": time, "price": where, **_said(rows, columns, place)}


def _said(rows: Rows, columns: dict[str, str], place: int) -> Json:
    comment = rows.cells[place][rows.names.index(columns["comment"])] if "comment" in columns else ""
    return {"comment": comment, "confidence": _number(rows, columns, place, "confidence")}


def _number(rows: Rows, columns: dict[str, str], place: int, what: str) -> float | None:
    if what not in columns:
        return None
    name = columns[what]
    return number_of(rows.cells[place][rows.names.index(name)], name, rows.lines[place])
