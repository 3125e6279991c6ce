"""The tape of a live run: what is appended candle by candle equals what is computed in one go, and never changes."""

import dataclasses

import numpy as np
import pytest

from nn import tape as tapes
from nn.dataset_dir import Candles
from nn.features import compute
from nn.split import segment_ids
from nn.tape import LEAST_ROOM, Tape, finite, is_finite, one_candle, targets_at
from nn.targets import MASKED, Edges, targets
from tests.nn.live_market import MINUTE, joined, market

HOUR = 3_600_000
NAMES = ("time", "close", "sigma", "move", "range", "run", "rows")


def grown(n: int, first: int) -> Tape:
    """Make a tape of `first` candles and append the others one by one."""
    candles = market(n)
    tape = Tape(candles.slice(0, first), MINUTE)
    for i in range(first, n):
        assert tape.append(candles.slice(i, i + 1)) == i
    return tape


@pytest.mark.parametrize("first", [0, 1, 40])
def test_candle_by_candle_equals_one_go_bit_for_bit(first: int) -> None:
    by_one, at_once = grown(60, first), Tape(market(60), MINUTE)
    for name in NAMES:
        assert np.array_equal(getattr(by_one, name).values, getattr(at_once, name).values), name
    assert np.array_equal(at_once.rows.values, compute(market(60)).rows)


def test_rows_that_stand_never_change_for_a_reader_who_keeps_them() -> None:
    candles = market(LEAST_ROOM + 300)
    tape = Tape(candles.slice(0, 200), MINUTE)
    kept = {name: getattr(tape, name).values for name in NAMES}
    copies = {name: values.copy() for name, values in kept.items()}
    for i in range(200, len(candles)):
        tape.append(candles.slice(i, i + 1))
    assert len(tape) == len(candles)
    assert all(np.array_equal(kept[name], copies[name]) for name in NAMES)


def test_a_run_counts_candles_since_the_last_gap() -> None:
    candles = market(12)
    torn = joined(candles.slice(0, 5), candles.slice(6, 12))
    tape = Tape(torn.slice(0, 7), MINUTE)
    for i in range(7, 11):
        tape.append(torn.slice(i, i + 1))
    assert tape.run.values.tolist() == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6]


def test_a_market_with_weekends_is_known_as_one_after_four_weeks_whoever_looks() -> None:
    candles = on_weekdays(7 * 5 * 24)
    by_one = Tape(candles.slice(0, 200), HOUR, int(candles.time[199]))
    for row in range(200, len(candles)):
        by_one.append(candles.slice(row, row + 1))
    at_once = Tape(candles, HOUR, int(candles.time[199]))
    assert np.array_equal(by_one.run.values, at_once.run.values)
    known = 4 * 5 * 24
    assert max(by_one.run[np.arange(known)]) == 5 * 24  # until then a weekend is a gap
    assert by_one.run[np.arange(known, len(candles))].tolist() == list(range(known + 1, len(candles) + 1))
    assert Tape(candles, HOUR).run.values.tolist() == list(range(1, len(candles) + 1))


def on_weekdays(n: int) -> Candles:
    """Give hourly candles that leave out Saturdays and Sundays, from a Monday on."""
    monday = 1_700_438_400_000
    hours = np.arange(n, dtype=np.int64)
    return dataclasses.replace(market(n), time=monday + HOUR * (hours + hours // 120 * 48))


@pytest.mark.parametrize("horizon", [1, 3])
def test_targets_are_those_of_batch_training(horizon: int) -> None:
    candles = joined(market(40).slice(0, 18), market(40).slice(20, 40))
    tape, edges, n = Tape(candles, MINUTE), Edges(), len(candles)
    expected = targets(candles, tape.sigma.values, edges, horizon, segment_ids(candles.time, MINUTE)).classes
    found = targets_at(tape, np.arange(n), n - 1, edges, horizon)
    for head, classes in expected.items():
        assert np.array_equal(found[head], classes), head


def test_a_target_is_masked_until_its_candle_has_closed() -> None:
    tape = Tape(market(40), MINUTE)
    for now in range(5, 39):
        found = targets_at(tape, np.arange(now + 1), now, Edges(), 3)
        assert found["candle"][-1] == MASKED
        assert found["candle"][-2] != MASKED
        assert (found["trend"][-3:] == MASKED).all()
        assert found["trend"][-4] != MASKED


def test_a_candle_reads_as_plain_data() -> None:
    tape = Tape(market(3), MINUTE)
    tape.append(one_candle(int(tape.time.newest()) + MINUTE, 1.0, 3.0, 0.5, 2.0, None))
    assert tape.candle(3) == {
        "time": int(tape.time[2]) + MINUTE, "open": 1.0, "high": 3.0, "low": 0.5, "close": 2.0, "volume": None,
    }  # fmt: skip


def test_a_row_is_found_by_its_open_time() -> None:
    tape = Tape(market(5), MINUTE)
    assert [tape.row_of(int(t)) for t in tape.time.values] == [0, 1, 2, 3, 4]
    assert tape.row_of(int(tape.time[2]) + 1) is None
    assert tape.row_of(int(tape.time.newest()) + MINUTE) is None


def test_rows_that_learning_let_go_of_leave_and_the_others_keep_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once, kept = 200, 100
    monkeypatch.setattr(tapes, "LEAST_GONE", at_once)
    monkeypatch.setattr(tapes, "LEAST_ROOM", at_once)
    candles = market(8 * at_once)
    whole, short = Tape(candles, MINUTE), Tape(candles.slice(0, kept), MINUTE)
    for row in range(kept, len(candles)):
        assert short.append(candles.slice(row, row + 1)) == row
        short.let_go(row - kept)
    first = short.time.first
    assert 4 * at_once < first <= len(candles) - kept
    assert len(short.time.values) < 4 * at_once
    rows = np.arange(first, len(candles))
    for name in NAMES:
        assert np.array_equal(getattr(short, name)[rows], getattr(whole, name)[rows]), name
    assert np.array_equal(short.rows[first + 5 : first + 9], whole.rows[first + 5 : first + 9])
    assert short.row_of(int(candles.time[first])) == first == short.row_from(int(candles.time[first]))
    assert short.row_of(int(candles.time[first - 1])) is None
    assert short.row_from(int(candles.time[first - 1])) == first
    for gone in (first - 1, np.array([first - 1, first]), slice(first - 1, first + 1)):
        with pytest.raises(IndexError, match="was let go"):
            short.time[gone]


def test_candles_without_numbers_are_left_out() -> None:
    candles = market(6)
    candles.close[2], candles.high[4] = np.nan, np.inf
    assert finite(candles).time.tolist() == candles.time[[0, 1, 3, 5]].tolist()
    assert [is_finite(candles.slice(i, i + 1)) for i in range(6)] == [True, True, False, True, False, True]
