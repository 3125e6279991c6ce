"""Files as they are found in the wild: other languages, clocks and encodings, remarks, columns; read or asked right."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest

from tests.annotate.importing.asking import asked, ms, refused
from tests.annotate.importing.files import DAY, HOUR, Row, all_imported, assert_holds, imported, lines, packed, rows

HOURS = [Row(*(row.time, *row.prices), "5") for row in rows(480)]
DAYS = [Row(*(row.time, *row.prices), "5") for row in rows(70, step=DAY)]
NAMES = "Date,Open,High,Low,Close,Volume"
GERMAN = ("Jan", "Feb", "März", "April", "Mai", "Juni", "Juli", "Aug", "Sept", "Okt", "Nov", "Dez")
FRENCH = ("janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc.")
SPANISH = ("ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sep", "oct", "nov", "dic")


def written(candles: list[Row], time: Callable[[Row], object], header: str = NAMES, delimiter: str = ",") -> bytes:
    """Write candles with times as `time` gives them."""
    cells = [(time(row), *row.prices, row.volume) for row in candles]
    return lines(header.replace(",", delimiter), cells, delimiter)


def clock(layout: str, zone: str = "UTC") -> Callable[[Row], str]:
    return lambda row: row.clock(layout, zone)


def with_month(names: tuple[str, ...], layout: str) -> Callable[[Row], str]:
    """Write a date with the name of its month in another language, in place of `@`."""
    return lambda row: row.clock(layout).replace("@", names[row.at().month - 1])


def dotted_half(row: Row) -> str:
    return row.clock("%d-%m-%Y %I:%M ") + ("a. m." if row.at().hour < 12 else "p. m.")


def bracketed(zone_name: str, zone: str) -> bytes:
    return written(HOURS, clock("%Y-%m-%d %H:%M", zone), NAMES.replace("Date", f"Time ({zone_name})"))


def two_columns(candles: list[Row], header: str, first: str, second: str) -> bytes:
    cells = [(row.clock(first), row.clock(second), *row.prices, row.volume) for row in candles]
    return lines(header, cells)


def aligned(candles: list[Row], time: str) -> bytes:
    body = [f"{row.clock(time):<18}" + "".join(f"{cell:>10}" for cell in (*row.prices, row.volume)) for row in candles]
    header = f"{'Date':<18}" + "".join(f"{name:>10}" for name in NAMES.split(",")[1:])
    return "\n".join([header, *body, ""]).encode()


def columns_json(candles: list[Row]) -> bytes:
    names = ("open", "high", "low", "close", "volume")
    columns = {name: [float(getattr(row, name)) for row in candles] for name in names}
    return json.dumps({"result": {"ticks": [row.time for row in candles], **columns, "status": "ok"}}).encode()


def gate(candles: list[Row]) -> bytes:
    cells = [
        [str(row.time // 1000), "99", row.close, row.high, row.low, row.open, row.volume, "true"] for row in candles
    ]
    return json.dumps(cells).encode()


@dataclass(frozen=True)
class Variant:
    id: str
    data: bytes
    candles: list[Row] = field(default_factory=lambda: HOURS)
    file: str = "a.csv"


VARIANTS = [
    Variant("a line for Excel", b"sep=;\r\n" + written(DAYS, clock("%Y-%m-%d"), delimiter=";"), DAYS),
    Variant("halves of the day", written(HOURS, clock("%m/%d/%Y %I:%M:%S %p"))),
    Variant("halves of the day, dotted", written(HOURS, dotted_half)),
    Variant("German months", written(DAYS, with_month(GERMAN, "%d. @ %Y")), DAYS),
    Variant("French months", written(DAYS, with_month(FRENCH, "%d @ %Y")), DAYS),
    Variant("Spanish months", written(DAYS, with_month(SPANISH, "%d de @ de %Y")), DAYS),
    Variant("spaces in dates", written(DAYS, clock("%Y- %m- %d")), DAYS),
    Variant("two spaces before the clock", written(HOURS, clock("%Y%m%d  %H:%M:%S"))),
    Variant("a zone in each cell", written(HOURS, clock("%Y%m%d %H:%M:%S US/Eastern", "US/Eastern"))),
    Variant("a zone in the header", bracketed("EST", "EST")),
    Variant("an offset in the header", bracketed("UTC+2", "Etc/GMT-2")),
    Variant("epochs as floats", written(HOURS, lambda row: f"{row.time / 1000:.1f}")),
    Variant("epochs in scientific writing", written(HOURS, lambda row: repr(float(row.time * 10**6)))),
    Variant("date and hour", two_columns(HOURS, f"Date,Hour,{NAMES[5:]}", "%Y-%m-%d", "%-H")),
    Variant("date and minute", two_columns(HOURS, f"date,minute,{NAMES[5:]}", "%Y-%m-%d", "%H:%M")),
    Variant("aligned columns", aligned(DAYS, "%Y-%m-%d"), DAYS),
    Variant("aligned columns with clocks", aligned(HOURS, "%Y-%m-%d %H:%M")),
    Variant("Deribit", columns_json(HOURS), file="chart.json"),
    Variant("Gate", gate(HOURS), file="candlesticks.json"),
    Variant("no accents", written(DAYS, clock("%d.%m.%Y"), "Data,Otwarcie,Najwyzszy,Najnizszy,Zamkniecie,Obrot"), DAYS),
    Variant(
        "Russian in its old encoding",
        written(DAYS, clock("%d.%m.%Y"), "Дата,Открытие,Максимум,Минимум,Закрытие,Объем").decode().encode("cp1251"),
        DAYS,
    ),
    Variant(
        "Chinese in its old encoding",
        written(DAYS, clock("%Y/%m/%d"), "日期,开盘,最高,最低,收盘,成交量").decode().encode("gbk"),
        DAYS,
    ),
    Variant(
        "Korean in its old encoding",
        written(DAYS, clock("%Y/%m/%d"), "일자,시가,고가,저가,종가,거래량").decode().encode("cp949"),
        DAYS,
    ),
]  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.id)
def test_a_variant_reads_back_exactly(variant: Variant, tmp_path: Path) -> None:
    assert_holds(imported(tmp_path, variant.file, variant.data), variant.candles)


@pytest.mark.parametrize("layout", ["%Y-%m", "%b %Y", "%b %y", "%Y-%m-28"])
def test_months_are_months_whatever_day_they_are_stamped_with(layout: str, tmp_path: Path) -> None:
    starts = [f"{2015 + month // 12}-{month % 12 + 1:02}" for month in range(40)]
    months = [Row(ms(f"{start}-01"), *row.prices, "5") for start, row in zip(starts, rows(40), strict=True)]
    found = imported(tmp_path, "a.csv", written(months, clock(layout)))
    assert (found.timeframe, len(found.candles), found.report["gaps"]["count"]) == ("1mo", 40, 0)
    holed = imported(tmp_path, "a.csv", written([*months[:1], *months[2:]], clock(layout)))
    assert (holed.report["gaps"]["count"], holed.report["gaps"]["missing_candles"]) == (1, 1)  # February 2015


def test_years_alone_are_asked_about(tmp_path: Path) -> None:
    data = lines("Year,Open,High,Low,Close", [(2000 + at, *row.prices) for at, row in enumerate(rows(20))])
    assert asked(tmp_path, data) == {"small_times": "years"}
    found = imported(tmp_path, "a.csv", data, {"small_times": "years"})
    assert (found.timeframe, int(found.candles.time[0])) == ("12mo", 946_684_800_000)


def test_remarks_at_the_end_and_rows_without_prices_are_left_out_and_listed(tmp_path: Path) -> None:
    body = written(DAYS[:10], clock("%Y-%m-%d"))
    split = b"2024-06-13,2:1 Stock Split,,,,\n" + f"{NAMES}\n".encode()
    end = b'\n"Source: an exchange"\nData as is, no warranty, of any kind\n'
    found = imported(tmp_path, "a.csv", body + split + end)
    assert_holds(found, DAYS[:10])
    assert found.report["dropped"] == {
        "remark": {"count": 2, "lines": [15, 16]},
        "blank price": {"count": 2, "lines": [12, 13]},
    }


def test_a_row_that_was_cut_is_no_remark(tmp_path: Path) -> None:
    error = refused(tmp_path, written(DAYS[:10], clock("%Y-%m-%d")) + b"2024-06-13,1,2\n")
    assert error.details["line"] == 12


def test_a_column_of_words_is_named_and_not_left_out(tmp_path: Path) -> None:
    cells = [(row.clock("%Y-%m-%d"), "110'16", "110'20", "110'10", "110'15") for row in DAYS]
    assert refused(tmp_path, lines("Date,Open,High,Low,Close", cells)).details["value"] == "110'16"


def test_tickers_above_the_names_part_the_series(tmp_path: Path) -> None:
    head = "Ticker,AAA,AAA,AAA,AAA,BBB,BBB,BBB,BBB\nPrice,Open,High,Low,Close,Open,High,Low,Close\nDate,,,,,,,,\n"
    cells = [(row.clock("%Y-%m-%d"), *row.prices, *next_.prices) for row, next_ in pairwise(DAYS)]
    found = all_imported(tmp_path, "a.csv", head.encode() + lines(None, cells), {"symbols": "all"})
    assert [(each.symbol, each.candles.open[0]) for each in found] == [
        ("AAA", float(DAYS[0].open)),
        ("BBB", float(DAYS[1].open)),
    ]


def test_rows_that_share_most_of_their_times_are_asked_about(tmp_path: Path) -> None:
    data = written(HOURS[:60], lambda row: row.time // (3 * HOUR) * 3 * HOUR)
    assert asked(tmp_path, data) == {"duplicates": "last"}
    kept = imported(tmp_path, "a.csv", data, {"duplicates": "first"})
    assert kept.candles.open.tolist() == [float(row.open) for row in HOURS[:60:3]]


def test_candles_without_a_step_are_asked_about(tmp_path: Path) -> None:
    data = written(HOURS[:60], lambda row: row.time + pow(row.time // HOUR, 3, 3_499) * 1000)
    assert set(asked(tmp_path, data)) == {"timeframe"}
    assert imported(tmp_path, "a.csv", data, {"timeframe": "15m"}).timeframe == "15m"


def test_a_clock_that_repeats_itself_in_october_is_no_utc(tmp_path: Path) -> None:
    autumn = rows(96, start=1_698_364_800_000)  # 27 October 2023
    data = written(autumn, clock("%Y-%m-%d %H:%M", "Europe/Berlin"))
    assert asked(tmp_path, data) == {"zone": "Europe/Berlin"}
    assert_holds(imported(tmp_path, "a.csv", data, {"zone": "Europe/Berlin"}), autumn)


def test_bitmex_and_tradestation_stamp_ends(tmp_path: Path) -> None:
    header = "timestamp,symbol,open,high,low,close,trades,volume,vwap,lastSize,turnover,homeNotional,foreignNotional"
    cells = [
        (row.clock("%Y-%m-%dT%H:%M:%S.000Z"), "XBTUSD", *row.prices, 1, row.volume, 1, 1, 1, 1, 1) for row in HOURS
    ]
    data = lines(header, cells)
    assert asked(tmp_path, data) == {"stamp": "close"}
    assert imported(tmp_path, "a.csv", data, {"stamp": "close"}).candles.time[0] == HOURS[0].time - HOUR
    sided = [(row.clock("%m/%d/%Y"), row.clock("%H:%M"), *row.prices, 1, 2) for row in HOURS]
    assert asked(tmp_path, lines("Date,Time,Open,High,Low,Close,Up,Down", sided)) == {
        "stamp": "close",
        "zone": "America/New_York",
    }


@pytest.mark.parametrize(
    ("answers", "first"),
    [
        ({"stamp": "close"}, HOURS[0].time - HOUR),
        ({"unit": "s"}, None),
        ({"column_open": "3", "column_high": "2", "violations": "keep"}, HOURS[0].time),
    ],
)
def test_what_was_not_asked_can_be_chosen_all_the_same(
    answers: dict[str, str], first: int | None, tmp_path: Path
) -> None:
    data = written(HOURS, lambda row: row.time)
    if first is None:
        assert "is no time between" in refused(tmp_path, data, **answers).message
        return
    found = imported(tmp_path, "a.csv", data, answers)
    assert found.candles.time[0] == first
    assert (found.report["columns"]["open"]["number"] == 3) == ("column_open" in answers)


def test_a_month_given_by_its_end_opens_with_the_month(tmp_path: Path) -> None:
    ends = ("2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30")
    cells = [(f"{end} 23:59:59.999", *row.prices) for end, row in zip(ends, DAYS, strict=False)]
    found = imported(tmp_path, "a.csv", lines("close_time,open,high,low,close", cells))
    assert found.candles.time.tolist() == [1_704_067_200_000, 1_706_745_600_000, 1_709_251_200_000, 1_711_929_600_000]


def test_an_illiquid_market_does_not_hide_the_order_of_its_columns(tmp_path: Path) -> None:
    flat = [Row(row.time, row.open, row.open, row.open, row.open, "5") for row in HOURS[:200]]
    candles = [*flat[:100], HOURS[100], *flat[101:]]
    cells = [[row.time // 1000, *map(float, (row.low, row.high, row.open, row.close, row.volume))] for row in candles]
    assert_holds(imported(tmp_path, "a.json", json.dumps(cells).encode()), candles)
    data = lines(None, cells)
    assert asked(tmp_path, data) == {"column_order": "low, high, open, close, volume"}


def test_a_mean_price_before_the_volume_is_no_volume(tmp_path: Path) -> None:
    cells = [(row.time // 1000, *row.prices, row.close, row.volume, 7) for row in HOURS]
    assert_holds(imported(tmp_path, "XBTUSD_60.csv", lines(None, cells)), HOURS)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"<table><tr><td>Date</td></tr></table>", "is a web page"),
        (b"\n <HEAD><title>429</title></HEAD>", "is a web page"),
        (b'{"code":-1121,"msg":"Invalid symbol."}', "it says: Invalid symbol."),
        (gzip.compress(gzip.compress(b"a", mtime=0), mtime=0), "an archive inside the archive"),
        (gzip.compress(b"a.csv".ljust(257, b"\0") + b"ustar", mtime=0), "is a tar archive"),
        (
            packed({"mimetype": b"application/vnd.oasis.opendocument.spreadsheet", "content.xml": b"<a/>"}),
            "OpenDocument",
        ),
    ],
)
def test_what_is_no_candle_file_is_refused_by_what_it_is(data: bytes, words: str, tmp_path: Path) -> None:
    assert words in refused(tmp_path, data).message
