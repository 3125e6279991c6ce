"""Which candle files and which live tail a series has."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sqlalchemy import delete, func, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.orm import Session

from annotate.candles import COLUMNS, Candles
from annotate.errors import NotFound
from annotate.models import CandleFile, Series, TailCandle


@dataclass(frozen=True, slots=True)
class Bounds:
    """Open times of a series' first and last candle, null when it has none, and how many it has."""

    first: int | None
    last: int | None
    rows: int


class FileRow(NamedTuple):
    """One file of one level."""

    level_ms: int
    first: int
    last: int
    rows: int
    sha256: str


NO_CANDLES = Bounds(None, None, 0)


def timeframe_of(session: Session, series_id: int) -> str:
    """Give a series' timeframe, also of a deleted one that is still stored; raise NotFound."""
    timeframe = session.scalar(select(Series.timeframe).where(Series.id == series_id))
    if timeframe is None:
        raise NotFound(f"there is no series {series_id}", series_id=series_id)
    return timeframe


def files_of(session: Session, series_id: int) -> list[FileRow]:
    """List a series' files, by level and time."""
    # Columns, not objects: a session would give back objects as it first saw them.
    columns = [getattr(CandleFile, name) for name in FileRow._fields]
    query = select(*columns).where(CandleFile.series_id == series_id).order_by(CandleFile.level_ms, CandleFile.first)
    return [FileRow(*row) for row in session.execute(query)]


def put_file(session: Session, series_id: int, row: FileRow) -> None:
    """Name a file in the catalogue; it takes the place of the one of the same level that begins at the same time."""
    values = row._asdict()
    query = insert(CandleFile).values(series_id=series_id, **values)
    key = [CandleFile.series_id, CandleFile.level_ms, CandleFile.first]
    session.execute(query.on_conflict_do_update(index_elements=key, set_=values))


def every_file(session: Session) -> set[tuple[int, str]]:
    """Give (series, sha256) of every file that the catalogue knows."""
    return {
        (series_id, sha256) for series_id, sha256 in session.execute(select(CandleFile.series_id, CandleFile.sha256))
    }


def delete_levels(session: Session, series_id: int, levels_ms: Iterable[int] | None = None) -> None:
    """Drop a series' file rows: of the given levels, or all."""
    query = delete(CandleFile).where(CandleFile.series_id == series_id)
    if levels_ms is not None:
        query = query.where(CandleFile.level_ms.in_(list(levels_ms)))
    session.execute(query)


def tail_of(session: Session, series_id: int) -> Candles:
    """Give the live candles that are in no file yet."""
    columns = [getattr(TailCandle, name) for name in COLUMNS]
    query = select(*columns).where(TailCandle.series_id == series_id).order_by(TailCandle.time)
    # Plain tuples: NumPy takes 13 times as long over SQLAlchemy's rows.
    rows = [tuple(row) for row in session.execute(query)]
    if not rows:
        return Candles.empty()
    time, *values = zip(*rows, strict=True)
    return Candles(np.array(time, np.int64), *(np.array(column, np.float64) for column in values))


def add_tail(session: Session, series_id: int, candles: Candles) -> None:
    """Store live candles."""
    columns = [getattr(candles, name).tolist() for name in COLUMNS]
    rows = [dict(zip(COLUMNS, row, strict=True), series_id=series_id) for row in zip(*columns, strict=True)]
    for row in rows:
        row["volume"] = None if math.isnan(row["volume"]) else row["volume"]
    if rows:
        # With nulls rendered all rows are one statement; without, each change between null and not begins another.
        session.execute(insert(TailCandle).execution_options(render_nulls=True), rows)


def delete_tail(session: Session, series_id: int) -> None:
    """Drop a series' live candles."""
    session.execute(delete(TailCandle).where(TailCandle.series_id == series_id))


def last_time(session: Session, series_id: int) -> int | None:
    """Give the open time of the last stored candle."""
    # A coarser level names the open of a bucket, so none of them is later than the source's last candle.
    in_files = select(func.max(CandleFile.last)).where(CandleFile.series_id == series_id)
    in_tail = select(func.max(TailCandle.time)).where(TailCandle.series_id == series_id)
    known = [time for time in (session.scalar(in_files), session.scalar(in_tail)) if time is not None]
    return max(known, default=None)


def tail_rows(session: Session, series_id: int) -> int:
    """Count a series' live candles."""
    return session.scalar(select(func.count()).where(TailCandle.series_id == series_id)) or 0


def series_with_tail(session: Session) -> list[int]:
    """List the series that have live candles outside of files."""
    return list(session.scalars(select(TailCandle.series_id).distinct().order_by(TailCandle.series_id)))


def all_bounds(session: Session) -> dict[int, Bounds]:
    """Give the bounds of every series, with or without candles, in three queries."""
    source = (
        select(CandleFile.series_id, func.min(CandleFile.level_ms).label("level_ms"))
        .group_by(CandleFile.series_id)
        .subquery()
    )
    in_files = (
        select(CandleFile.series_id, func.min(CandleFile.first), func.max(CandleFile.last), func.sum(CandleFile.rows))
        .join(source, (source.c.series_id == CandleFile.series_id) & (source.c.level_ms == CandleFile.level_ms))
        .group_by(CandleFile.series_id)
    )
    in_tail = select(TailCandle.series_id, func.min(TailCandle.time), func.max(TailCandle.time), func.count()).group_by(
        TailCandle.series_id
    )
    found = dict.fromkeys(session.scalars(select(Series.id)), NO_CANDLES)
    for series_id, first, last, rows in (*session.execute(in_files), *session.execute(in_tail)):
        before = found[series_id]
        found[series_id] = Bounds(first if before.first is None else before.first, last, before.rows + rows)
    return found
