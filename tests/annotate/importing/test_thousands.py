"""Marks between thousands: read where the file proves them, asked about where they could be decimal, never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.annotate.importing.asking import asked
from tests.annotate.importing.files import imported

ISO = ("2024-01-02", "2024-01-03", "2024-01-04")
DOTTED = ("02.01.2024", "03.01.2024", "04.01.2024")
HEADER = ("Date", "Open", "High", "Low", "Close", "Volume")
WHOLE = ("1.234", "1.240", "1.228", "1.236")
YEN = ("145.123", "145.240", "145.028", "145.136")


def written(*cells: str, mark: str = ";", days: tuple[str, ...] = ISO, header: tuple[str, ...] = HEADER) -> bytes:
    rows = [header[: len(cells) + 1], *((day, *cells) for day in days)]
    return "".join(f"{mark.join(row)}\n" for row in rows).encode()


def read(folder: Path, data: bytes, **answers: str) -> tuple[float, float]:
    """Give the first open and volume."""
    candles = imported(folder, "a.csv", data, answers).candles
    return float(candles.open[0]), float(candles.volume[0])


LATE = written("950", "990", "928", "936", "9", days=tuple(f"{year}-01-01" for year in range(1810, 2024)))

# Each with its likely answer, and the first open and volume by either one.
ASKED: dict[str, tuple[bytes, str, tuple[float, float], tuple[float, float]]] = {
    "prices and volume": (written(*WHOLE, "12.345"), "thousands", (1234, 12345), (1.234, 12.345)),
    "prices alone": (written(*WHOLE, "0"), "thousands", (1234, 0), (1.234, 0)),
    "some below a thousand": (written("950", "1.040", "928", "1.036", "1.000"), "thousands", (950, 1000), (950, 1)),
    "the volume alone": (written("950", "990", "928", "936", "12.345"), "thousands", (950, 12345), (950, 12.345)),
    "prices in euros": (written(*(f"{one} €" for one in WHOLE), "1.000"), "thousands", (1234, 1000), (1.234, 1)),
    "dotted dates, tabs": (written(*WHOLE, "0", mark="\t", days=DOTTED), "thousands", (1234, 0), (1.234, 0)),
    "dotted dates, bars": (written(*WHOLE, "0", mark="|", days=DOTTED), "thousands", (1234, 0), (1.234, 0)),
    "no header": (written(*WHOLE, "1.000").split(b"\n", 1)[1], "thousands", (1234, 1000), (1.234, 1)),
    "dots far below": (LATE + written(*WHOLE, "9").split(b"\n", 1)[1], "thousands", (950, 9), (950, 9)),
    "yen": (written(*YEN, "0"), "decimal", (145123, 0), (145.123, 0)),
    "four digits without a mark": (written(*WHOLE, "1000"), "decimal", (1234, 1000), (1.234, 1000)),
}


@pytest.mark.parametrize("case", ASKED)
def test_dots_that_may_part_thousands_are_asked_about(case: str, tmp_path: Path) -> None:
    data, likely, by_thousands, by_decimals = ASKED[case]
    assert asked(tmp_path, data, timeframe="1d")["decimal_dot"] == likely
    keep = {"violations": "keep", "timeframe": "1d"}  # prices read wrongly break the high/low rule
    assert read(tmp_path, data, decimal_dot="thousands", **keep) == by_thousands
    assert read(tmp_path, data, decimal_dot="decimal", **keep) == by_decimals


GERMAN = '"Datum","Zuletzt","Eröffn.","Hoch","Tief","Vol.","+/- %"\n' + "".join(
    f'"{day}","72.500","72.400","73.000","71.900","1.500","0,50%"\n' for day in DOTTED
)
INDIAN = written(*('"1,23,456"', '"1,24,000"', '"1,22,000"', '"1,23,500"', '"12,34,567"'), mark=",")
SURE = {
    "a dot where no thousands end": (written("145.12", *YEN[1:], "1.234"), (145.12, 1.234)),
    "two marks in a number": (written("1.234.500", "1.240.000", "1.228.000", "1.236.000", "1.000"), (1234500, 1000)),
    "decimal commas in another column": (GERMAN.encode(), (72400, 1500)),
    "commas between cells": (written(*YEN, "12", mark=","), (145.123, 12)),
    "HistData": (written(*YEN, "0", days=("20240102 170000", "20240102 170100")).split(b"\n", 1)[1], (145.123, 0)),
    "groups of two, as in India": (INDIAN, (123456, 1234567)),
}
SURE |= {
    f"{name} between thousands": (
        written(*(price.replace(".", mark) for price in WHOLE), f"12{mark}345"),
        (1234, 12345),
    )
    for name, mark in (
        ("apostrophes", "'"),
        ("curly apostrophes", "’"),
        ("spaces", " "),
        ("hard spaces", "\u00a0"),
        ("narrow spaces", "\u202f"),
        ("thin spaces", "\u2009"),
        ("figure spaces", "\u2007"),
    )
}


@pytest.mark.parametrize("case", SURE)
def test_numbers_that_can_be_read_in_one_way_alone_are_read_so(case: str, tmp_path: Path) -> None:
    data, values = SURE[case]
    assert read(tmp_path, data) == values


@pytest.mark.parametrize(
    ("mark", "days", "likely"), [("\t", ISO, "thousands"), (";", ISO, "decimal"), ("\t", DOTTED, "decimal")]
)
def test_a_comma_before_three_digits_is_likely_what_it_is_where_the_file_comes_from(
    mark: str, days: tuple[str, ...], likely: str, tmp_path: Path
) -> None:
    data = written(*(f'"{price.replace(".", ",")}"' for price in WHOLE), "9", mark=mark, days=days)
    assert asked(tmp_path, data) == {"decimal_comma": likely}
    assert read(tmp_path, data, decimal_comma="thousands") == (1234, 9)
    assert read(tmp_path, data, decimal_comma="decimal") == (1.234, 9)
