"""The HTML report: whole without a network, names are only text, trades have the right results."""

from __future__ import annotations

import json
import re

import pytest

from annotate.exporting.trades import results_of, totals_of
from annotate.models import Json
from tests.annotate.annotations.builders import candles_at, every, point, span, trade
from tests.annotate.exporting.builders import dataset_of, exported, labels_of, lost, plain

EVIL = '</script><img src=x onerror="alert(1)">'


def page(files: dict[str, bytes]) -> str:
    return files["report.html"].decode("utf-8")


def figures(text: str) -> list[Json]:
    embedded = re.search(r'<script type="application/json" id="figures">(.*?)</script>', text)
    assert embedded
    found: list[Json] = json.loads(embedded[1])
    return found


def test_the_report_loads_nothing_from_elsewhere() -> None:
    text = page(exported(dataset_of([span(), point(), trade()]), "report"))
    assert not re.search(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=", text.split("Plotly", 1)[0])
    assert text.count("<script") >= 3
    assert "@import" not in text.split("plotly.js", 1)[0]


def test_candles_marks_and_trades_are_drawn_where_they_are() -> None:
    chart = figures(page(exported(dataset_of([span(10, 20), point(5, 101.5), trade(30, 40)]), "report")))[0]["figure"]
    candles, points, trades = chart["data"]
    assert (candles["type"], len(candles["x"]), candles["x"][0]) == ("candlestick", 100, "2024-01-01T00:00:00.000")
    assert (points["x"], points["y"]) == (["2024-01-01T05:00:00.000"], [101.5])
    assert (trades["x"], trades["y"]) == (["2024-01-02T06:00:00.000", "2024-01-02T16:00:00.000"], [100.0, 103.5])
    box = chart["layout"]["shapes"][0]
    assert (box["x0"], box["x1"]) == ("2024-01-01T10:00:00.000", "2024-01-01T20:00:00.000")


def test_names_are_only_text() -> None:
    dataset = dataset_of([span(label=EVIL), trade(label=EVIL, comment=EVIL)], labels=labels_of([EVIL]), symbol=EVIL)
    text = page(exported(dataset, "report"))
    assert "<img src=x" not in text
    assert "&lt;/script&gt;&lt;img" in text
    shape = figures(text)[0]["figure"]["layout"]["shapes"][0]
    assert shape["label"]["text"].startswith("&lt;/script&gt;")


def test_marks_are_listed_with_their_times_and_parts_in_their_order() -> None:
    marks = [
        span(10, 20, comment="why"),
        point(5, 101.5),
        {"kind": "chart_class", "label": "Range", "start": None, "end": None},
    ]
    text = page(exported(dataset_of(marks), "report"))
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", text)]
    assert ["span", "Long", "2024-01-01T10:00:00Z", "2024-01-01T20:00:00Z", "me", "why"] in rows
    assert ["point", "Long", "2024-01-01T05:00:00Z", "", "me", ""] in rows
    assert ["chart class", "Range", "the whole chart", "", "me", ""] in rows
    assert [row[0] for row in rows if row and row[0] in ("train", "validation", "test")] == [
        "train",
        "validation",
        "test",
    ]
    assert [row[1] for row in rows if len(row) == 5] == ["Long", "Short", "Range", "Noise"]


def test_a_long_series_is_drawn_in_coarser_candles_and_says_so() -> None:
    files = exported(dataset_of([], plain(candles_at(every("1m", 9_000))), timeframe="1m"), "report")
    assert len(figures(page(files))[0]["figure"]["data"][0]["x"]) == 3_000
    assert "9,000 candles are drawn as 3,000 of 3m" in lost(files)


def test_the_figures_of_a_run_come_along() -> None:
    figure = {"data": [{"type": "scatter", "x": [1], "y": [0.5]}], "layout": {"title": {"text": "Loss"}}}
    text = page(exported(dataset_of([]), "report", figures=[{"name": "loss", "title": "Loss", "figure": figure}]))
    assert figures(text)[1] == {"id": "figure-0", "figure": figure}
    assert '<div class="figure" id="figure-0">' in text


@pytest.mark.parametrize(
    ("side", "entry", "leave", "stop", "change", "risk"),
    [
        ("long", 100.0, 103.5, 98.0, 0.035, 1.75),
        ("short", 100.0, 103.5, 104.0, -0.035, -0.875),
        ("long", 100.0, 90.0, 105.0, -0.1, None),
        ("short", -37.0, -40.0, None, None, None),
    ],
)
def test_trades_have_their_results(
    side: str, entry: float, leave: float, stop: float | None, change: float | None, risk: float | None
) -> None:
    mark = trade(side=side, stop=stop)
    mark["entry"]["price"], mark["exit"]["price"] = entry, leave
    (result,) = results_of([mark, span()])
    assert result.change == (None if change is None else pytest.approx(change))
    assert result.risk == (None if risk is None else pytest.approx(risk))


def test_totals_count_what_won() -> None:
    won, lost_one = trade(stop=None), trade(side="short", stop=None)
    totals = totals_of(results_of([won, lost_one, won]))
    assert (totals.count, totals.won) == (3, 2)
    assert totals.change == pytest.approx(0.035)
    assert totals_of([]).mean is None
