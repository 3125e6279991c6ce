"""Series rows: made, renamed, deleted with a minute to undo it, purged."""

from __future__ import annotations

import pytest

from annotate.candles import Candles
from annotate.errors import Conflict, InvalidInput, NotFound
from annotate.models import CandleFile, Run
from annotate.store import series as rows
from annotate.store.candle_catalogue import Bounds
from tests.annotate.candles.builders import Shelf, random_candles

NOW = 1_700_000_000_000


def names(shelf: Shelf) -> list[str]:
    with shelf.database.read() as session:
        return [series.symbol for series in rows.list_series(session)]


def test_series_come_by_id(shelf: Shelf) -> None:
    for symbol in ("ZZZ", "AAA", "MMM"):
        shelf.series(Candles.empty(), symbol=symbol)
    assert names(shelf) == ["ZZZ", "AAA", "MMM"]


def test_every_series_takes_the_same_default_label_set(shelf: Shelf) -> None:
    first, second = shelf.series(Candles.empty()), shelf.series(Candles.empty())
    with shelf.database.read() as session:
        sets = [rows.get_series(session, series_id).label_set for series_id in (first, second)]
        assert sets[0].id == sets[1].id
        assert [(label.name, label.key) for label in sets[0].labels] == [
            ("Long", "1"),
            ("Short", "2"),
            ("Range", "3"),
            ("Noise", "4"),
        ]


def test_a_series_shows_what_the_page_needs(shelf: Shelf) -> None:
    series_id = shelf.series(Candles.empty(), symbol="ETH/USDT")
    with shelf.database.read() as session:
        shown = rows.series_json(rows.get_series(session, series_id), Bounds(10, 20, 2))
    assert shown == {
        "id": series_id,
        "symbol": "ETH/USDT",
        "timeframe": "1m",
        "source": "upload",
        "candles": 2,
        "first": 10,
        "last": 20,
        "simulated": False,
        "zone": "UTC",
        "precision": None,
        "label_set_id": 1,
        "facts": {},
    }


def test_a_symbol_is_kept_as_written_without_blanks_around_it(shelf: Shelf) -> None:
    series_id = shelf.series(Candles.empty())
    with shelf.database.write() as session:
        rows.rename_series(session, series_id, "  ../<b>данные</b>; =1+1 ")
    assert names(shelf) == ["../<b>данные</b>; =1+1"]


@pytest.mark.parametrize("symbol", ["", "   ", "a\nb", "a\x00b", "x" * 101, None, 7])
def test_what_cannot_be_shown_as_a_name_is_refused(symbol: object) -> None:
    with pytest.raises(InvalidInput, match="such as ETH/USDT"):
        rows.checked_symbol(symbol)


def test_a_deleted_series_is_gone_and_comes_back_whole_within_the_minute(shelf: Shelf) -> None:
    series_id = shelf.series(random_candles(50), symbol="BACK")
    with shelf.database.write() as session:
        rows.delete_series(session, series_id, NOW)
    with shelf.database.write() as session, pytest.raises(NotFound):
        rows.get_series(session, series_id)
    assert names(shelf) == []
    with shelf.database.write() as session:
        assert rows.purge_deleted(session, NOW + rows.UNDO_MS) == []
        rows.restore_series(session, series_id, NOW + rows.UNDO_MS)
    assert names(shelf) == ["BACK"]
    assert len(shelf.store.read(series_id)) == 50


def test_after_the_minute_a_series_cannot_come_back(shelf: Shelf) -> None:
    series_id = shelf.series(random_candles(50))
    with shelf.database.write() as session:
        rows.delete_series(session, series_id, NOW)
    late = NOW + rows.UNDO_MS + 1
    with shelf.database.write() as session, pytest.raises(NotFound, match="within a minute"):
        rows.restore_series(session, series_id, late)
    with shelf.database.write() as session:
        assert rows.purge_deleted(session, late) == [series_id]
        assert session.query(CandleFile).count() == 0


def test_restoring_a_series_that_was_not_deleted_changes_nothing(shelf: Shelf) -> None:
    series_id = shelf.series(Candles.empty(), symbol="HERE")
    with shelf.database.write() as session:
        assert rows.restore_series(session, series_id, NOW).symbol == "HERE"


@pytest.mark.parametrize(("state", "kept"), [("running", True), ("paused", True), ("finished", False)])
def test_a_series_that_a_run_works_on_is_not_deleted(shelf: Shelf, state: str, kept: bool) -> None:
    series_id = shelf.series(Candles.empty())
    with shelf.database.write() as session:
        session.add(Run(mode="batch", series_id=series_id, state=state, config={}, created=0))
    try:
        with shelf.database.write() as session:
            rows.delete_series(session, series_id, NOW)
        refused = False
    except Conflict as error:
        refused = "stop it first" in error.message
    assert (refused, len(names(shelf))) == (kept, int(kept))
