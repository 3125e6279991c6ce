"""Rows and cells: numbers in every writing, blanks, duplicates, order, broken candles, columns and symbols."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.annotate.importing.asking import HEADER, asked, refused, table
from tests.annotate.importing.files import all_imported, imported

DAY = 86_400_000
NUMBERS = {
    "9.75": 9.75,
    "9": 9.0,
    ".5": 0.5,
    "+1.5": 1.5,
    "1.1632500000000001": 1.1632500000000001,
    "1e-8": 1e-8,
    "$5.25": 5.25,
    "5.25 €": 5.25,
    '"1,234.5"': 1234.5,
    '"12,34,567.5"': 1234567.5,
    "1'234.5": 1234.5,
    "27.41K": 27410.0,
    "107.07M": 107070000.0,
    "1.5B": 1.5e9,
}


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_is_read_as_it_is_written(text: str, tmp_path: Path) -> None:
    found = imported(
        tmp_path, "a.csv", table(["2024-01-01", "2024-01-02"], cells=f"{text},{text},{text},{text},{text}")
    )
    assert found.candles.close.tolist() == found.candles.volume.tolist() == [NUMBERS[text]] * 2


@pytest.mark.parametrize("text", ["abc", "1_0", "0x1F", "12%", "(5)", "--1", '"1,23"', "1.2.3", "１２"])
def test_a_cell_that_is_no_number_is_named(text: str, tmp_path: Path) -> None:
    data = (
        table(["2024-01-01", "2024-01-02"], cells="1.55,2.55,0.55,1.55,9") + f"2024-01-03,1,2,0.5,{text},9\n".encode()
    )
    error = refused(tmp_path, data)
    assert (error.details["line"], error.details["column"], error.details["value"]) == (4, "close", text.strip('"'))


def test_decimal_commas_and_dots_between_thousands(tmp_path: Path) -> None:
    found = imported(
        tmp_path,
        "a.csv",
        b"t;open;high;low;close\n2023;9,75;10;9;9,75\n2024;1.009,75;1.010;1.000,5;1.009,75\n",
        {"small_times": "years"},
    )
    assert found.candles.open.tolist() == [9.75, 1009.75]
    assert found.candles.low.tolist() == [9.0, 1000.5]


def test_a_comma_that_fits_both_readings_is_asked_about(tmp_path: Path) -> None:
    data = b"t;open;high;low;close\n2024-01;1,234;1,300;1,200;1,250\n2024-02;1,234;1,300;1,200;1,250\n"
    assert asked(tmp_path, data) == {"decimal_comma": "decimal"}
    assert imported(tmp_path, "a.csv", data, {"decimal_comma": "decimal"}).candles.open[0] == 1.234
    assert imported(tmp_path, "a.csv", data, {"decimal_comma": "thousands"}).candles.open[0] == 1234.0


@pytest.mark.parametrize("blank", ["", "null", "NULL", "NaN", "nan", "-", "N/A"])
def test_a_row_with_a_blank_price_is_left_out_and_listed(blank: str, tmp_path: Path) -> None:
    data = table(["2024-01-01"]) + f"2024-01-02,1,2,{blank},1,5\n".encode() + table(["2024-01-03"], header=None)
    report = imported(tmp_path, "a.csv", data, {"timeframe": "1d"}).report
    assert report["dropped"] == {"blank price": {"count": 1, "lines": [3]}}
    assert (report["rows_read"], report["rows_kept"], report["gaps"]["missing_candles"]) == (3, 2, 1)


@pytest.mark.parametrize("text", ["inf", "-Infinity", "1e400"])
def test_a_price_that_is_not_finite_is_left_out_and_listed(text: str, tmp_path: Path) -> None:
    data = table(["2024-01-01", "2024-01-02"]) + f"2024-01-03,1,{text},0.5,1,5\n".encode()
    assert imported(tmp_path, "a.csv", data).report["dropped"] == {"price not finite": {"count": 1, "lines": [4]}}


def test_blank_extra_columns_and_blank_volumes_drop_no_candle(tmp_path: Path) -> None:
    data = b"Date,Open,High,Low,Close,Volume,Adj Close\n2024-01-01,1,2,0.5,1,null,\n2024-01-02,1,2,0.5,1,5,\n"
    found = imported(tmp_path, "a.csv", data)
    assert len(found.candles) == 2
    assert found.report["null_volumes"] == 1
    assert np.isnan(found.candles.volume[0])


def test_empty_lines_and_lines_of_spaces_keep_the_line_numbers_true(tmp_path: Path) -> None:
    data = table(["2024-01-01"]) + b"   \n" + table(["2024-01-02"], header=None) + b"\n\r\n2024-01-03,1,2,0.5,x,5\n"
    assert refused(tmp_path, data).details["line"] == 7


def test_equal_rows_are_counted_and_kept_once(tmp_path: Path) -> None:
    report = imported(tmp_path, "a.csv", table(["2024-01-01", "2024-01-02", "2024-01-02", "2024-01-03"])).report
    assert report["duplicates"]["exact"] == 1
    assert report["dropped"] == {"exact duplicate": {"count": 1, "lines": [4]}}


@pytest.mark.parametrize(
    ("rule", "volume", "kept"), [("last", 7.0, 5), ("first", 100.0, 3), ("larger_volume", 500.0, 4)]
)
def test_conflicting_rows_follow_the_stated_rule_and_are_listed(
    rule: str, volume: float, kept: int, tmp_path: Path
) -> None:
    rows = b"2024-01-02,1,2,0.5,1,500\n2024-01-02,1,2,0.5,1,7\n2024-01-03,1,2,0.5,1,9\n"
    found = imported(tmp_path, "a.csv", table(["2024-01-01", "2024-01-02"]) + rows, {"duplicates": rule})
    assert found.candles.volume[1] == volume
    (item,) = found.report["duplicates"]["items"]
    assert (item["lines"], item["kept"]) == ([3, 4, 5], kept)


def test_the_last_of_conflicting_rows_is_kept_by_default(tmp_path: Path) -> None:
    found = imported(tmp_path, "a.csv", table(["2024-01-01", "2024-01-02"]) + b"2024-01-02,1,2,0.5,1,7\n")
    assert found.candles.volume[1] == 7.0
    assert found.report["duplicates"]["rule"] == "last"


def test_interleaved_days_are_sorted_and_counted(tmp_path: Path) -> None:
    report = imported(tmp_path, "a.csv", table(["2024-01-01", "2024-01-03", "2024-01-02", "2024-01-04"])).report
    assert report["order"] == "unsorted"
    assert report["out_of_order"] == {"count": 1, "lines": [4]}


BROKEN = table(["2024-01-01"]) + b"2024-01-02,10,9,11,10,5\n" + table(["2024-01-03"], header=None)


def test_a_candle_that_breaks_the_high_low_rule_is_kept_and_flagged(tmp_path: Path) -> None:
    found = imported(tmp_path, "a.csv", BROKEN)
    assert (found.candles.high[1], found.candles.low[1]) == (9.0, 11.0)
    assert found.report["violations"] == {"count": 1, "lines": [3]}


def test_broken_candles_can_be_left_out_or_refused(tmp_path: Path) -> None:
    left_out = imported(tmp_path, "a.csv", BROKEN, {"violations": "leave_out"})
    assert len(left_out.candles) == 2
    assert left_out.report["dropped"]["breaks the high/low rule"]["lines"] == [3]
    assert refused(tmp_path, BROKEN, violations="refuse").details["line"] == 3


def test_leaving_out_every_candle_is_refused(tmp_path: Path) -> None:
    data = table(["2024-01-01", "2024-01-02"], cells="10,9,11,10,5")
    assert "none stays" in refused(tmp_path, data, violations="leave_out").message


def test_prices_of_zero_or_less_are_kept_and_flagged(tmp_path: Path) -> None:
    data = b"date,open,high,low,close\n2020-04-20,17.73,17.85,-40.32,-37.63\n2020-04-21,1,2,0.5,1.5\n"
    found = imported(tmp_path, "a.csv", data)
    assert found.candles.close[0] == -37.63
    assert found.report["not_positive"] == {"count": 1, "lines": [2]}


def test_adjusted_and_decoy_closes_are_not_the_close(tmp_path: Path) -> None:
    data = b"Date,Adj Close,Open,High,Low,Close,Optix_Close\n2024-01-01,3,1,2,0.5,1.5,9\n2024-01-02,3,1,2,0.5,1.5,9\n"
    assert imported(tmp_path, "a.csv", data).candles.close.tolist() == [1.5, 1.5]


def test_a_last_trade_and_a_settlement_are_asked_about(tmp_path: Path) -> None:
    data = b"Date,Open,High,Low,Last,Settle\n2024-01-01,1,2,0.5,1.5,1.4\n2024-01-02,1,2,0.5,1.5,1.4\n"
    assert asked(tmp_path, data) == {"column_close": "5"}
    assert imported(tmp_path, "a.csv", data, {"column_close": "Settle"}).candles.close[0] == 1.4


@pytest.mark.parametrize("time", ["2024-01-02 10:00:00-05:00", "2024-01-02", "02.01.2024 10:00"])
def test_a_column_of_times_that_is_taken_for_prices_is_named(time: str, tmp_path: Path) -> None:
    error = refused(tmp_path, table([time, time]), column_close="time", timeframe="1d")
    assert (error.details["line"], error.details["column"], error.details["value"]) == (2, "time", time)


def test_times_under_the_name_of_a_price_are_not_taken_for_it(tmp_path: Path) -> None:
    rows = "".join(f"2024-06-0{day},1.5,2,0.5,1,9\n" for day in (3, 4))
    data = f"Price,Letzter!,High,Low,Open,Volume\nTicker,SPY,SPY,SPY,SPY,SPY\nDate,,,,,\n{rows}".encode()
    assert asked(tmp_path, data) == {"column_close": "2"}
    assert imported(tmp_path, "a.csv", data, {"column_close": "2"}).candles.close.tolist() == [1.5, 1.5]


def test_unknown_names_are_asked_about_in_order(tmp_path: Path) -> None:
    data = table(["2024-01-01", "2024-01-02"], header="a,b,c,d,e,f")
    likely = asked(tmp_path, data)
    assert likely == {f"column_{role}": str(at) for at, role in enumerate(("time", "open", "high", "low", "close"), 1)}
    assert imported(tmp_path, "a.csv", data, likely).candles.high[0] == 11.25


def test_another_order_of_columns_is_asked_about_without_a_header(tmp_path: Path) -> None:
    data = table([1704067200, 1704067260], header=None, cells="9,11,10.5,10,100")
    assert asked(tmp_path, data) == {"column_order": "low, high, open, close, volume"}


def test_digits_after_a_date_are_a_clock_or_a_price_as_the_high_low_rule_says(tmp_path: Path) -> None:
    clocks = b"01/13/2024,930,1,2,0.5,1.5,9\n01/13/2024,931,1,2,0.5,1.5,9\n"
    assert imported(tmp_path, "a.csv", clocks, {"clock_digits": "4"}).candles.open[0] == 1.0
    prices = b"2024-01-13,1031,1040,1020,1035,500,1\n2024-01-14,1031,1040,1020,1035,500,1\n"
    assert imported(tmp_path, "a.csv", prices).candles.high[0] == 1040.0


def test_a_header_one_name_short_packs_date_and_clock(tmp_path: Path) -> None:
    data = b"Date,Open,High,Low,Close\n2024-01-02,09:01:00,1,2,0.5,1.5\n2024-01-02,09:02:00,1,2,0.5,1.5\n"
    assert imported(tmp_path, "a.csv", data).candles.open.tolist() == [1.0, 1.0]


def test_a_header_of_another_width_is_refused(tmp_path: Path) -> None:
    data = b"Date,Open,High,Low,Close\n2024-01-02,7,1,2,0.5,1.5\n2024-01-03,7,1,2,0.5,1.5\n"
    assert "5 names" in refused(tmp_path, data).message


def test_a_remark_at_the_end_is_passed_over_and_listed(tmp_path: Path) -> None:
    data = table(["2024-01-01", "2024-01-02"]) + b'"Downloaded from somewhere as of today"\n'
    assert imported(tmp_path, "a.csv", data).report["dropped"] == {"remark": {"count": 1, "lines": [4]}}


@pytest.mark.parametrize("row", ["2024-01-02,1,2", "2024-01-02,1,2,0.5,1,5,7"])
def test_a_row_of_another_width_is_named(row: str, tmp_path: Path) -> None:
    data = table(["2024-01-01"]) + f"{row}\n".encode() + table(["2024-01-03"], header=None)
    assert refused(tmp_path, data).details["line"] == 3


def test_a_quote_that_swallows_lines_is_refused(tmp_path: Path) -> None:
    days = [f"2024-01-0{day},1,2,0.5,1,5" for day in range(1, 6)]
    open_quote = [HEADER, days[0], '2024-01-02,1,2,0.5,1,"5', *days[2:]]
    assert refused(tmp_path, "\n".join(open_quote).encode()).details["line"] == 3
    noted = [f"{HEADER},note", f"{days[0]},", f'{days[1]},"a', f"{days[2]},", f'{days[3]},b"', f"{days[4]},"]
    assert refused(tmp_path, "\n".join(noted).encode()).details["line"] == 3
    stray = [HEADER, days[0], f'{days[1]}"', *days[2:]]
    assert refused(tmp_path, "\n".join(stray).encode()).details["value"] == '5"'


MANY = (
    b"date,open,high,low,close,Name\n2024-01-01,1,2,0.5,1,A\n2024-01-01,3,4,2,3,B\n"
    b"2024-01-02,1,2,0.5,1,A\n2024-01-02,3,4,2,3,B\n"
)


def test_several_symbols_become_several_series_after_asking(tmp_path: Path) -> None:
    assert asked(tmp_path, MANY) == {"symbols": "all"}
    both = all_imported(tmp_path, "a.csv", MANY, {"symbols": "all"})
    assert [(each.symbol, each.candles.open.tolist()) for each in both] == [("A", [1.0, 1.0]), ("B", [3.0, 3.0])]
    assert [each.symbol for each in all_imported(tmp_path, "a.csv", MANY, {"symbols": "B"})] == ["B"]


def test_a_two_level_header_of_tickers_becomes_several_series(tmp_path: Path) -> None:
    data = (
        b"Price,Close,Close,High,High,Low,Low,Open,Open\nTicker,A,B,A,B,A,B,A,B\nDate,,,,,,,,\n"
        b"2024-01-01,1,10,2,20,0.5,5,1.5,15\n2024-01-02,1,10,2,20,0.5,5,1.5,15\n"
    )
    both = all_imported(tmp_path, "a.csv", data, {"symbols": "all"})
    assert [(each.symbol, each.candles.close[0], each.candles.open[0]) for each in both] == [
        ("A", 1, 1.5),
        ("B", 10, 15),
    ]


def test_lists_by_symbol_in_json_are_never_joined(tmp_path: Path) -> None:
    bars = [{"t": f"2024-01-0{day}T00:00:00Z", "o": 1, "h": 2, "l": 0.5, "c": 1.5} for day in (1, 2)]
    data = json.dumps({"bars": {"A": bars, "B": bars}}).encode()
    assert [each.symbol for each in all_imported(tmp_path, "a.json", data, {"symbols": "all"})] == ["A", "B"]


def test_candles_that_still_form_are_left_out_and_listed(tmp_path: Path) -> None:
    rows = [[str(1704067200000 - at * 60_000), "1", "2", "0.5", "1.5", "9", "1", "1", "01"[at > 0]] for at in range(3)]
    report = imported(tmp_path, "a.json", json.dumps({"code": "0", "data": rows}).encode()).report
    assert report["dropped"] == {"still forming": {"count": 1, "lines": [1]}}
    kraken = [[1704067200 + at * 60, "1", "2", "0.5", "1.5", "1.1", "9", 3] for at in range(3)]
    tree = {"error": [], "result": {"XXBTZUSD": kraken, "last": 1704067260}}
    report = imported(tmp_path, "a.json", json.dumps(tree).encode()).report
    assert report["dropped"] == {"still forming": {"count": 1, "lines": [3]}}


def test_the_zone_that_a_json_states_is_taken(tmp_path: Path) -> None:
    prices = {"open": "1", "high": "2", "low": "0.5", "close": "1.5"}
    values = [{"datetime": f"2024-01-02 09:3{minute}:00", **prices} for minute in (0, 1)]
    tree = {"meta": {"symbol": "AAPL", "exchange_timezone": "America/New_York"}, "values": values}
    found = imported(tmp_path, "a.json", json.dumps(tree).encode())
    assert (found.candles.time[0], found.zone) == (1704205800000, "America/New_York")
