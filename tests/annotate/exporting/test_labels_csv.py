"""`labels.csv`: known lines, and every mark back as it was."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.annotations.fields import EARLIEST_MS, LATEST_MS
from annotate.errors import InvalidInput
from annotate.exporting.labels_csv import COLUMNS, FIRST_COLUMNS, read_labels, write_labels
from annotate.models import Json
from tests.annotate.annotations.builders import START, candle_class, chart_class, level, point, span, trade, trend_line

MANIFEST: Json = {"symbol": "ETH/USDT", "timeframe": "1h", "candles": {"sha256": "ab12"}}
TIMES = st.integers(EARLIEST_MS, LATEST_MS)
PRICES = st.floats(allow_nan=False, allow_infinity=False)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
ANCHORS = st.fixed_dictionaries({"time": TIMES, "price": PRICES})
REVIEWS = st.fixed_dictionaries(
    {
        "verdict": st.sampled_from(["accept", "correct", "reject"]),
        "by": TEXT,
        "at": TIMES,
        "comment": TEXT,
        "correction": st.none() | st.just("7d0f"),
    }
)


def stored(body: Json, **changes: Any) -> Json:
    """A mark as the dataset holds it."""
    facts = {
        "id": "7d0e", "comment": "", "confidence": None, "author": "me", "source": "human", "mode": "hindsight",
        "decided_at": START, "known_at": START, "created": START, "updated": START + 1, "revision": 1,
        "status": "done", "updated_by": "me", "entry_decided_at": None, "review": None,
    }  # fmt: skip
    return facts | ({"stop": None, "target": None} if body["kind"] == "trade" else {}) | body | changes


@st.composite
def marks(draw: st.DrawFn) -> Json:
    """Any stored mark."""
    body = draw(
        st.one_of(
            st.builds(lambda start, end: span() | {"start": start, "end": end}, TIMES, TIMES),
            st.builds(lambda time, price: point() | {"time": time, "price": price}, TIMES, PRICES),
            st.builds(
                lambda side, ends, stop: (
                    trade(side=side, stop=stop)
                    | {
                        name: {"time": time, "price": price}
                        for name, (time, price) in zip(("entry", "exit"), ends, strict=True)
                    }
                ),
                st.sampled_from(["long", "short"]),
                st.tuples(st.tuples(TIMES, PRICES), st.tuples(TIMES, PRICES)),
                st.one_of(st.none(), PRICES),
            ),
            st.builds(
                lambda price, time, until: level(price, time=time, until=until),
                PRICES,
                st.none() | TIMES,
                st.none() | TIMES,
            ),
            st.builds(
                lambda start, end, extend: trend_line(extend=extend) | {"start": start, "end": end},
                ANCHORS,
                ANCHORS,
                st.sampled_from(["none", "right"]),
            ),
            st.builds(lambda start, end: candle_class() | {"start": start, "end": end}, TIMES, TIMES),
            st.sampled_from([chart_class(), chart_class(3, 9)]),
        )
    )
    history = {
        "status": draw(st.sampled_from(["draft", "done"])),
        "updated_by": draw(TEXT.filter(bool)),
        "entry_decided_at": draw(st.none() | TIMES),
        "review": draw(st.none() | REVIEWS),
    }
    texts = draw(st.fixed_dictionaries(dict.fromkeys(("label", "comment", "author"), TEXT)))
    times = draw(st.fixed_dictionaries(dict.fromkeys(("decided_at", "known_at", "created", "updated"), TIMES)))
    confidence = draw(st.one_of(st.none(), st.floats(0, 1)))
    return stored(body, **texts, **times, **history, confidence=confidence, revision=draw(st.integers(1, 10**6)))


@given(st.lists(marks(), max_size=6))
def test_marks_come_back_as_they_were(annotations: list[Json]) -> None:
    assert read_labels(write_labels(annotations, MANIFEST)) == annotations


def test_known_marks_give_known_lines() -> None:
    annotations = [
        stored(span(10, 20, comment='say "hi", then\nleave', confidence=0.5)),
        stored(point(10, 101.5, "=1+1"), updated=START + 358),
        stored(trade(10, 20, "Short", "short", stop=104.25)),
    ]
    facts = "7d0e,ab12,ETH/USDT,1h"
    ten, twenty = "2024-01-01T10:00:00Z,", "2024-01-01T20:00:00Z,"
    seen = "me,human,hindsight,2024-01-01T00:00:00Z,2024-01-01T00:00:00Z,2024-01-01T00:00:00Z"
    assert write_labels(annotations, MANIFEST).split("\n", 1) == [
        "label_id,chart_id,symbol,timeframe,kind,class,t_start,t_end,t_start_ms,t_end_ms,price_start,price_end,side,stop,"
        "target,confidence,comment,author,source,mode,decided_at,known_at,created_at,updated_at,revision,status,extend,"
        "entry_decided_at,updated_by,review,review_by,review_at,review_comment,review_correction",
        f'{facts},span,Long,{ten}{twenty}1704103200000,1704139200000,,,,,,0.5,"say ""hi"", then\nleave",{seen},'
        "2024-01-01T00:00:00.001Z,1,done,,,me,,,,,\n"
        f"{facts},point,'=1+1,{ten}{ten}1704103200000,1704103200000,101.5,,,,,,,{seen},2024-01-01T00:00:00.358Z,1,done,,,me,,,,,\n"
        f"{facts},trade,Short,{ten}{twenty}1704103200000,1704139200000,100.0,103.5,short,104.25,,,,{seen},"
        "2024-01-01T00:00:00.001Z,1,done,,,me,,,,,\n",
    ]


def test_a_file_from_before_there_were_statuses_is_read() -> None:
    rows = write_labels([stored(span())], MANIFEST).splitlines()
    older = [",".join(cells.split(",")[: len(FIRST_COLUMNS)]) for cells in rows]
    assert read_labels("\n".join([older[0], older[1].removesuffix("done")]) + "\n") == [stored(span())]


@pytest.mark.parametrize(
    ("kind", "word"), [("trend_line", "trend"), ("candle_class", "candle"), ("chart_class", "chart")]
)
def test_the_file_has_its_own_words_for_some_kinds(kind: str, word: str) -> None:
    anchor = {"time": START, "price": 1.5}
    ends = (
        {"start": anchor, "end": anchor, "extend": "none"}
        if kind == "trend_line"
        else {"start": START, "end": START + 1}
    )
    mark = stored({"kind": kind, "label": "Long", **ends})
    text = write_labels([mark], MANIFEST)
    assert text.splitlines()[1].split(",")[4] == word
    assert read_labels(text) == read_labels(text.replace(f",{word},", f",{kind},")) == [mark]


def test_no_marks_give_a_header_and_no_rows() -> None:
    assert write_labels([], MANIFEST) == ",".join(COLUMNS) + "\n"
    assert read_labels(write_labels([], MANIFEST)) == []


def test_each_mark_is_one_row_of_plain_cells_without_json() -> None:
    text = write_labels([stored(trade(), label='{"a": [1]}'), stored(span())], MANIFEST)
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["class"] for row in rows] == ['{"a": [1]}', "Long"]
    assert all(len(row) == len(COLUMNS) for row in rows)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("label_id,", "id,", "first line"),
        (",span,", ",square,", "kind 'square'"),
        ("1704103200000", "10:00", "column t_start_ms"),
        ("2024-01-01T00:00:00Z", "2024-01-01 00:00:00", "column decided_at"),
        ("hindsight,", "hindsight,,", "line 2: 35 cells"),
        (",1,done,", ",one,done,", "column revision"),
    ],
)
def test_a_file_that_is_none_is_refused_naming_line_and_column(old: str, new: str, named: str) -> None:
    text = write_labels([stored(span())], MANIFEST)
    assert old in text
    with pytest.raises(InvalidInput, match=named):
        read_labels(text.replace(old, new))
