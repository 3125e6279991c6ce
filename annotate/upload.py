"""What an uploaded candle file becomes: new series, more candles of one, or the series that its bytes made before."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from annotate.annotations.timeline import Timeline
from annotate.candle_store import CandleStore
from annotate.candles import COLUMNS, Candles, price_decimals
from annotate.db import Database
from annotate.errors import InvalidInput, NeedsAnswer
from annotate.importing import Imported, Opened, likely_symbol, read_file
from annotate.models import Json, Series
from annotate.store.import_choices import remember, source_of
from annotate.store.imports import add_report, renew_known_at, reports_of_bytes, stretches_of_marks
from annotate.store.runs import MAX_ID
from annotate.store.series import create_series, get_series
from annotate.zips import parsed_json

LISTED = 100  # changed candles that a report lists; it counts them all
READ, STORED = 0.8, 0.99  # share of an import that is done once the file is read, and once all is written
ANSWERS = ("symbol", "timeframe", "zone")

Made = list[tuple[Series, Json]]


@dataclass(frozen=True, slots=True)
class Upload:
    """A received file: where its bytes lie, what it was called, and what came with it."""

    path: Path
    filename: str
    sha256: str
    answers: Json  # symbol, timeframe, zone and whatever the importer asked
    series_id: int | None  # the series to add to
    opened: Opened | None = None  # the file as it was read while it arrived


def answers_of(form: Mapping[str, str]) -> Json:
    """Give the answers that came with a file: the JSON of `answers`, and the fields that have a name of their own."""
    given = {name: form[name].strip() for name in ANSWERS if form.get(name, "").strip()}
    return {**_answers(form.get("answers", "")), **given}


def store_upload(
    database: Database,
    store: CandleStore,
    upload: Upload,
    now: int,
    watch: Callable[[float], None] = lambda _share: None,
) -> Made:
    """Store a file's candles, whole or not at all; give each series with its report, `identical` where it was known.

    `watch` is told the share done; what it raises calls the import off. Raises InvalidInput or NeedsAnswer from
    the importer, NotFound for a series to add to that does not exist.
    """
    with database.read() as session:
        if upload.series_id is not None:
            get_series(session, upload.series_id)
        known = known_series(session, upload)
    if known:
        return known
    imported = read_file(
        upload.path,
        upload.filename,
        upload.answers,
        sha256=upload.sha256,
        opened=upload.opened,
        watch=lambda share: watch(READ * share),
    )
    with database.write() as session:
        # Asked again, now that nobody else can write: the same file may have come twice at once.
        made = known_series(session, upload) or _store(session, store, upload, imported, now)
        watch(STORED)
        return made


def known_series(session: Session, upload: Upload) -> Made:
    """Give the series that the same bytes made before, or the one that they were added to, with their reports."""
    stored = {report.series_id: report.report for report in reports_of_bytes(session, upload.sha256, upload.series_id)}
    if upload.series_id is None:  # what these bytes were added to is not what they made
        stored = {series_id: report for series_id, report in stored.items() if not report["added_to_series"]}
    return [(get_series(session, series_id), {**report, "identical": True}) for series_id, report in stored.items()]


def _store(session: Session, store: CandleStore, upload: Upload, imported: list[Imported], now: int) -> Made:
    if upload.series_id is None:
        made = [_create(session, store, each, upload, now) for each in imported]
    else:
        made = [_extend(session, store, get_series(session, upload.series_id), imported)]
    remember(session, source_of(imported[0].report), upload.answers)
    for series, report in made:
        add_report(session, series_id=series.id, sha256=upload.sha256, created=now, report=report)
    return made


def _create(session: Session, store: CandleStore, imported: Imported, upload: Upload, now: int) -> tuple[Series, Json]:
    symbol = upload.answers.get("symbol") if imported.symbol is None else imported.symbol
    if symbol is None:
        raise NeedsAnswer(
            f"{upload.filename} names no symbol; say it in the field symbol",
            questions=[symbol_question(upload.filename)],
            field="symbol",
        )
    series = create_series(
        session,
        symbol=symbol,
        timeframe=imported.timeframe,
        source="upload",
        zone=imported.zone,
        facts={"precision": price_decimals(imported.candles)},
        created=now,
    )
    store.write_series(session, series.id, series.timeframe, imported.candles)
    return series, {**imported.report, "identical": False, "added_to_series": False}


def symbol_question(filename: str) -> Json:
    """Ask for the symbol of a file that names none; a word of its name is the likely answer."""
    guess = likely_symbol(filename)
    return {
        "name": "symbol",
        "question": "Which symbol is it?",
        "choices": [{"value": guess, "label": guess, "likely": True}],
        "reason": "Neither the file nor its name says which market it is.",
    }


def misfit(timeframe: str, series: Series) -> str | None:
    """Say why candles of a timeframe cannot be added to a series; None where they can."""
    if timeframe == series.timeframe:
        return None
    return f"the file has {timeframe} candles, {series.symbol} has {series.timeframe}; upload it as a new series"


def _extend(session: Session, store: CandleStore, series: Series, imported: list[Imported]) -> tuple[Series, Json]:
    if len(imported) != 1:
        symbols = ", ".join(str(each.symbol) for each in imported)
        raise InvalidInput(f"the file holds {len(imported)} series ({symbols}); add them one by one", field="series_id")
    (one,) = imported
    if problem := misfit(one.timeframe, series):
        raise InvalidInput(problem, field="timeframe")
    first, last = int(one.candles.time[0]), int(one.candles.time[-1])
    stored = store.read(series.id, first, last + 1)
    vanished = stored.take(~np.isin(stored.time, one.candles.time))
    known = store.read(series.id).time
    merged = store.merge(session, series.id, one.candles)
    times = np.union1d(known, one.candles.time)
    renew_known_at(session, series.id, Timeline(times, series.timeframe), np.setdiff1d(times, known))
    marks = stretches_of_marks(session, series.id)
    series.facts = {**series.facts, "precision": max(series.facts.get("precision", 0), price_decimals(one.candles))}
    outcome = {
        "added": merged.added,
        "same": merged.same,
        "changed": len(merged.changed),
        "changed_candles": _listed(merged.changed),
        "annotations_on_changed": _touching(marks, merged.changed),
        "vanished": len(vanished),
        "vanished_candles": _listed(vanished),
        "orphan_annotations": _touching(marks, vanished),
    }
    notes = list(one.report["notes"])
    if one.symbol not in (None, series.symbol):
        notes.append(f"The file says that it is {one.symbol}; it was added to {series.symbol}.")
    return series, {**one.report, "identical": False, "added_to_series": True, **outcome, "notes": notes}


def _touching(marks: list[Json], candles: Candles) -> list[Json]:
    """List the marks that hold one of the candles; a mark stays where it is."""
    starts, ends = (np.array([mark[name] for mark in marks], dtype=np.int64) for name in ("start", "end"))
    # A mark holds a candle where the first candle from its start on is before its end.
    held = np.searchsorted(candles.time, ends) > np.searchsorted(candles.time, starts)
    return [mark for mark, holds in zip(marks, held.tolist(), strict=True) if holds]


def _listed(candles: Candles) -> list[Json]:
    rows = zip(*(getattr(candles.slice(0, LISTED), name).tolist() for name in COLUMNS), strict=True)
    return [dict(zip(COLUMNS, [*row[:-1], None if math.isnan(row[-1]) else row[-1]], strict=True)) for row in rows]


def _answers(text: str) -> dict[str, Any]:
    answers = parsed_json(text, "answers") if text.strip() else {}
    if not isinstance(answers, dict):
        raise InvalidInput(f"answers={text[:100]}: a JSON object of names and answers is needed", field="answers")
    return answers


def series_id_of(form: Mapping[str, str]) -> int | None:
    """Give the series to add to that came with a file."""
    text = form.get("series_id", "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) > MAX_ID:
        raise InvalidInput(f"series_id={text}: the number of a series is needed", field="series_id")
    return int(text)
