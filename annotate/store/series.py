"""Series: made, renamed, deleted with a minute to undo it."""

from __future__ import annotations

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from annotate.errors import Conflict, InvalidInput, NotFound
from annotate.models import Json, Run, Series
from annotate.store.candle_catalogue import Bounds
from annotate.store.label_sets import default_label_set
from annotate.store.runs import UNFINISHED

UNDO_MS = 60_000  # how long a deleted series can be brought back
MAX_SYMBOL = 100


def list_series(session: Session) -> list[Series]:
    """List the series by id, without deleted ones."""
    return list(session.scalars(select(Series).where(Series.deleted.is_(None)).order_by(Series.id)))


def get_series(session: Session, series_id: int) -> Series:
    """Give the series; raise NotFound, for a deleted one too."""
    series = session.get(Series, series_id)
    if series is None or series.deleted is not None:
        raise NotFound(f"there is no series {series_id}", series_id=series_id)
    return series


def require_series(session: Session, series_id: int) -> None:
    """Raise NotFound unless the series is there; asks for no more, since every window of the chart asks this."""
    query = select(Series.id).where(Series.id == series_id, Series.deleted.is_(None))
    if session.scalar(query) is None:
        raise NotFound(f"there is no series {series_id}", series_id=series_id)


def count_series(session: Session) -> int:
    """Count the series, deleted ones included."""
    return session.scalar(select(func.count()).select_from(Series)) or 0


def create_series(
    session: Session,
    *,
    symbol: str,
    timeframe: str,
    source: str,
    created: int,
    zone: str = "UTC",
    simulated: bool = False,
    facts: Json | None = None,
) -> Series:
    """Make a series with the default label set, and give it with its id; its candles come by the candle store."""
    series = Series(
        symbol=checked_symbol(symbol),
        timeframe=timeframe,
        source=source,
        simulated=simulated,
        zone=zone,
        label_set_id=default_label_set(session).id,
        created=created,
        facts=facts or {},
    )
    session.add(series)
    session.flush()
    return series


def rename_series(session: Session, series_id: int, symbol: str) -> Series:
    """Change a series' symbol; raise InvalidInput for an empty or overlong one."""
    series = get_series(session, series_id)
    series.symbol = checked_symbol(symbol)
    return series


def delete_series(session: Session, series_id: int, now: int) -> None:
    """Mark a series as deleted; it can be restored within the minute. Raise Conflict while a run uses it."""
    series = get_series(session, series_id)
    busy = session.scalar(select(Run.id).where(Run.series_id == series_id, Run.state.in_(UNFINISHED)).limit(1))
    if busy is not None:
        raise Conflict(f"run {busy} works on {series.symbol}; stop it first", run_id=busy)
    series.deleted = now


def restore_series(session: Session, series_id: int, now: int) -> Series:
    """Bring back a series that was deleted within the last minute; one that was not deleted is given as it is."""
    series = session.get(Series, series_id)
    if series is None or (series.deleted is not None and now - series.deleted > UNDO_MS):
        raise NotFound(f"series {series_id} is gone; a delete can be undone within a minute", series_id=series_id)
    series.deleted = None
    return series


def purge_deleted(session: Session, now: int) -> list[int]:
    """Drop the series whose minute is over, with all that belongs to them; give their ids for the removal of files."""
    over = list(session.scalars(select(Series.id).where(Series.deleted < now - UNDO_MS).order_by(Series.id)))
    if over:
        session.execute(delete(Series).where(Series.id.in_(over)))
    return over


def checked_symbol(symbol: object) -> str:
    """Give a symbol without blanks around it; raise InvalidInput for one that cannot be shown as a name."""
    text = symbol.strip() if isinstance(symbol, str) else ""
    if not text or len(text) > MAX_SYMBOL or not text.isprintable():
        raise InvalidInput(
            f"symbol {symbol!r}: give 1 to {MAX_SYMBOL} printable characters, such as ETH/USDT", name="symbol"
        )
    return text


def series_json(series: Series, bounds: Bounds) -> Json:
    """Give a series as the API shows it; first and last are open times, null without candles."""
    return {
        "id": series.id,
        "symbol": series.symbol,
        "timeframe": series.timeframe,
        "source": series.source,
        "candles": bounds.rows,
        "first": bounds.first,
        "last": bounds.last,
        "simulated": series.simulated,
        "zone": series.zone,
        "precision": series.facts.get("precision"),
        "label_set_id": series.label_set_id,
        "facts": series.facts,
    }
