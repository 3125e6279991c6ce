"""The candle store: what goes in comes out, at every level, however it came in."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

from annotate.candle_levels import pyramid_of
from annotate.candle_store import FOLD_ROWS, MAX_WINDOW
from annotate.candles import Candles, aggregate
from annotate.errors import InvalidInput, NotFound
from annotate.store.candle_catalogue import files_of
from annotate.timeframe import offered, parse
from tests.annotate.candles.builders import (
    Shelf,
    candles_of,
    ms,
    plainly_aggregated,
    random_candles,
    rows_of,
)

SECONDS = random_candles(12_000, "1s", kept=0.4)
LEVELS = ("5s", "30s", "1m", "5m", "1h", "4h", "1d", "1w", "1mo")
PLAIN = {"1s": rows_of(SECONDS), **{level: plainly_aggregated(rows_of(SECONDS), level) for level in LEVELS}}


def in_parts(candles: Candles, *cuts: int) -> Iterator[Candles]:
    edges = [0, *cuts, len(candles)]
    return (candles.slice(start, end) for start, end in itertools.pairwise(edges))


def test_what_is_written_is_read_back_to_the_bit(shelf: Shelf) -> None:
    texts = ["0.1", "1.05236", "123456789.12345678", "5e-324", "1.7976931348623157e308", "2.2250738585072011e-308"]
    prices = [float(text) for text in texts]
    series_id = shelf.series(candles_of([(row, price, price, price, price, None) for row, price in enumerate(prices)]))
    assert shelf.reopened().read(series_id).close.tolist() == prices


def test_a_null_volume_stays_null_and_is_not_zero(shelf: Shelf) -> None:
    series_id = shelf.series(candles_of([(0, 1, 1, 1, 1, None), (60_000, 1, 1, 1, 1, 0.0)]))
    assert [row[5] for row in rows_of(shelf.reopened().read(series_id))] == [None, 0.0]


def test_a_stretch_is_half_open(shelf: Shelf) -> None:
    candles = random_candles(100)
    series_id = shelf.series(candles)
    start, end = int(candles.time[10]), int(candles.time[20])
    assert rows_of(shelf.store.read(series_id, start, end)) == rows_of(candles.slice(10, 20))


def test_reading_without_null_volumes_copies_nothing(shelf: Shelf) -> None:
    candles = random_candles(100)
    whole = Candles(candles.time, candles.open, candles.high, candles.low, candles.close, candles.open)
    series_id = shelf.series(whole)
    first, second = shelf.store.read(series_id), shelf.store.read(series_id, int(candles.time[50]))
    assert np.shares_memory(first.close, second.close)
    assert not first.close.flags.writeable


def test_the_file_on_disk_is_named_by_its_hash(shelf: Shelf) -> None:
    shelf.series(random_candles(50))
    assert all(hashlib.sha256(path.read_bytes()).hexdigest() == path.stem for path in shelf.files())
    assert shelf.files()


def test_an_unknown_series_is_not_found(shelf: Shelf) -> None:
    with pytest.raises(NotFound, match="no series 7"):
        shelf.store.read(7)


def test_candles_that_cannot_be_ordered_are_refused_and_nothing_is_stored(shelf: Shelf) -> None:
    with pytest.raises(InvalidInput, match="not after"):
        shelf.series(candles_of([(1, 1, 1, 1, 1, 1), (1, 1, 1, 1, 1, 1)]))
    assert shelf.files() == set()


def test_a_series_without_candles_has_no_bounds(shelf: Shelf) -> None:
    series_id = shelf.series(Candles.empty())
    bounds = shelf.store.bounds(series_id)
    assert (bounds.first, bounds.last, bounds.rows) == (None, None, 0)
    assert len(shelf.store.window(series_id, None, None, "1h", 100).candles) == 0


def test_bounds_count_files_and_tail(shelf: Shelf) -> None:
    candles = random_candles(30)
    series_id = shelf.series(candles.slice(0, 20))
    shelf.store.append(series_id, candles.slice(20, 30))
    bounds = shelf.store.bounds(series_id)
    assert (bounds.first, bounds.last, bounds.rows) == (int(candles.time[0]), int(candles.time[-1]), 30)
    assert shelf.store.all_bounds() == {series_id: bounds}


def test_an_appended_candle_is_stored_once_and_in_order(shelf: Shelf) -> None:
    candles = random_candles(30)
    series_id = shelf.series(candles.slice(0, 10))
    assert shelf.store.append(series_id, candles.slice(5, 20)) == 10
    assert shelf.store.append(series_id, candles.slice(0, 20)) == 0
    assert shelf.store.append(series_id, candles.slice(19, 30)) == 10
    assert rows_of(shelf.store.read(series_id)) == rows_of(candles)
    assert rows_of(shelf.reopened().read(series_id)) == rows_of(candles)


def test_a_series_may_begin_with_live_candles(shelf: Shelf) -> None:
    candles = random_candles(500)
    series_id = shelf.series(Candles.empty())
    shelf.store.append(series_id, candles)
    assert rows_of(shelf.store.window(series_id, None, None, "1h", 500).candles) == plainly_aggregated(
        rows_of(candles), "1h"
    )


def test_appending_to_an_unknown_series_is_refused(shelf: Shelf) -> None:
    with pytest.raises(NotFound, match="no series 7"):
        shelf.store.append(7, random_candles(1))


def test_a_long_tail_becomes_a_file_by_itself(shelf: Shelf) -> None:
    candles = random_candles(2 * FOLD_ROWS + 10)
    series_id = shelf.series(candles.slice(0, FOLD_ROWS))
    shelf.store.append(series_id, candles.slice(FOLD_ROWS, 2 * FOLD_ROWS - 1))
    before = len(shelf.files())
    shelf.store.append(series_id, candles.slice(2 * FOLD_ROWS - 1, 2 * FOLD_ROWS))
    assert len(shelf.files()) == before + 1
    assert rows_of(shelf.reopened().read(series_id)) == rows_of(candles.slice(0, 2 * FOLD_ROWS))


def test_closing_folds_every_tail(shelf: Shelf) -> None:
    candles = random_candles(40)
    series = [shelf.series(candles.slice(0, 10 * number)) for number in (0, 1, 2)]
    for series_id in series:
        shelf.store.append(series_id, candles)
    shelf.store.close()
    assert [rows_of(shelf.reopened().read(series_id)) for series_id in series] == [rows_of(candles)] * 3
    assert {file.stem for file in shelf.files()} >= {_only_source_file(shelf, series_id) for series_id in series}


def _only_source_file(shelf: Shelf, series_id: int) -> str:
    with shelf.database.read() as session:
        (row,) = [row for row in files_of(session, series_id) if row.level_ms == parse("1m")]
        assert row.rows == 40
        return row.sha256


@pytest.mark.parametrize(
    "cuts", [(), (1,), (977,), (10, 11, 12, 13), (5000, 9100), (4096, 8192), tuple(range(900, 12_000, 900))]
)
def test_folding_in_parts_gives_what_one_write_gives(shelf: Shelf, cuts: tuple[int, ...]) -> None:
    series_id = shelf.series(Candles.empty(), "1s")
    for part in in_parts(SECONDS, *cuts):
        shelf.store.append(series_id, part)
        shelf.store.fold(series_id)
    levels = shelf.reopened()._current(series_id)
    assert {timeframe: rows_of(levels.read(timeframe)) for timeframe in PLAIN} == PLAIN


def test_a_coarser_candle_across_files_and_tail_is_whole(shelf: Shelf) -> None:
    start = ms("2024-01-01T10:00:00")
    candles = candles_of([(start + row * 60_000, row, row + 2, row - 1, row + 1, 1) for row in range(60)])
    series_id = shelf.series(candles.slice(0, 20))
    shelf.store.append(series_id, candles.slice(20, 40))
    shelf.store.fold(series_id)
    shelf.store.append(series_id, candles.slice(40, 60))
    assert rows_of(shelf.store.window(series_id, None, None, "1h", 10).candles) == [(start, 0, 61, -1, 60, 60)]


@pytest.mark.parametrize("timeframe", ["1s", "1m", "7m", "1h", "1d", "1w", "1mo"])
def test_random_windows_are_exact_at_every_level(shelf: Shelf, timeframe: str) -> None:
    candles = random_candles(
        9_000, timeframe, seed=3, start="2001-02-28T22:47:00" if timeframe != "1mo" else "1950-01-01T00:00:00", kept=0.7
    )
    series_id = shelf.series(candles.slice(0, 5_000), timeframe)
    shelf.store.append(series_id, candles.slice(5_000, 8_000))
    shelf.store.fold(series_id)
    shelf.store.append(series_id, candles.slice(8_000, 9_000))
    generator = np.random.default_rng(5)
    for _ in range(40):
        start, end = sorted(
            int(time) for time in generator.integers(candles.time[0] - 10**7, candles.time[-1] + 10**7, 2)
        )
        chosen, most = str(generator.choice(offered(timeframe))), int(generator.integers(2, MAX_WINDOW))
        window = shelf.store.window(series_id, start, end, chosen, most)
        every = rows_of(candles if window.level == timeframe else aggregate(candles, window.level))
        assert rows_of(window.candles) == [row for row in every if start <= row[0] < end]
        assert len(window.candles) <= most
        assert window.timeframe == chosen


def test_the_level_is_the_finest_that_fits(shelf: Shelf) -> None:
    start = ms("2024-01-01T00:00:00")
    minutes = candles_of([(start + row * 60_000, 1, 1, 1, 1, 1) for row in range(1_200)])
    series_id = shelf.series(minutes)
    levels = {
        most: shelf.store.window(series_id, None, None, None, most).level for most in (1_200, 1_199, 400, 399, 20, 2)
    }
    assert levels == {1_200: "1m", 1_199: "3m", 400: "3m", 399: "5m", 20: "1h", 2: "12h"}


def test_gaps_leave_room_for_a_finer_level(shelf: Shelf) -> None:
    # 100 candles spread over a year fit into 100 points as they are.
    candles = candles_of([(row * parse("1d") * 4, 1, 1, 1, 1, 1) for row in range(100)])
    series_id = shelf.series(candles, "1h")
    assert shelf.store.window(series_id, None, None, "1h", 100).level == "1h"


def test_what_lies_beside_a_stretch_reaches_over_gaps_and_is_as_long_as_the_stretch_at_least(shelf: Shelf) -> None:
    minute = 60_000
    opens = [*range(10), *range(1_000, 1_010), *range(5_000, 5_100)]  # two gaps, longer than any view
    series_id = shelf.series(candles_of([(place * minute, 1, 1, 1, 1, 1) for place in opens[:15]]))
    shelf.store.append(series_id, candles_of([(place * minute, 1, 1, 1, 1, 1) for place in opens[15:30]]))
    shelf.store.fold(series_id)
    shelf.store.append(series_id, candles_of([(place * minute, 1, 1, 1, 1, 1) for place in opens[30:]]))

    def drawn(start: int, end: int, beside: int, *, before: int | None = None) -> list[int]:
        times = (start * minute, end * minute)
        window = shelf.store.window(series_id, *times, None, 2_000, beside=beside, before=before)
        return [time // minute for time in window.candles.time.tolist()]

    assert drawn(1_004, 1_006, 0) == [1_004, 1_005]
    assert drawn(1_004, 1_006, 1) == list(range(1_002, 1_008)), "as much time again"
    assert drawn(1_004, 1_006, 6) == [8, 9, *range(1_000, 1_010), 5_000, 5_001]
    assert drawn(5_000, 5_010, 3) == [1_007, 1_008, 1_009, *range(5_000, 5_020)]
    assert drawn(2_000, 2_100, 2) == [1_008, 1_009, 5_000, 5_001], "also where the stretch is in a gap"
    assert drawn(1_004, 1_006, 5_000) == opens
    assert drawn(1_004, 1_006, 8, before=5_003 * minute) == [*range(6, 10), *range(1_000, 1_010), 5_000, 5_001, 5_002]


def test_the_first_coarser_candle_is_whole_where_what_lies_beside_reaches_the_start(shelf: Shelf) -> None:
    start = ms("2024-01-01T10:30:00")
    series_id = shelf.series(candles_of([(start + row * 60_000, 1, 1, 1, 1, 1) for row in range(160)]))
    window = shelf.store.window(series_id, start, start + 3_600_000, "1h", 100, beside=1)
    assert window.candles.time.tolist()[0] == ms("2024-01-01T10:00:00")


def test_the_chosen_timeframe_and_the_level_are_told_apart(shelf: Shelf) -> None:
    series_id = shelf.series(random_candles(5_000))
    window = shelf.store.window(series_id, None, None, "5m", 100)
    assert (window.timeframe, window.level) == ("5m", "1h")


def test_a_timeframe_that_the_series_does_not_nest_in_is_refused_with_the_choices(shelf: Shelf) -> None:
    series_id = shelf.series(random_candles(10), "4h")
    with pytest.raises(InvalidInput, match="this series is of 4h; choose 4h, 8h, 12h, 1d, 1w, 1mo"):
        shelf.store.window(series_id, None, None, "1h", 100)


@pytest.mark.parametrize("most", [1, 0, -5, MAX_WINDOW + 1])
def test_a_number_of_points_out_of_range_is_refused(shelf: Shelf, most: int) -> None:
    series_id = shelf.series(random_candles(10))
    with pytest.raises(InvalidInput, match="max_points"):
        shelf.store.window(series_id, None, None, None, most)


@pytest.mark.parametrize("timeframe", ["7m", "1d", "1w", "1mo"])
def test_however_long_a_series_is_a_window_is_capped(shelf: Shelf, timeframe: str) -> None:
    time = np.arange(60_000, dtype=np.int64) * parse(timeframe)
    ones = np.ones(len(time))
    series_id = shelf.series(Candles(time, ones, ones, ones, ones, ones), timeframe)
    window = shelf.store.window(series_id, None, None, None, 2)
    assert 1 <= len(window.candles) <= 2
    assert window.candles.volume.sum() == 60_000


def test_candles_that_stick_out_of_the_series_are_marked(shelf: Shelf) -> None:
    start = ms("2024-01-01T10:30:00")
    series_id = shelf.series(candles_of([(start + row * 60_000, 1, 1, 1, 1, 1) for row in range(160)]))
    window = shelf.store.window(series_id, None, None, "1h", 100)
    assert window.partial == (ms("2024-01-01T10:00:00"), ms("2024-01-01T13:00:00"))


def test_whole_candles_are_not_marked(shelf: Shelf) -> None:
    start = ms("2024-01-01T10:00:00")
    series_id = shelf.series(candles_of([(start + row * 60_000, 1, 1, 1, 1, 1) for row in range(120)]))
    assert shelf.store.window(series_id, None, None, "1h", 100).partial == ()
    assert shelf.store.window(series_id, None, None, "1m", 200).partial == ()


def test_a_lone_bucket_that_is_cut_at_both_ends_is_marked_once(shelf: Shelf) -> None:
    series_id = shelf.series(candles_of([(ms("2024-01-01T10:30:00"), 1, 1, 1, 1, 1)]))
    assert shelf.store.window(series_id, None, None, "1h", 100).partial == (ms("2024-01-01T10:00:00"),)


def test_the_pyramid_is_stored_beside_the_source(shelf: Shelf) -> None:
    assert pyramid_of("1s") == ["5s", "15s", "1m", "5m", "15m", "1h", "4h", "1d"]
    assert pyramid_of("1h") == ["4h", "1d"]
    shelf.series(random_candles(20_000, "1h"), "1h")
    assert len(shelf.files()) == 3


def test_merging_adds_what_is_missing_anywhere_and_keeps_what_is_stored(shelf: Shelf) -> None:
    candles = random_candles(100)
    series_id = shelf.series(candles.take(np.arange(0, 80, 2)))
    shelf.store.append(series_id, candles.slice(80, 90))
    other = candles.slice(0, 100)
    closes = other.close.copy()
    closes[[4, 5, 85]] += 1
    incoming = Candles(other.time, other.open, np.maximum(other.high, closes), other.low, closes, other.volume)
    with shelf.database.write() as session:
        merged = shelf.store.merge(session, series_id, incoming)
    assert (merged.added, merged.same, merged.changed.time.tolist()) == (50, 48, other.time[[4, 85]].tolist())
    stored = shelf.reopened().read(series_id)
    assert stored.time.tolist() == candles.time.tolist()
    assert stored.close[[4, 85]].tolist() == candles.close[[4, 85]].tolist()
    assert stored.close[5] == closes[5]


def test_merging_equal_candles_changes_nothing_a_null_volume_included(shelf: Shelf) -> None:
    candles = random_candles(50)
    assert np.isnan(candles.volume).any()
    series_id = shelf.series(candles)
    files = shelf.files()
    with shelf.database.write() as session:
        merged = shelf.store.merge(session, series_id, candles)
    assert (merged.added, merged.same, len(merged.changed)) == (0, 50, 0)
    assert shelf.files() == files


def test_a_changed_volume_counts_as_changed_from_null_to_a_number(shelf: Shelf) -> None:
    series_id = shelf.series(candles_of([(0, 1, 1, 1, 1, None)]))
    with shelf.database.write() as session:
        merged = shelf.store.merge(session, series_id, candles_of([(0, 1, 1, 1, 1, 5)]))
    assert merged.changed.volume.tolist() == [5.0]
    assert math.isnan(shelf.store.read(series_id).volume[0])
