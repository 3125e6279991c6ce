"""A plain table of marks: (time, label) or (start, end, label), columns found by name or named by a person. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotate.errors import InvalidInput
from annotate.exporting.candle_table import LAYER_PREFIX
from annotate.importing.doubts import Choice
from annotate.mark_files.cells import A_TIME, Rows, numbers_of, times_of
from annotate.mark_files.doubts import MarkDoubts
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
ENDS = {"close": "the close of the last candle", "last_candle": "the last candle itself"}
ROWS = {"points": "a point each", "spans": "a candle each: neighbours of one label are a span"}
NONE = "–"  # the answer that a table has no such column


def read_plain(rows: Rows, chart: Chart, doubts: MarkDoubts) -> Found:
    """Read the rows that have a label.

    Answers that `doubts` may hold: a column for each of KNOWN, `zone`, `end_is` (the `close` of the last candle or the
    `last_candle` itself) and, for rows with one time, `rows_are` (`points`, or `spans` of neighbours with one label).
    Asks for the columns that it does not find.
    """
    if len(rows.names) < len(("time", "label")):
        raise InvalidInput("no table of marks: a time and a label need two columns", field="file")
    if not rows.cells:
        return Found("plain_csv", [], notes=["the file has a header and no rows"])
    columns = _columns(rows, doubts)
    kept = [place for place, cell in enumerate(rows.column(columns["label"])) if cell.strip()]
    held = rows.take(kept)
    labels = [cell.strip() for cell in held.column(columns["label"])]
    read = _spans if "start" in columns and "end" in columns else _moments
    marks, mapping = read(held, labels, columns, chart, doubts)
    left = len(rows.cells) - len(kept)
    notes = [f"{left} rows without a label are left out"] if left else []
    return Found("plain_csv", marks, mapping={**columns, **mapping}, notes=notes)


def _columns(rows: Rows, doubts: MarkDoubts) -> dict[str, str]:
    found = _guessed(rows)
    for what in KNOWN:
        given = doubts.given(what)
        if given is not None and given not in (*rows.names, NONE):
            raise InvalidInput(f"{what} = {given!r}: the file has the columns {', '.join(rows.names)}", field=what)
        if given is not None:
            found = {other: name for other, name in found.items() if name != given and other != what}
            found |= {} if given == NONE else {what: given}
    shape = ("start", "end") if _has_two_times(found, rows) else ("time",)
    found = {what: name for what, name in found.items() if what in shape or what not in ("start", "end", "time")}
    for what in ("label", *shape):
        if what not in found:
            found[what] = _asked(what, found, rows, doubts)
    for what in KNOWN:
        _offer(what, found.get(what), rows, doubts)
    return found


def _has_two_times(found: Mapping[str, str], rows: Rows) -> bool:
    """Tell whether rows are spans: both edges are known, or one, or no time at all, and two columns hold times."""
    known = [edge for edge in ("start", "end") if edge in found]
    return len(known) == 2 or ("time" not in found and len(_time_columns(rows)) > 1)


def _time_columns(rows: Rows) -> list[str]:
    return [name for name in rows.names if all(map(A_TIME.match, rows.column(name)))]


def _guessed(rows: Rows) -> dict[str, str]:
    by_lower = {name.lower().replace(" ", "_"): name for name in reversed(rows.names)}
    found: dict[str, str] = {}
    for what, spellings in KNOWN.items():
        guess = next((by_lower[each] for each in spellings if each in by_lower), None)
        if guess is not None and guess not in found.values():
            found[what] = guess
    layer = next((name for name in rows.names if name.startswith(LAYER_PREFIX)), None)
    return found if layer is None or "label" in found else {**found, "label": layer}


def _asked(what: str, found: Mapping[str, str], rows: Rows, doubts: MarkDoubts) -> str:
    """Ask for a column; the likely one is told by what stands in it."""
    likely = _likely(what, found, rows)
    choices = [Choice(name, f"{name}: {_first(rows, name)}", name == likely) for name in rows.names]
    said = f"The file has the columns {', '.join(rows.names)}." if rows.named else "The file has no header."
    return doubts.ask(what, f"Which column holds the {what}?", choices, said)


def _likely(what: str, found: Mapping[str, str], rows: Rows) -> str | None:
    times = _time_columns(rows)
    if what == "label":
        return next((name for name in reversed(rows.names) if name not in times), None)
    return next((name for name in times if name not in found.values()), None)


def _offer(what: str, name: str | None, rows: Rows, doubts: MarkDoubts) -> None:
    columns = [Choice(each, f"{each}: {_first(rows, each)}", each == name) for each in rows.names]
    choices = [*columns, Choice(NONE, "no column", name is None)]
    doubts.offer(
        what, f"Column of the {what}", choices if name is None else sorted(choices, key=lambda c: not c.likely)
    )


def _first(rows: Rows, name: str) -> str:
    return next((cell[:40] for cell in rows.column(name) if cell.strip()), "empty")


Read = tuple[list[FoundMark], dict[str, str]]


def _spans(rows: Rows, labels: Sequence[str], columns: Mapping[str, str], chart: Chart, doubts: MarkDoubts) -> Read:
    edges = {columns[edge]: rows.column(columns[edge]) for edge in ("start", "end")}
    (starts, ends), written = times_of(edges, rows.lines, doubts)
    # A span of one candle, or of days, is written with its last candle: else it would be empty, or a day short.
    inclusive = starts and (any(map(int.__eq__, starts, ends)) or "date" in written)
    likely = "last_candle" if inclusive else "close"
    choices = [Choice(value, words, value == likely) for value, words in ENDS.items()]
    end_is = doubts.offer("end_is", "What is the end of a span?", choices)
    said = _said(rows, columns, doubts)
    marks = []
    for place, (label, start, end) in enumerate(zip(labels, starts, ends, strict=True)):
        close = chart.close_after(end) if end_is == "last_candle" else end
        body = {"kind": "span", "label": label, "start": start, "end": close, **said[place]}
        marks.append(FoundMark(f"line {rows.lines[place]}", body))
    return marks, {"times": written, "end_is": end_is}


def _moments(rows: Rows, labels: Sequence[str], columns: Mapping[str, str], chart: Chart, doubts: MarkDoubts) -> Read:
    (times,), written = times_of({columns["time"]: rows.column(columns["time"])}, rows.lines, doubts)
    where = [f"line {line}" for line in rows.lines]
    spans = joined_spans(chart, list(zip(times, labels, where, strict=True)))
    likely = "spans" if len(spans) * 2 <= len(times) else "points"
    choices = [Choice(value, words, value == likely) for value, words in ROWS.items()]
    rows_are = doubts.offer("rows_are", "What is a row?", choices)
    mapping = {"times": written, "rows_are": rows_are}
    if rows_are == "spans":
        return spans, mapping
    prices = numbers_of(rows, columns["price"], doubts) if "price" in columns else [None] * len(times)
    said = _said(rows, columns, doubts)
    marks = []
    for place, (time, label, price) in enumerate(zip(times, labels, prices, strict=True)):
        at = chart.price_at(time) if price is None else price
        marks.append(
            FoundMark(where[place], {"kind": "point", "label": label, "time": time, "price": at, **said[place]})
        )
    return marks, mapping


def _said(rows: Rows, columns: Mapping[str, str], doubts: MarkDoubts) -> list[Json]:
    """Give comment and confidence of each row."""
    count = len(rows.cells)
    comments = rows.column(columns["comment"]) if "comment" in columns else [""] * count
    sure = numbers_of(rows, columns["confidence"], doubts) if "confidence" in columns else [None] * count
    return [{"comment": words, "confidence": part} for words, part in zip(comments, sure, strict=True)]
