"""Files that a hasty reader takes for something else without a word: each is read right, asked about or refused."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tests.annotate.importing.asking import asked, refused, table, times_of
from tests.annotate.importing.files import DAY, HOUR, Row, all_imported, assert_holds, imported, lines, rows

HOURS = [Row(*(row.time, *row.prices), "5") for row in rows(480)]
DAYS = [Row(*(row.time, *row.prices), "5") for row in rows(70, step=DAY)]
HEADER = "Date,Open,High,Low,Close,Volume"


def written(candles: list[Row], time: Callable[[Row], object], header: str = HEADER, delimiter: str = ",") -> bytes:
    cells = [(time(row), *row.prices, row.volume) for row in candles]
    return lines(header.replace(",", delimiter), cells, delimiter)


@pytest.mark.parametrize(
    "layout", ["%y/%m/%d", "%y.%m.%d", "%y-%m-%d", "%d/%m/%y", "%d.%m.%y", "%m/%d/%y", "%m-%d-%y", "%y%m%d 00:00"]
)
@pytest.mark.parametrize("candles", [DAYS, DAYS[:9]], ids=["70 days", "9 days"])
def test_a_year_of_two_digits_may_stand_at_either_end(layout: str, candles: list[Row], tmp_path: Path) -> None:
    data = written(candles, lambda row: row.clock(layout))
    answers = {} if candles is DAYS else asked_order(tmp_path, data)
    assert_holds(imported(tmp_path, "a.csv", data, answers), candles)


def asked_order(folder: Path, data: bytes) -> dict[str, str]:
    """Give the likely order where it is asked; nine days of June leave open which place is the month."""
    try:
        return asked(folder, data)
    except pytest.fail.Exception:
        return {}


def test_a_single_date_of_three_short_numbers_is_asked_about_in_every_order(tmp_path: Path) -> None:
    data = table(["03/06/24"])
    assert set(asked(tmp_path, data)) == {"date_order"}
    read = {
        order: times_of(tmp_path, data, date_order=order)[0] for order in ("day_first", "month_first", "year_first")
    }
    assert [pd.Timestamp(ms, unit="ms").date().isoformat() for ms in read.values()] == [
        "2024-06-03",
        "2024-03-06",
        "2003-06-24",
    ]


def test_one_day_above_twelve_among_many_rows_tells_the_order(tmp_path: Path) -> None:
    times = [f"{day:02}/05/2024" for day in (*[6, 5] * 50, 13)]
    found = times_of(tmp_path, table(times), duplicates="last")
    assert [pd.Timestamp(ms, unit="ms").day for ms in found] == [5, 6, 13]
    mixed = [f"{day:02}/05/24" for day in range(1, 29)] * 2 + ["45/05/24"]
    assert refused(tmp_path, table(mixed)).details["value"] == "45/05/24"


COUNTS: dict[str, tuple[Callable[[Row], object], list[Row], dict[str, str]]] = {
    "minutes since 1970": (lambda row: row.time // 60_000, HOURS, {"small_times": "minutes"}),
    "dates of six digits": (lambda row: row.clock("%y%m%d"), DAYS, {"small_times": "dates"}),
    "days of a spreadsheet": (lambda row: 25_569 + row.time // DAY, DAYS, {"small_times": "days"}),
    "days since the year 1": (lambda row: 719_163 + row.time // DAY, DAYS, {"small_times": "ordinal"}),
    "days of MATLAB": (lambda row: f"{719_529 + row.time / DAY:.10f}", HOURS, {"small_times": "datenum"}),
    "Julian days": (lambda row: f"{2_440_587.5 + row.time / DAY:.1f}", DAYS, {"small_times": "julian"}),
    ".NET ticks": (lambda row: 621_355_968 * 10**9 + row.time * 10_000, HOURS, {"ticks_since": "0001"}),
    "Windows file times": (lambda row: 116_444_736 * 10**9 + row.time * 10_000, HOURS, {"ticks_since": "1601"}),
}


@pytest.mark.parametrize("count", COUNTS)
def test_numbers_that_count_from_elsewhere_are_asked_about(count: str, tmp_path: Path) -> None:
    time, candles, likely = COUNTS[count]
    data = written(candles, time)
    assert asked(tmp_path, data) == likely
    found = imported(tmp_path, "a.csv", data, likely)
    assert found.candles.time.tolist() == [row.time for row in candles]


def test_the_numbers_of_rows_are_no_times(tmp_path: Path) -> None:
    data = lines("index,open,high,low,close", [(at, *row.prices) for at, row in enumerate(DAYS)])
    assert "count the rows" in refused(tmp_path, data, column_time="1").message


@pytest.mark.parametrize("header", [HEADER, None])
def test_columns_that_break_the_rule_throughout_are_asked_about(header: str | None, tmp_path: Path) -> None:
    # Phemex sends the length of a candle and the last close before the four prices.
    scaled = [[float(price) * 10_000 for price in row.prices] for row in HOURS]
    cells = [[row.time // 1000, 3600, prices[0], *prices, 5] for row, prices in zip(HOURS, scaled, strict=True)]
    data = json.dumps(cells).encode()
    if header:
        data = written(
            [Row(row.time, row.high, row.open, row.close, row.low, "5") for row in DAYS], lambda row: row.time
        )
    assert asked(tmp_path, data, "a.csv" if header else "a.json") == {"violations": "refuse"}


@pytest.mark.parametrize("apostrophe", ["'", "’"])
def test_thirty_seconds_are_no_thousands(apostrophe: str, tmp_path: Path) -> None:
    prices = [f"110{apostrophe}{part}" for part in ("165", "215", "005", "12")]
    assert "thirty-seconds" in refused(tmp_path, lines(HEADER, [("2024-01-01", *prices, 5)])).message
    swiss = [f"21{apostrophe}{part}" for part in ("165", "215", "005", "129")]
    assert imported(tmp_path, "a.csv", lines(HEADER, [("2024-01-01", *swiss, 5)])).candles.high[0] == 21_215


def test_the_start_of_a_period_is_no_time_of_a_first_trade(tmp_path: Path) -> None:
    header = "time_period_start;time_period_end;time_open;time_close;price_open;price_high;price_low;price_close"
    ends = ("%Y-%m-%dT%H:00:00.0000000Z", "%Y-%m-%dT%H:59:59.0000000Z", "%Y-%m-%dT%H:00:17Z", "%Y-%m-%dT%H:59:17Z")
    data = lines(header, [(*(row.clock(end) for end in ends), *row.prices) for row in HOURS], ";")
    assert_holds(imported(tmp_path, "a.csv", data), HOURS, volume=False)


def test_a_time_in_utc_goes_before_the_same_time_in_a_local_clock(tmp_path: Path) -> None:
    items = [
        {
            "snapshotTime": row.clock("%Y/%m/%d %H:%M:%S", "Europe/London"),
            "snapshotTimeUTC": row.clock("%Y-%m-%dT%H:%M:%S"),
            **{f"{name}Price": {"bid": float(getattr(row, name))} for name in ("open", "high", "low", "close")},
            "lastTradedVolume": 5,
        }
        for row in HOURS
    ]
    assert_holds(imported(tmp_path, "a.json", json.dumps({"prices": items}).encode()), HOURS)


def test_the_range_that_was_asked_for_is_no_time_of_a_row(tmp_path: Path) -> None:
    header = "result,table,_start,_stop,_time,close,high,low,open,volume"
    span = ("2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z")
    cells = [
        ("", 0, *span, row.clock("%Y-%m-%dT%H:%M:%SZ"), row.close, row.high, row.low, row.open, 5) for row in HOURS
    ]
    assert_holds(imported(tmp_path, "a.csv", lines(header, cells)), HOURS)


def test_tickers_above_the_fields_of_a_typed_file_part_the_series(tmp_path: Path) -> None:
    names = ("open", "high", "low", "close", "volume")
    own = pd.DataFrame({name: [float(getattr(row, name)) for row in DAYS] for name in names})
    own.index = pd.to_datetime([row.time for row in DAYS], unit="ms")
    both = pd.concat({"AAA": own, "BBB": own * 2}, axis=1)
    buffer = io.BytesIO()
    both.to_parquet(buffer)
    found = all_imported(tmp_path, "a.parquet", buffer.getvalue(), {"symbols": "all"})
    assert [(each.symbol, each.candles.open[0]) for each in found] == [("AAA", 20.0), ("BBB", 40.0)]


@pytest.mark.parametrize(
    "layout",
    [
        *("%Y. %m. %d. %H:%M", "%Y.%m.%d.", "%-d. %-m. %Y", "%a %b %e %H:%M:%S %Y", "%Y-%m-%d %H:%M:%S +0000 UTC"),
        *("'%Y-%m-%dT%H:%M:%SZ'", "'%Y-%m-%d"),
    ],
)
def test_more_writings_of_a_date(layout: str, tmp_path: Path) -> None:
    candles = HOURS if "%H" in layout else DAYS
    answers = {"zone": "UTC"}
    assert_holds(imported(tmp_path, "a.csv", written(candles, lambda row: row.clock(layout)), answers), candles)


def test_midnight_may_end_its_day(tmp_path: Path) -> None:
    def ended(row: Row) -> str:
        day = Row(row.time - HOUR, *row.prices, "5")
        return day.clock("%Y-%m-%d 24:00") if row.at().hour == 0 else row.clock("%Y-%m-%d %H:%M")

    assert_holds(imported(tmp_path, "a.csv", written(HOURS, ended)), HOURS)
    assert "no clock of a day" in refused(tmp_path, table(["2024-06-03 24:01"])).message


def test_clocks_of_hours_alone_are_asked_about_and_those_with_dots_are_not(tmp_path: Path) -> None:
    header = HEADER.replace("Date", "Date,Time")

    def parted(clock: str) -> bytes:
        cells = [(row.clock("%Y-%m-%d"), row.clock(clock), *row.prices, row.volume) for row in HOURS]
        return lines(header, cells)

    assert_holds(imported(tmp_path, "a.csv", parted("%H.%M")), HOURS)
    assert asked(tmp_path, parted("%H")) == {"clock_digits": "2"}
    assert_holds(imported(tmp_path, "a.csv", parted("%H"), {"clock_digits": "2"}), HOURS)
    assert_holds(imported(tmp_path, "a.csv", parted("%-H"), {"clock_digits": "2"}), HOURS)
    daily = [(row.clock("%Y-%m-%d"), "0", *row.prices, row.volume) for row in DAYS]
    assert_holds(imported(tmp_path, "a.csv", lines(header, daily)), DAYS)


def test_candles_under_their_length_in_seconds_may_be_stamped_with_their_ends(tmp_path: Path) -> None:
    ends = [[(row.time + HOUR) // 1000, *map(float, row.prices), 5.0, 9.9] for row in HOURS]
    data = json.dumps({"result": {"3600": ends}}).encode()
    assert asked(tmp_path, data, "a.json") == {"stamp": "close"}
    assert_holds(imported(tmp_path, "a.json", data, {"stamp": "close"}), HOURS)


@pytest.mark.parametrize("lag", [1, 1000, 60_000])
def test_times_of_the_last_moment_of_their_candles_are_asked_about(lag: int, tmp_path: Path) -> None:
    data = written(HOURS, lambda row: row.time + HOUR - lag)
    assert asked(tmp_path, data) == {"stamp": "close"}
    assert_holds(imported(tmp_path, "a.csv", data, {"stamp": "close"}), HOURS)
    assert times_of(tmp_path, data, stamp="open")[0] == HOURS[0].time + HOUR - lag


def test_days_that_are_stamped_with_their_last_second_are_asked_about(tmp_path: Path) -> None:
    data = written(DAYS, lambda row: row.clock("%Y-%m-%d 23:59:59"))
    assert asked(tmp_path, data) == {"stamp": "close"}
    assert_holds(imported(tmp_path, "a.csv", data, {"stamp": "close"}), DAYS)


def test_databentos_prices_in_billionths_are_read_as_prices(tmp_path: Path) -> None:
    header = "ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume"

    def cells(scale: int, pattern: str) -> list[tuple[object, ...]]:
        return [
            (row.time * 10**6, 33, 1, 2, *(pattern.format(float(price) * scale) for price in row.prices), row.volume)
            for row in HOURS
        ]

    for scale, pattern in ((10**9, "{:.0f}"), (1, "{:.9f}")):
        assert_holds(imported(tmp_path, "a.csv", lines(header, cells(scale, pattern))), HOURS)


@pytest.mark.parametrize("names", ["timestamp,datetime", "datetime,timestamp", "date,time", "datetime,unix"])
def test_epochs_go_before_a_clock_whose_zone_nobody_states(names: str, tmp_path: Path) -> None:
    times = {"timestamp": "epoch", "time": "epoch", "unix": "epoch"}

    def cell(row: Row, name: str) -> object:
        return row.time if times.get(name) == "epoch" else row.clock("%Y-%m-%d %H:%M:%S", "Asia/Kolkata")

    header = f"{names},open,high,low,close,volume"
    cells = [(*(cell(row, name) for name in names.split(",")), *row.prices, row.volume) for row in HOURS]
    assert_holds(imported(tmp_path, "a.csv", lines(header, cells)), HOURS)
    items = [dict(zip(header.split(","), line, strict=True)) for line in cells]
    buffer = io.BytesIO()
    pd.DataFrame(items).to_parquet(buffer)
    if names != "date,time":  # in one table these are the halves of a time, unless the second is a whole one
        assert_holds(imported(tmp_path, "a.json", json.dumps(items).encode()), HOURS)
        assert_holds(imported(tmp_path, "a.parquet", buffer.getvalue()), HOURS)


def test_every_message_of_a_stream_is_read_and_those_of_forming_candles_are_left_out(tmp_path: Path) -> None:
    candles = rows(900, step=60_000)
    messages = []
    for row in candles:
        prices = dict(zip("ohlc", row.prices, strict=True))
        bar = {"t": row.time, "T": row.time + 59_999, "i": "1m", **prices, "v": row.volume}
        messages += [{"e": "kline", "s": "BTCUSDT", "k": {**bar, "x": closed}} for closed in (False, True)]
    data = "\n".join(json.dumps(message) for message in messages).encode()
    found = imported(tmp_path, "a.json", data)
    assert_holds(found, candles)
    assert found.report["dropped"]["still forming"]["count"] == 900


@pytest.mark.parametrize("names", ["Volume USDT,Volume ADA", "Volume ADA,Volume USDT", "Volume_(USD),Volume_(BTC)"])
def test_the_volume_is_that_of_the_base_asset(names: str, tmp_path: Path) -> None:
    base = next(name for name in names.split(",") if "USD" not in name)
    cells = [
        (row.time, *row.prices, *(row.volume if name == base else "9.9" for name in names.split(","))) for row in HOURS
    ]
    assert_holds(imported(tmp_path, "a.csv", lines(f"unix,open,high,low,close,{names}", cells)), HOURS)


@pytest.mark.parametrize("parts", ["Y m d H M", "Y m d H", "Y m d"])
def test_a_time_in_parts_is_put_together(parts: str, tmp_path: Path) -> None:
    names = {"Y": "Year", "m": "Month", "d": "Day", "H": "Hour", "M": "Minute"}
    candles = HOURS if "H" in parts else DAYS
    header = ",".join([*(names[part] for part in parts.split()), "Open,High,Low,Close,Volume"])
    cells = [(*(int(row.clock(f"%{part}")) for part in parts.split()), *row.prices, row.volume) for row in candles]
    assert_holds(imported(tmp_path, "a.csv", lines(header, cells)), candles)


def test_utf_32_is_told_from_utf_16(tmp_path: Path) -> None:
    data = written(DAYS, lambda row: row.clock("%Y-%m-%d")).decode().encode("utf-32")
    assert_holds(imported(tmp_path, "a.csv", data), DAYS)


LANGUAGES = {
    "Danish": "Dato;Åben;Høj;Lav;Seneste;Vol.",
    "Swedish": "Datum;Öppen;Högst;Lägst;Stängning;Volym",
    "Dutch": "Datum;Open;Hoog;Laag;Laatst;Vol.",
    "Finnish": "Päivämäärä;Avaus;Ylin;Alin;Viimeisin;Vol.",
    "Czech": "Datum;Otevření;Nejvyšší;Nejnižší;Poslední;Objem",
    "Hungarian": "Dátum;Nyitás;Maximum;Minimum;Utolsó;Forgalom",
    "Greek": "Ημερομηνία;Άνοιγμα;Υψηλό;Χαμηλό;Τελευταία;Όγκος",
    "Polish": "Data;Otwarcie;Max.;Min.;Ostatnio;Wol.",
    "Vietnamese": "Ngày;Mở;Cao;Thấp;Lần cuối;KL",
    "Thai": "วันที่;เปิด;สูง;ต่ำ;ล่าสุด;ปริมาณ",
    "Hebrew": "תאריך;פתיחה;גבוה;נמוך;שער;נפח",
    "Arabic": "التاريخ;الافتتاح;الأعلى;الأدنى;الأخير;الحجم",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_headers_of_more_languages(language: str, tmp_path: Path) -> None:
    data = written(DAYS, lambda row: row.clock("%Y-%m-%d"), LANGUAGES[language], ";")
    assert_holds(imported(tmp_path, "a.csv", data), DAYS)
