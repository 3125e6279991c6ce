"""Times: every writing, unit, zone and order, and the questions they raise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.annotate.importing.asking import asked, ms, refused, table, times_of
from tests.annotate.importing.files import imported

WRITINGS = {
    "1704187800": "2024-01-02 09:30",
    "1704187800000": "2024-01-02 09:30",
    "1704187800000000": "2024-01-02 09:30",
    "1704187800000000000": "2024-01-02 09:30",
    "1704187800.0": "2024-01-02 09:30",
    "1.704187800e+09": "2024-01-02 09:30",
    "2024-01-02 09:30": "2024-01-02 09:30",
    "2024-01-02T09:30:00Z": "2024-01-02 09:30",
    "2024-01-02T09:30:00.0000000Z": "2024-01-02 09:30",
    "2024-01-02 09:30:00+09:00": "2024-01-02 00:30",
    "2024-01-02 09:30:00-0500": "2024-01-02 14:30",
    "2024-01-02 09:30:00 UTC": "2024-01-02 09:30",
    "2024-01-02 09:30:00 EST": "2024-01-02 14:30",
    "2024/1/2 9:30": "2024-01-02 09:30",
    "2024年1月2日 09:30": "2024-01-02 09:30",
    "20240102 093000": "2024-01-02 09:30",
    "20240102T093000Z": "2024-01-02 09:30",
    "202401020930": "2024-01-02 09:30",
    "20240102093000": "2024-01-02 09:30",
    "13.01.2024 09:30:00.000": "2024-01-13 09:30",
    "13/01/2024 09:30": "2024-01-13 09:30",
    "01/13/2024 9:30:00 AM": "2024-01-13 09:30",
    "1/13/24 9:30 pm": "2024-01-13 21:30",
    "13-Jan-2024 09:30": "2024-01-13 09:30",
    "13-Jan-24 09:30": "2024-01-13 09:30",
    '"Jan 13, 2024 09:30"': "2024-01-13 09:30",
    '"Sat, 13 Jan 2024 09:30:00 GMT"': "2024-01-13 09:30",
    "Sat Jan 13 2024 09:30:00 GMT+0100 (CET)": "2024-01-13 08:30",
    "2019-10-17 09-AM": "2019-10-17 09:00",
}


@pytest.mark.parametrize("text", WRITINGS)
def test_a_time_is_read_as_it_is_written(text: str, tmp_path: Path) -> None:
    assert times_of(tmp_path, table([text]), timeframe="1m") == [ms(WRITINGS[text])]


@pytest.mark.parametrize(
    "text", ["2024-13-01", "2024-02-30", "31.04.2024", "2024-01-02 25:00", "9999-01-01", "99999999999"]
)
def test_an_impossible_time_is_named_by_line_and_value(text: str, tmp_path: Path) -> None:
    error = refused(tmp_path, table([text, text]))
    assert (error.details["line"], error.details["column"], error.details["value"]) == (2, "time", text)


def test_one_bad_time_among_good_ones_is_named(tmp_path: Path) -> None:
    error = refused(tmp_path, table(["2024-01-01", "2024-01-02", "foo", "2024-01-04"]))
    assert (error.details["line"], error.details["value"]) == (4, "foo")


def test_a_bad_time_after_a_row_without_price_is_named_by_its_line(tmp_path: Path) -> None:
    data = table(["2024-01-01"]) + b"2024-01-02,,,,,5\n" + table(["2024-01-03", "foo"], header=None)
    assert refused(tmp_path, data).details["line"] == 5


def test_times_with_and_without_offset_do_not_mix(tmp_path: Path) -> None:
    assert refused(tmp_path, table(["2024-01-01T00:00:00Z", "2024-01-01T01:00:00"])).details["line"] == 3


def test_times_finer_than_a_millisecond_are_floored_and_counted(tmp_path: Path) -> None:
    data = table(["2024-04-11 12:25:59.487929+00:00", "2024-04-11 12:26:59.487+00:00"])
    found = imported(tmp_path, "a.csv", data)
    assert found.candles.time.tolist() == [ms("2024-04-11 12:25:59.487"), ms("2024-04-11 12:26:59.487")]
    assert found.report["finer_than_ms"] == 1


def test_dates_stay_their_dates_whatever_zone_is_given(tmp_path: Path) -> None:
    data = table(["2024-03-08", "2024-03-11"])
    assert times_of(tmp_path, data, zone="America/New_York") == [ms("2024-03-08"), ms("2024-03-11")]


def test_a_clock_without_zone_is_utc_and_the_report_says_so(tmp_path: Path) -> None:
    report = imported(tmp_path, "a.csv", table(["2024-01-02 09:30", "2024-01-02 09:31"])).report
    assert report["zone"] == "UTC"
    assert "taken as UTC" in report["zone_reason"]


ZONES = {
    "UTC": "2024-07-02 12:00",
    "+02:00": "2024-07-02 10:00",
    "UTC-3": "2024-07-02 15:00",
    "EST": "2024-07-02 17:00",
    "America/New_York": "2024-07-02 16:00",
    "Europe/Athens": "2024-07-02 09:00",
    "New York+7": "2024-07-02 09:00",
    "New York + 7": "2024-07-02 09:00",
}


@pytest.mark.parametrize("zone", ZONES)
def test_a_given_zone_moves_the_clock(zone: str, tmp_path: Path) -> None:
    assert times_of(tmp_path, table(["2024-07-02 12:00"]), zone=zone, timeframe="1m") == [ms(ZONES[zone])]


def test_new_york_plus_7_is_not_athens_between_their_clock_changes(tmp_path: Path) -> None:
    data = table(["2024-03-20 03:00"])
    assert times_of(tmp_path, data, zone="New York+7", timeframe="1m") == [ms("2024-03-20 00:00")]
    assert times_of(tmp_path, data, zone="Europe/Athens", timeframe="1m") == [ms("2024-03-20 01:00")]


@pytest.mark.parametrize("zone", ["Mars", "+25:00", "New York+", "../etc"])
def test_an_unknown_zone_is_refused_by_name(zone: str, tmp_path: Path) -> None:
    assert refused(tmp_path, table(["2024-07-02 12:00"]), zone=zone).details["value"] == zone


@pytest.mark.parametrize("newest_first", [False, True])
def test_the_hour_that_happens_twice_is_told_apart_by_order(newest_first: bool, tmp_path: Path) -> None:
    clocks = ["00:00", "00:30", "01:00", "01:30", "01:00", "01:30", "02:00"]
    times = [f"2024-11-03 {clock}" for clock in clocks]
    data = table(reversed(times) if newest_first else times)
    found = imported(tmp_path, "a.csv", data, {"zone": "America/New_York"})
    first = ms("2024-11-03 04:00")
    assert found.candles.time.tolist() == [first + at * 1_800_000 for at in range(7)]
    assert any("happened twice" in note for note in found.report["notes"])


def test_a_clock_that_the_zone_skipped_is_named(tmp_path: Path) -> None:
    data = table(["2024-03-10 01:00", "2024-03-10 02:00", "2024-03-10 03:00"])
    assert refused(tmp_path, data, zone="America/New_York").details["line"] == 3


def test_days_and_months_are_told_apart_by_values_dots_and_steps(tmp_path: Path) -> None:
    assert times_of(tmp_path, table(["13/01/2024", "14/01/2024"]))[0] == ms("2024-01-13")
    assert times_of(tmp_path, table(["1/13/2024", "1/14/2024"]))[0] == ms("2024-01-13")
    assert times_of(tmp_path, table(["03.11.2025 00:00", "03.11.2025 01:00"]))[0] == ms("2025-11-03")
    hours = [f"02/03/2024 {hour}:00" for hour in (21, 22, 23)] + [f"03/03/2024 0{hour}:00" for hour in range(3)]
    assert times_of(tmp_path, table(hours))[0] == ms("2024-03-02 21:00")


def test_days_and_months_are_asked_about_when_both_fit(tmp_path: Path) -> None:
    data = table([f"{day:02d}/01/2024" for day in range(1, 9)])
    assert asked(tmp_path, data) == {"date_order": "day_first"}
    assert times_of(tmp_path, data, date_order="day_first")[1] == ms("2024-01-02")
    assert times_of(tmp_path, data, date_order="month_first")[1] == ms("2024-02-01")


def test_a_date_among_others_keeps_the_order_of_the_file(tmp_path: Path) -> None:
    times = times_of(tmp_path, table(["23.09.2021", "05.09.2021", "24.10.2021"]))
    assert times == [ms("2021-09-05"), ms("2021-09-23"), ms("2021-10-24")]


def test_spreadsheet_days_are_asked_about(tmp_path: Path) -> None:
    data = table([45292, 45293, 45294])
    assert asked(tmp_path, data) == {"small_times": "days"}
    assert times_of(tmp_path, data, small_times="days")[0] == ms("2024-01-01")


@pytest.mark.parametrize(
    "times", [["1.60E+12", "1.60E+12"], ["1.717373E+12", "1.717376E+12"], ["1.7173728E+12", "1.7173730E+12"]]
)
def test_an_epoch_that_lost_its_digits_is_refused(times: list[str], tmp_path: Path) -> None:
    assert "lost its last digits" in refused(tmp_path, table(times)).message
    rows = [[float(time) if at == 0 else 1.0 for at in range(6)] for time in times]
    text = json.dumps(rows)
    for time in times:
        text = text.replace(str(float(time)), time)
    assert "lost its last digits" in refused(tmp_path, text.encode(), "a.json").message


@pytest.mark.parametrize("times", [["1.7356896e+09"], ["1.7356896e+09", "1.7356932e+09", "1.7356968E+09"]])
def test_short_exponents_on_the_grid_of_a_timeframe_lost_nothing(times: list[str], tmp_path: Path) -> None:
    assert times_of(tmp_path, table(times), timeframe="1h") == [
        ms("2025-01-01") + 3_600_000 * at for at in range(len(times))
    ]


def test_small_numbers_are_asked_about_and_the_report_doubts_them(tmp_path: Path) -> None:
    data = table([1, 3, 2, 5, 4])
    assert asked(tmp_path, data) == {"small_times": "seconds"}
    found = imported(tmp_path, "a.csv", data, {"small_times": "seconds"})
    assert found.candles.time.tolist() == [1000, 2000, 3000, 4000, 5000]
    assert found.report["out_of_order"] == {"count": 2, "lines": [4, 6]}
    assert any("before 1973" in note for note in found.report["notes"])


STOOQ = "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>"


def test_stooq_clocks_get_their_zeros_back(tmp_path: Path) -> None:
    data = table([f"ABC,1,20240102,{clock}" for clock in (0, 100, 200)], header=STOOQ)
    assert times_of(tmp_path, data) == [ms(f"2024-01-02 00:0{minute}") for minute in range(3)]


def test_clocks_of_other_files_without_zeros_are_asked_about(tmp_path: Path) -> None:
    data = table([f"20240102,{clock}" for clock in (930, 931, 1000)], header="date,time,open,high,low,close,volume")
    assert asked(tmp_path, data) == {"clock_digits": "4"}
    assert times_of(tmp_path, data, clock_digits="4")[0] == ms("2024-01-02 09:30")


def test_a_file_with_only_ends_opens_its_candles_one_step_earlier(tmp_path: Path) -> None:
    data = table(["1704067259999", "1704067319999"], header="close_time,open,high,low,close,volume")
    found = imported(tmp_path, "a.csv", data)
    assert found.candles.time.tolist() == [1704067200000, 1704067260000]
    assert any("end of each candle" in note for note in found.report["notes"])


NINJA = b"20240102 093100;1;2;0.5;1.5;9\n20240102 093200;1;2;0.5;1.5;9\n"


def test_ninjatrader_ends_are_asked_about_and_never_moved_unasked(tmp_path: Path) -> None:
    assert asked(tmp_path, NINJA, "SPY.txt") == {"zone": "UTC", "stamp": "open"}
    assert times_of(tmp_path, NINJA, "SPY.txt", zone="UTC", stamp="open")[0] == ms("2024-01-02 09:31")
    assert times_of(tmp_path, NINJA, "SPY.txt", zone="UTC", stamp="close")[0] == ms("2024-01-02 09:30")


BROKER_ROWS = "2024.07.02,09:30,1,2,0.5,1.5,9\n2024.07.02,09:31,1,2,0.5,1.5,9\n"
BROKERS = {
    "metatrader 4": BROKER_ROWS,
    "metatrader with header": f"Date,Time,Open,High,Low,Close,Volume\n{BROKER_ROWS}",
}


@pytest.mark.parametrize("layout", BROKERS)
def test_a_brokers_clock_is_asked_about(layout: str, tmp_path: Path) -> None:
    data = BROKERS[layout].encode()
    assert asked(tmp_path, data) == {"zone": "New York+7"}
    assert times_of(tmp_path, data, zone="New York+7")[0] == ms("2024-07-02 06:30")


def test_a_brokers_daily_candles_are_dates_and_need_no_zone(tmp_path: Path) -> None:
    data = b"2022.09.29,00:00,1,2,0.5,1.5,4\n2022.09.30,00:00,1,2,0.5,1.5,4\n"
    assert times_of(tmp_path, data) == [ms("2022-09-29"), ms("2022-09-30")]


def test_histdata_is_fixed_eastern_time_without_a_question(tmp_path: Path) -> None:
    data = b"20120702 000000;1.1;1.2;1.0;1.15;0\n20120702 000100;1.1;1.2;1.0;1.15;0\n"
    assert times_of(tmp_path, data)[0] == ms("2012-07-02 05:00")
