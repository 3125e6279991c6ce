"""What trades bring: the example of the issue to the last digit, stops, targets, gaps, and what could be known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from annotate.annotations.fields import Fields
from annotate.annotations.worth import Costs, Worth, totals
from annotate.candles import Candles
from annotate.errors import InvalidInput
from annotate.models import Json
from tests.annotate.annotations.builders import HOUR, START, trade

NONE = Costs(0.0, 0.0)


def candles(**changed: dict[int, float]) -> Candles:
    """Forty hours at a price of 101 that reach from 100.5 to 101.5, but for what is changed at a place."""
    n = 40
    columns = {"open": 101.0, "high": 101.5, "low": 100.5, "close": 101.0}
    made = {name: np.full(n, value) for name, value in columns.items()}
    for name, values in changed.items():
        for place, value in values.items():
            made[name][place] = value
    return Candles(START + np.arange(n, dtype=np.int64) * HOUR, **made, volume=np.full(n, 1.0))


def mark(entry: int = 10, exit_: int = 20, **fields: Any) -> Json:
    """A stored trade of hindsight."""
    facts = {
        "id": "7d0e",
        "author": "me",
        "mode": "hindsight",
        "decided_at": START + 40 * HOUR,
        "entry_decided_at": None,
    }
    return {**facts, "stop": None, "target": None, **trade(entry, exit_), **fields}


def result(held: Candles, costs: Costs = NONE, **fields: Any) -> Json:
    return Worth(held, "1h", costs).of(mark(**fields))


def test_a_long_decided_at_candle_10_and_left_at_20_brings_2_7942_percent() -> None:
    found = result(candles(open={11: 100.0, 21: 103.0}), Costs(fee_bps=10.0))
    assert f"{found['return']:+.4%}" == "+2.7942%"
    assert (found["state"], found["reason"], found["candles"]) == ("closed", "exit", 10)
    assert found["entry"] == {"time": START + 11 * HOUR, "price": 100.0}
    assert found["exit"] == {"time": START + 21 * HOUR, "price": 103.0}


def test_a_short_gains_where_the_price_falls() -> None:
    found = result(candles(open={11: 100.0, 21: 97.0}), side="short")
    assert found["return"] == pytest.approx(0.03)
    after_costs = result(candles(open={11: 100.0, 21: 97.0}), Costs(10.0, 5.0), side="short")
    assert after_costs["return"] == pytest.approx(1 - 97 * 1.001 * 1.0005 / (100 * 0.999 * 0.9995))


def test_slippage_makes_both_fills_worse() -> None:
    found = result(candles(open={11: 100.0, 21: 103.0}), Costs(fee_bps=0.0, slippage_bps=100.0))
    assert found["return"] == pytest.approx(103 * 0.99 / (100 * 1.01) - 1)


def test_a_stop_ends_the_trade_in_the_candle_that_reaches_it() -> None:
    found = result(candles(open={11: 100.0}, low={15: 97.0}), stop=98.0)
    assert (found["reason"], found["exit"]) == ("stop", {"time": START + 15 * HOUR, "price": 98.0})
    assert found["return"] == pytest.approx(-0.02)
    assert (found["r"], found["candles"]) == (pytest.approx(-1.0), 5)
    assert found["mae"] == pytest.approx(-0.02)


def test_a_target_ends_it_at_its_price() -> None:
    found = result(candles(open={11: 100.0}, high={13: 107.0}), stop=98.0, target=104.0)
    assert (found["reason"], found["exit"]["price"], found["r"]) == ("target", 104.0, pytest.approx(2.0))
    assert found["mfe"] == pytest.approx(0.04)


def test_where_one_candle_reaches_both_the_stop_counts() -> None:
    found = result(candles(open={11: 100.0}, high={15: 110.0}, low={15: 97.0}), stop=98.0, target=104.0)
    assert (found["reason"], found["exit"]["price"]) == ("stop", 98.0)
    assert found["mfe"] == pytest.approx(0.015)  # the high of that candle may have come after the stop


def test_a_candle_that_opens_beyond_a_stop_or_a_target_fills_at_its_open() -> None:
    gap_down = result(candles(open={11: 100.0, 15: 95.0}, low={15: 94.0}), stop=98.0)
    gap_up = result(candles(open={11: 100.0, 15: 106.0}, high={15: 107.0}), target=104.0)
    assert (gap_down["exit"]["price"], gap_up["exit"]["price"]) == (95.0, 106.0)
    short = result(candles(open={11: 100.0, 15: 106.0}, high={15: 107.0}), side="short", stop=104.0)
    assert (short["reason"], short["exit"]["price"]) == ("stop", 106.0)


def test_the_stop_can_be_reached_in_the_candle_of_the_entry() -> None:
    found = result(candles(open={11: 100.0}, low={11: 97.0}), stop=98.0)
    assert (found["exit"]["time"], found["candles"]) == (START + 11 * HOUR, 1)


def test_best_and_worst_are_shares_of_the_entry_price_while_held() -> None:
    found = result(
        candles(open={11: 100.0, 21: 103.0}, high={10: 300.0, 18: 105.0, 21: 200.0}, low={12: 96.0, 22: 1.0})
    )
    assert (found["mfe"], found["mae"]) == (pytest.approx(0.05), pytest.approx(-0.04))
    short = result(candles(open={11: 100.0}, high={18: 105.0}, low={12: 96.0}), side="short")
    assert (short["mfe"], short["mae"]) == (pytest.approx(0.04), pytest.approx(-0.05))


def test_a_fill_waits_for_the_next_candle_and_a_trade_without_a_later_one_is_open() -> None:
    assert result(candles(), entry=39, exit_=39)["state"] == "waiting"
    assert result(candles(), entry=38, exit_=39)["state"] == "open"
    opened = result(candles(high={39: 111.1}), entry=30, exit_=30)
    assert (opened["state"], opened["return"], opened["candles"]) == ("open", None, 9)
    assert opened["mfe"] == pytest.approx(0.1)


def test_in_a_replay_nothing_fills_before_the_moment_it_was_decided() -> None:
    late: Json = {"mode": "replay", "entry_decided_at": START + 16 * HOUR, "decided_at": START + 26 * HOUR}
    found = result(candles(open={16: 100.0, 26: 103.0}), **late)
    assert (found["entry"]["price"], found["exit"]["price"]) == (100.0, 103.0)


def test_a_stop_on_the_wrong_side_gives_no_r_and_no_price_below_zero_gives_a_share() -> None:
    assert result(candles(open={11: 100.0}), stop=200.0)["r"] is None
    below = candles(open={11: -3.0, 21: -2.0})
    assert [result(below)[name] for name in ("return", "mfe", "mae")] == [None, None, None]


def test_totals_compare_labels_authors_and_modes() -> None:
    worth = Worth(candles(open={11: 100.0, 21: 103.0, 31: 99.0}), "1h", NONE)
    marks = [mark(10, 20), mark(10, 30, label="Short", author="Ben"), mark(39, 39, mode="replay")]
    summed = totals([worth.of(each) for each in marks])
    assert summed["all"] == {
        "name": "all", "trades": 3, "closed": 2, "won": 1,
        "sum": pytest.approx(0.02), "mean": pytest.approx(0.01), "mean_r": None,
    }  # fmt: skip
    assert [(each["name"], each["trades"], each["closed"]) for each in summed["mode"]] == [
        ("hindsight", 2, 2), ("replay", 1, 0),
    ]  # fmt: skip
    assert [each["name"] for each in summed["author"]] == ["Ben", "me"]
    assert totals([])["all"]["mean"] is None


@pytest.mark.parametrize("body", [{"fee_bps": -1}, {"fee_bps": 2_000}, {"slippage_bps": "1"}, {"fee": 1}])
def test_costs_out_of_their_limits_are_refused(body: Json) -> None:
    with pytest.raises(InvalidInput):
        Costs.from_fields(Fields(body))
