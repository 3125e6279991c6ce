"""The sample: three series on first start, with the source's figures, and never again."""

from __future__ import annotations

import numpy as np
import pytest

from annotate import simulator
from annotate.candles import check_storable, find_gaps, violations
from annotate.sample import FOLDER, MARKETS, SampleFile, load_sample, read_sample
from annotate.store.series import UNDO_MS, delete_series, list_series, purge_deleted, series_json
from annotate.timeframe import parse
from tests.annotate.candles.builders import Shelf, ms, random_candles, rows_of


def test_a_new_folder_gets_three_series_with_eur_usd_first(shelf: Shelf) -> None:
    assert load_sample(shelf.database, shelf.store)
    bounds = shelf.store.all_bounds()
    with shelf.database.read() as session:
        shown = [series_json(series, bounds[series.id]) for series in list_series(session)]
    facts = [(one["symbol"], one["timeframe"], one["candles"], one["simulated"], one["precision"]) for one in shown]
    assert facts == [
        ("EUR/USD", "1h", 6_225, False, 5),
        ("AAPL", "1d", 1_509, False, 2),
        ("SIM/USDT", "1s", 86_400, True, 2),
    ]
    assert rows_of(shelf.store.read(3, None, simulator.START + 9_000)) == rows_of(simulator.simulate().slice(0, 9))


def test_a_deleted_sample_does_not_come_back(shelf: Shelf) -> None:
    load_sample(shelf.database, shelf.store)
    with shelf.database.write() as session:
        for series_id in (1, 2, 3):
            delete_series(session, series_id, 0)
    with shelf.database.write() as session:
        assert purge_deleted(session, UNDO_MS + 1) == [1, 2, 3]
    assert not load_sample(shelf.database, shelf.reopened())
    with shelf.database.read() as session:
        assert list_series(session) == []


def test_a_folder_with_a_series_gets_no_sample(shelf: Shelf) -> None:
    shelf.series(random_candles(5))
    assert not load_sample(shelf.database, shelf.store)


@pytest.mark.parametrize("market", MARKETS, ids=lambda market: market.symbol)
def test_a_sample_is_sound(market: SampleFile) -> None:
    candles = read_sample(market)
    check_storable(candles)
    assert violations(candles).tolist() == []
    assert not np.isnan(candles.volume).any()


def test_eur_usd_is_in_utc() -> None:
    candles = read_sample(MARKETS[0])
    assert rows_of(candles.slice(0, 1)) == [
        (ms("2017-01-01T22:00:00"), 1.05236, 1.05253, 1.05221, 1.05227, 143_539_993.3)
    ]
    # Trading stops at 17:00 in New York: 22:00 UTC in winter, 21:00 in summer.
    weekends = [gap.start for gap in find_gaps(candles, parse("1h"))]
    assert ms("2017-01-06T22:00:00") in weekends
    assert ms("2017-07-07T21:00:00") in weekends
    # The payroll figures come at 08:30 in New York: the widest candle of such a Friday.
    for day, hour in (("2017-01-06", 13), ("2017-07-07", 12)):
        friday = candles.between(ms(day), ms(day) + parse("1d"))
        widest = friday.time[np.argmax(friday.high - friday.low)]
        assert widest == ms(day) + hour * parse("1h")


def test_apple_has_the_figures_of_its_source_at_midnight_utc_of_the_trading_day() -> None:
    candles = read_sample(MARKETS[1])
    assert rows_of(candles.slice(0, 1)) == [(ms("2019-01-02"), 38.72, 39.71, 38.56, 39.48, 148_158_800.0)]
    assert np.all(candles.time % parse("1d") == 0)


def test_the_readme_names_each_file_with_source_and_licence() -> None:
    text = (FOLDER / "README.md").read_text("utf-8")
    for words in (*(market.file for market in MARKETS), "gym-anytrading 2.0.0", "MIT", "hvsampledata 0.1.5", "BSD-3"):
        assert words in text
