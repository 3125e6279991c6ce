"""Series over HTTP: the list, uploads, rename, delete and restore, and the candles to draw."""

from __future__ import annotations

import base64
import io
import json
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from annotate.settings import Settings
from tests.conftest import TOKEN

START = 1_704_103_200_000  # 2024-01-01T10:00:00Z
MINUTE = 60_000


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    """One application for all tests here; each makes series of its own."""
    from app import close_app, create_app

    made = create_app(Settings(data_dir=tmp_path_factory.mktemp("served"), token=TOKEN, threads=1))
    yield made
    close_app(made)


@pytest.fixture
def web(served: Flask) -> FlaskClient:
    made = served.test_client()
    made.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {TOKEN}"
    return made


def csv_of(rows: int, *, start: int = START, step: int = MINUTE, price: float = 100.0, volume: str = "1") -> bytes:
    lines = [
        f"{start + row * step},{price + row},{price + row + 1},{price + row - 1},{price + row},{volume}"
        for row in range(rows)
    ]
    return "\n".join(["time,open,high,low,close,volume", *lines, ""]).encode()


def send(web: FlaskClient, content: bytes, filename: str = "candles.csv", **form: str) -> TestResponse:
    return web.post("/api/series", data={"file": (io.BytesIO(content), filename), **form})


def uploaded(web: FlaskClient, content: bytes, symbol: str, **form: str) -> dict[str, Any]:
    answer = send(web, content, symbol=symbol, **form)
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.get_json()
    return body


def candles(web: FlaskClient, series_id: int, **query: Any) -> dict[str, Any]:
    answer = web.get(f"/api/series/{series_id}/candles", query_string={"encoding": "list", **query})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.get_json()
    return body


def refused(answer: TestResponse, status: int = 422) -> str:
    assert answer.status_code == status, answer.text
    message: str = answer.get_json()["error"]["message"]
    return message


def listed(web: FlaskClient) -> dict[int, dict[str, Any]]:
    return {series["id"]: series for series in web.get("/api/series").get_json()["items"]}


def test_the_sample_is_listed_with_eur_usd_first(web: FlaskClient) -> None:
    items = web.get("/api/series").get_json()["items"]
    assert [(one["id"], one["symbol"], one["timeframe"], one["candles"], one["simulated"]) for one in items[:3]] == [
        (1, "EUR/USD", "1h", 6_225, False),
        (2, "AAPL", "1d", 1_509, False),
        (3, "SIM/USDT", "1s", 86_400, True),
    ]
    assert (items[0]["first"], items[0]["last"]) == (1_483_308_000_000, 1_514_581_200_000)


def test_one_series_says_in_which_timeframes_it_can_be_shown(web: FlaskClient) -> None:
    series = web.get("/api/series/2").get_json()["series"]
    assert (series["symbol"], series["timeframes"]) == ("AAPL", ["1d", "1w", "1mo"])


def test_an_unknown_series_is_not_found(web: FlaskClient) -> None:
    for path in ("/api/series/999", "/api/series/999/candles", "/api/series/999/report"):
        assert refused(web.get(path), 404) == "there is no series 999"


def test_an_uploaded_file_becomes_a_series_with_its_report(web: FlaskClient) -> None:
    body = uploaded(web, csv_of(3), "UP/LOAD")
    series = body["series"]
    assert (series["symbol"], series["timeframe"], series["source"]) == ("UP/LOAD", "1m", "upload")
    assert (series["candles"], series["first"], series["last"]) == (3, START, START + 2 * MINUTE)
    assert body["report"]["identical"] is False
    assert web.get(f"/api/series/{series['id']}/report").get_json()["report"] == body["report"]
    assert listed(web)[series["id"]] == series


def test_times_are_numbers_of_utc_on_the_wire_whatever_zone_a_file_was_in(web: FlaskClient) -> None:
    rows = [f"2024-01-02 09:{minute}:00+09:00,1,2,0.5,1.5,5" for minute in (30, 31, 32)]
    series = uploaded(web, "\n".join(["time,open,high,low,close,volume", *rows]).encode(), "ZONED")["series"]
    path = f"/api/series/{series['id']}"
    assert candles(web, series["id"])["time"] == [1_704_155_400_000 + at * MINUTE for at in range(3)]
    span = {"kind": "span", "label": "Long", "start": series["first"], "end": series["last"], "revision": 0}
    assert web.put(f"{path}/annotations/00000000-0000-4000-8000-000000000600", json=span).status_code == 200
    for asked in (path, f"{path}/candles?encoding=list", f"{path}/annotations", f"{path}/undo", "/api/series"):
        answer = web.get(asked).text
        assert not re.search(r"\d[+-]\d\d:\d\d\b", answer), f"{asked} tells a time with an offset"


def test_prices_come_back_to_the_bit(web: FlaskClient) -> None:
    prices = ["1.05236", "0.00001234", "123456.789012345", "3.3333333333333335"]
    rows = [f"{START + row * MINUTE},{price},{price},{price},{price},1" for row, price in enumerate(prices)]
    content = "\n".join(["time,open,high,low,close,volume", *rows]).encode()
    series = uploaded(web, content, "BITS")["series"]
    assert candles(web, series["id"])["close"] == [float(price) for price in prices]


def test_a_null_volume_is_null_in_json_and_nan_in_binary(web: FlaskClient) -> None:
    series = uploaded(web, csv_of(2, price=7, volume=""), "NULLS")["series"]
    answer = web.get(f"/api/series/{series['id']}/candles?encoding=list")
    assert (
        json.loads(answer.text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))["volume"] == [None] * 2
    )
    binary = web.get(f"/api/series/{series['id']}/candles").get_json()["volume"]
    assert binary["dtype"] == "f8"
    assert all(math.isnan(value) for value in np.frombuffer(base64.b64decode(binary["bdata"]), "<f8"))


def test_binary_columns_equal_the_listed_ones(web: FlaskClient) -> None:
    binary = web.get("/api/series/1/candles?max_points=500").get_json()
    plain = candles(web, 1, max_points=500)
    for name in ("time", "open", "high", "low", "close", "volume"):
        assert np.frombuffer(base64.b64decode(binary[name]["bdata"]), "<f8").tolist() == plain[name]
    assert (binary["timeframe"], binary["level"]) == (plain["timeframe"], plain["level"]) == ("1h", "1d")


def test_a_stretch_is_half_open_and_whole_by_default(web: FlaskClient) -> None:
    series = uploaded(web, csv_of(5, price=9), "HALF")["series"]
    assert len(candles(web, series["id"])["time"]) == 5
    part = candles(web, series["id"], **{"from": START + MINUTE, "to": START + 3 * MINUTE})
    assert part["time"] == [START + MINUTE, START + 2 * MINUTE]


def test_a_coarser_timeframe_is_aggregated_and_its_cut_candle_marked(web: FlaskClient) -> None:
    series = uploaded(web, csv_of(7, price=50), "COARSE")["series"]
    answer = candles(web, series["id"], timeframe="5m")
    assert (answer["timeframe"], answer["level"]) == ("5m", "5m")
    assert [answer[name] for name in ("open", "high", "low", "close", "volume")] == [
        [50, 55], [55, 57], [49, 54], [54, 56], [5, 2]
    ]  # fmt: skip
    assert answer["partial"] == [START + 5 * MINUTE]


@pytest.mark.parametrize("most", [100_000, 5_000, 300, 2])
def test_an_answer_is_capped_whatever_is_asked(web: FlaskClient, most: int) -> None:
    answer = candles(web, 3, max_points=most)
    assert len(answer["time"]) <= min(most, 5_000)
    assert sum(answer["volume"]) == pytest.approx(sum(candles(web, 3, max_points=2)["volume"]))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"from": "yesterday"}, "from=yesterday: a whole number is needed"),
        ({"to": "1.5"}, "to=1.5: a whole number is needed"),
        ({"from": "20", "to": "10"}, "from=20 is after to=10"),
        ({"from": str(10**30)}, "in the years 1 to 9999"),
        ({"max_points": "many"}, "max_points=many: a whole number is needed"),
        ({"max_points": "1"}, "max_points 1: ask for 2 to 5000"),
        ({"timeframe": "1m"}, "timeframe '1m': this series is of 1h; choose 1h, 2h"),
        ({"timeframe": "fortnight"}, "timeframe 'fortnight'"),
        ({"encoding": "xml"}, "encoding=xml: choose binary or list"),
        ({"form": "1"}, "unknown parameter form"),
    ],
)
def test_a_bad_parameter_is_named(web: FlaskClient, query: dict[str, str], words: str) -> None:
    assert words in refused(web.get("/api/series/1/candles", query_string=query))


def test_the_same_bytes_give_the_series_that_they_made(web: FlaskClient) -> None:
    content = csv_of(4, price=11)
    first = uploaded(web, content, "TWICE")
    again = uploaded(web, content, "TWICE", zone="Europe/Paris")
    assert again["series"] == first["series"]
    assert again["report"] == {**first["report"], "identical": True}


def test_the_bytes_of_a_deleted_series_make_a_new_one(web: FlaskClient) -> None:
    content = csv_of(4, price=12)
    first = uploaded(web, content, "GONE")["series"]
    web.delete(f"/api/series/{first['id']}")
    again = uploaded(web, content, "GONE")
    assert again["report"]["identical"] is False
    assert again["series"]["id"] != first["id"]


def test_candles_are_added_to_the_series_that_is_named(web: FlaskClient) -> None:
    series = uploaded(web, csv_of(5, price=20), "GROWS")["series"]
    more = csv_of(5, start=START + 3 * MINUTE, price=23)
    body = uploaded(web, more, "", series_id=str(series["id"]))
    assert (body["series"]["id"], body["series"]["candles"]) == (series["id"], 8)
    assert [body["report"][name] for name in ("added", "same", "changed")] == [3, 2, 0]
    assert candles(web, series["id"])["close"] == [20, 21, 22, 23, 24, 25, 26, 27]


def test_what_contradicts_a_stored_candle_is_listed_and_changes_nothing(web: FlaskClient) -> None:
    series = uploaded(web, csv_of(3, price=30), "FIRM")["series"]
    body = uploaded(web, csv_of(4, price=31), "", series_id=str(series["id"]))
    assert (body["report"]["added"], body["report"]["changed"]) == (1, 3)
    assert body["report"]["changed_candles"][0] == {
        "time": START, "open": 31, "high": 32, "low": 30, "close": 31, "volume": 1
    }  # fmt: skip
    assert candles(web, series["id"])["close"] == [30, 31, 32, 34]


def test_adding_the_same_bytes_again_adds_nothing(web: FlaskClient) -> None:
    series = uploaded(web, csv_of(3, price=40), "ADDED")["series"]
    more = csv_of(6, price=40)
    uploaded(web, more, "", series_id=str(series["id"]))
    again = uploaded(web, more, "", series_id=str(series["id"]))
    assert (again["series"]["candles"], again["report"]["identical"]) == (6, True)
    made = uploaded(web, more, "OWN")  # what bytes were added to is not what they made
    assert made["series"]["id"] != series["id"]


def test_another_timeframe_is_not_added(web: FlaskClient) -> None:
    series = uploaded(web, csv_of(3, price=60), "MINUTES")["series"]
    hours = send(web, csv_of(3, step=3_600_000, price=60), series_id=str(series["id"]))
    assert "the file has 1h candles, MINUTES has 1m" in refused(hours)


def test_a_file_that_cannot_be_read_is_refused_by_line_and_nothing_is_stored(web: FlaskClient) -> None:
    before = listed(web)
    broken = csv_of(3).replace(b",101.0,102.0", b",1O1.0,102.0")
    answer = send(web, broken, symbol="BROKEN")
    assert "line 3" in refused(answer)
    assert "1O1.0" in refused(answer)
    assert listed(web) == before


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"series_id": "first"}, "series_id=first: the number of a series is needed"),
        ({"answers": "{"}, "answers: no JSON"),
        ({"answers": "[1]"}, "answers=[1]: a JSON object"),
        ({"answers": '{"zonee": "UTC"}'}, "answer zonee: nothing asks for it; known are after_date"),
        ({"series_id": "9" * 30}, "the number of a series is needed"),
        ({"sybmol": "X"}, "unknown field sybmol; known are symbol"),
    ],
)
def test_a_bad_form_field_is_named(web: FlaskClient, form: dict[str, str], words: str) -> None:
    assert words in refused(send(web, csv_of(2, price=70), **form))


def test_a_post_without_a_file_says_what_to_send(web: FlaskClient) -> None:
    assert "multipart field `file`" in refused(web.post("/api/series", data={"symbol": "X"}))


def test_adding_to_an_unknown_series_is_not_found(web: FlaskClient) -> None:
    assert refused(send(web, csv_of(2, price=71), series_id="999"), 404) == "there is no series 999"


def test_no_upload_is_left_behind(web: FlaskClient, served: Flask) -> None:
    uploaded(web, csv_of(2, price=80), "CLEAN")
    refused(send(web, b"nothing to read", symbol="CLEAN"))
    folder = served.extensions["annotate"].settings.data_dir / "uploads"
    assert list(folder.iterdir()) == []


def test_a_series_is_renamed(web: FlaskClient) -> None:
    series = uploaded(web, csv_of(2, price=90), "BEFORE")["series"]
    renamed = web.patch(f"/api/series/{series['id']}", json={"symbol": " AFTER "}).get_json()["series"]
    assert renamed["symbol"] == listed(web)[series["id"]]["symbol"] == "AFTER"


@pytest.mark.parametrize("body", [{}, {"symbol": ""}, {"symbol": 7}, {"symbol": "A", "timeframe": "1h"}, []])
def test_a_rename_that_cannot_be_taken_is_refused(web: FlaskClient, body: object) -> None:
    before = listed(web)
    refused(web.patch("/api/series/1", json=body))
    assert listed(web) == before


def test_a_deleted_series_is_gone_until_it_is_restored(web: FlaskClient) -> None:
    series = uploaded(web, csv_of(2, price=95), "UNDONE")["series"]
    path = f"/api/series/{series['id']}"
    assert web.get(f"{path}/candles").status_code == 200
    assert web.delete(path).status_code == 200
    assert series["id"] not in listed(web)
    assert web.get(f"{path}/candles").status_code == web.delete(path).status_code == 404
    assert web.post(f"{path}/restore").get_json()["series"]["symbol"] == "UNDONE"
    assert listed(web)[series["id"]] == series


def test_a_series_that_was_not_uploaded_has_no_report(web: FlaskClient) -> None:
    assert "was not uploaded" in refused(web.get("/api/series/1/report"), 404)
