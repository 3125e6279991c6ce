"""What an uploaded candle file becomes: new series, more candles of one, or the series that its bytes made before."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from annotate.candle_store import CandleStore
from annotate.candles import COLUMNS, Candles, price_decimals
from annotate.db import Database
from annotate.errors import InvalidInput
from annotate.importing import Imported, read_file
from annotate.models import Json, Series
from annotate.store.imports import add_report, reports_of_bytes
from annotate.store.series import create_series, get_series

LISTED = 100  # changed candles that a report lists; it counts them all
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

    @classmethod
    def of(cls, path: Path, filename: str, form: Mapping[str, str]) -> Upload:
        """Read the form fields that came with a file; raise InvalidInput naming the one that cannot be taken."""
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(path, filename, sha256, answers_of(form), _series_id(form))


def answers_of(form: Mapping[str, str]) -> Json:
    """Give the answers that came with a file: the JSON of `answers`, and the fields that have a name of their own."""
    given = {name: form[name].strip() for name in ANSWERS if form.get(name, "").strip()}
    return {**_answers(form.get("answers", "")), **given}


def store_upload(database: Database, store: CandleStore, upload: Upload, now: int) -> Made:
    """Store a file's candles, whole or not at all; give each series with its report, `identical` where it was known.

    Raises InvalidInput or NeedsAnswer from the importer, NotFound for a series to add to that does not exist.
    """
    with database.read() as session:
        if upload.series_id is not None:
            get_series(session, upload.series_id)
        known = _known(session, upload)
    if known:
        return known
    imported = read_file(upload.path, upload.filename, upload.answers, sha256=upload.sha256)
    with database.write() as session:
        # Asked again, now that nobody else can write: the same file may have come twice at once.
        return _known(session, upload) or _store(session, store, upload, imported, now)


def _known(session: Session, upload: Upload) -> Made:
    stored = {report.series_id: report.report for report in reports_of_bytes(session, upload.sha256, upload.series_id)}
    if upload.series_id is None:  # what these bytes were added to is not what they made
        stored = {series_id: report for series_id, report in stored.items() if not report["added_to_series"]}
    return [(get_series(session, series_id), {**report, "identical": True}) for series_id, report in stored.items()]


def _store(session: Session, store: CandleStore, upload: Upload, imported: list[Imported], now: int) -> Made:
    if upload.series_id is None:
        made = [_create(session, store, each, upload, now) for each in imported]
    else:
        made = [_extend(session, store, get_series(session, upload.series_id), imported)]
    for series, report in made:
        add_report(session, series_id=series.id, sha256=upload.sha256, created=now, report=report)
    return made


def _create(session: Session, store: CandleStore, imported: Imported, upload: Upload, now: int) -> tuple[Series, Json]:
    symbol = upload.answers.get("symbol") if imported.symbol is None else imported.symbol
    if symbol is None:
        raise InvalidInput(f"{upload.filename} names no symbol; say it in the field symbol", field="symbol")
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


def _extend(session: Session, store: CandleStore, series: Series, imported: list[Imported]) -> tuple[Series, Json]:
    if len(imported) != 1:
        symbols = ", ".join(str(each.symbol) for each in imported)
        raise InvalidInput(f"the file holds {len(imported)} series ({symbols}); add them one by one", field="series_id")
    (one,) = imported
    if one.timeframe != series.timeframe:
        raise InvalidInput(
            f"the file has {one.timeframe} candles, {series.symbol} has {series.timeframe}; upload it as a new series",
            field="timeframe",
        )
    merged = store.merge(session, series.id, one.candles)
    series.facts = {**series.facts, "precision": max(series.facts.get("precision", 0), price_decimals(one.candles))}
    outcome = {
        "added": merged.added,
        "same": merged.same,
        "changed": len(merged.changed),
        "changed_candles": _listed(merged.changed),
    }
    return series, {**one.report, "identical": False, "added_to_series": True, **outcome}


def _listed(candles: Candles) -> list[Json]:
    rows = zip(*(getattr(candles.slice(0, LISTED), name).tolist() for name in COLUMNS), strict=True)
    return [dict(zip(COLUMNS, [*row[:-1], None if math.isnan(row[-1]) else row[-1]], strict=True)) for row in rows]


def _answers(text: str) -> dict[str, Any]:
    try:
        answers = json.loads(text) if text.strip() else {}
    except ValueError:
        answers = None
    if not isinstance(answers, dict):
        raise InvalidInput(f"answers={text[:100]}: a JSON object of names and answers is needed", field="answers")
    return answers


def _series_id(form: Mapping[str, str]) -> int | None:
    text = form.get("series_id", "").strip()
    if not text:
        return None
    if not text.isdecimal():
        raise InvalidInput(f"series_id={text}: the number of a series is needed", field="series_id")
    return int(text)
