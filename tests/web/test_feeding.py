"""Candles posted to a series: each once, on the disk before the answer, what cannot be taken refused by name."""

from __future__ import annotations

import io
import json
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
import requests
from flask import Flask
from flask.testing import FlaskClient

from tests.conftest import CANDLE_FACTS, TOKEN
from tests.serving import start_server

HOUR = 3_600_000
START = 1_700_000_000_000 // HOUR * HOUR
NEVER = 4_102_444_800_000  # 2100

Json = dict[str, Any]


def candle(number: int, **changed: Any) -> Json:
    """The hourly candle of that number; its values follow from it."""
    price = 100.0 + number % 11
    values = {"open": price, "high": price + 2, "low": price - 2, "close": price + 1, "volume": float(number)}
    return {"time": START + number * HOUR, **values, **changed}


@pytest.fixture
def client(shared_app: Flask) -> FlaskClient:
    """A client that sends the token; each test feeds a series of its own."""
    sender = shared_app.test_client()
    sender.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {TOKEN}"
    return sender


@pytest.fixture
def series_id(client: FlaskClient) -> int:
    series = made(client, "ETH/USDT", "60m")
    assert (series["timeframe"], series["candles"], series["source"]) == ("1h", 0, "feed")
    return int(series["id"])


def made(client: FlaskClient, symbol: str, timeframe: str) -> Json:
    """A new series without candles."""
    answer = client.post("/api/series", json={"symbol": symbol, "timeframe": timeframe})
    assert answer.status_code == 201, answer.text
    series: Json = answer.get_json()["series"]
    return series


def post(client: FlaskClient, series_id: int, body: Any, status: int = 200) -> Json:
    answer = client.post(f"/api/series/{series_id}/candles", json=body)
    assert answer.status_code == status, answer.text
    found: Json = answer.get_json()["receipt" if status == 200 else "error"]
    return found


def stored(client: FlaskClient, series_id: int) -> list[Json]:
    columns = client.get(f"/api/series/{series_id}/candles?encoding=list&max_points=5000").get_json()
    names = ("time", "open", "high", "low", "close", "volume")
    return [dict(zip(names, row, strict=True)) for row in zip(*(columns[name] for name in names), strict=True)]


def test_one_candle_or_many_are_stored_each_once_with_every_value(client: FlaskClient, series_id: int) -> None:
    assert post(client, series_id, candle(0))["stored"] == 1
    receipt = post(client, series_id, [candle(number) for number in range(5)])
    assert (receipt["stored"], receipt["known"], receipt["gaps"]) == (4, 1, [])
    again = post(client, series_id, [candle(number) for number in range(5)])
    assert (again["stored"], again["known"]) == (0, 5)
    assert stored(client, series_id) == [candle(number) for number in range(5)]


def test_a_volume_that_is_not_known_stays_null_and_is_known_again(client: FlaskClient, series_id: int) -> None:
    unknown = candle(0)
    del unknown["volume"]
    post(client, series_id, unknown)
    assert stored(client, series_id)[0]["volume"] is None
    assert post(client, series_id, unknown)["known"] == 1


def test_a_changed_candle_is_refused_with_both_versions_and_in_a_list_the_others_are_stored(
    client: FlaskClient, series_id: int
) -> None:
    post(client, series_id, [candle(0), candle(1)])
    changed = candle(1, close=99.5)
    error = post(client, series_id, changed, 409)
    assert (error["code"], error["details"]["stored"], error["details"]["sent"]) == ("conflict", candle(1), changed)
    receipt = post(client, series_id, [changed, candle(2)])
    assert (receipt["stored"], receipt["conflicts_count"]) == (1, 1)
    assert receipt["conflicts"] == [{"time": candle(1)["time"], "stored": candle(1), "sent": changed}]
    assert stored(client, series_id) == [candle(number) for number in range(3)]


def test_in_a_replay_a_receipt_does_not_tell_what_comes_after_the_cursor(client: FlaskClient, series_id: int) -> None:
    post(client, series_id, [candle(number) for number in range(4)])
    opened = client.post(f"/api/series/{series_id}/replay", json={"at": candle(2)["time"]})
    assert opened.status_code == 201, opened.text
    changed = [candle(1, close=99.5), candle(3, close=99.5)]
    receipt = post(client, series_id, changed)
    assert [conflict["stored"] for conflict in receipt["conflicts"]] == [candle(1), None]
    assert post(client, series_id, changed[1], 409)["details"]["stored"] is None
    assert post(client, series_id, [candle(9)])["gaps"] == [], "it would tell where the candles end"
    assert post(client, series_id, [candle(6)])["late"] == [], "it would tell that there is a later one"
    client.delete(f"/api/series/{series_id}/replay")


def test_late_and_unordered_candles_are_stored_in_their_place_and_named(client: FlaskClient, series_id: int) -> None:
    receipt = post(client, series_id, [candle(4), candle(0), candle(5)])
    assert (receipt["out_of_order"], receipt["late"]) == (1, [])
    assert receipt["gaps"] == [{"start": candle(1)["time"], "end": candle(4)["time"], "missing": 3}]
    receipt = post(client, series_id, [candle(2), candle(8)])
    assert receipt["late"] == [candle(2)["time"]]
    assert receipt["gaps"] == [{"start": candle(6)["time"], "end": candle(8)["time"], "missing": 2}]
    assert stored(client, series_id) == [candle(number) for number in (0, 2, 4, 5, 8)]


def test_a_forming_candle_is_stored_only_once_it_has_closed(client: FlaskClient, series_id: int) -> None:
    post(client, series_id, candle(0))
    half = candle(1, close=100.5, closed=False)
    receipt = post(client, series_id, half)
    assert (receipt["stored"], receipt["forming"]) == (0, half["time"])
    assert len(stored(client, series_id)) == 1
    assert post(client, series_id, candle(1, closed=True))["stored"] == 1
    assert stored(client, series_id) == [candle(0), candle(1)]


def test_without_a_word_a_candle_is_closed_when_its_time_is_over_whatever_its_place(
    client: FlaskClient, series_id: int
) -> None:
    future = {**candle(1), "time": NEVER}
    receipt = post(client, series_id, [candle(0), candle(1), future])
    assert (receipt["stored"], receipt["forming"]) == (2, NEVER)
    receipt = post(client, series_id, {**future, "closed": True})
    assert receipt["stored"] == 1
    assert "after this server's clock" in receipt["notes"][0]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (candle(0, time=START + 90_000), f"no 1h candle of this series opens then; send its open time, {START}"),
        (candle(0, time=START // 1000), "this looks like seconds"),
        (candle(0, time=float(START)), "must be a whole number"),
        (candle(0, high=None), "high is missing"),
        (candle(0, close="101"), "close = '101': must be a number"),
        (candle(0, low=1e400), "no JSON: Infinity is no number of JSON"),
        (candle(0, volume=-1), "must not be negative"),
        (candle(0, vol=1), "vol = 1: unknown field; known are time, open"),
        (candle(0, closed="yes"), "closed = 'yes': must be true or false"),
        ([], "0 candles: send 1 to 10,000"),
        ([candle(0), 7], "candles[1] = 7: must be a JSON object"),
        ([candle(0), candle(1), candle(0, close=99.0)], f"the candle at {START} comes twice"),
        ("no candle", "must be a JSON object"),
    ],
)
def test_what_cannot_be_taken_is_refused_by_name_and_nothing_is_stored(
    client: FlaskClient, series_id: int, body: Any, words: str
) -> None:
    assert words in post(client, series_id, body, 422)["message"]
    assert stored(client, series_id) == []


def test_a_candle_with_a_high_below_its_close_is_stored_and_flagged(client: FlaskClient, series_id: int) -> None:
    assert post(client, series_id, candle(0, high=90.0))["flagged"] == [START]


def test_a_series_whose_candles_open_off_the_grid_goes_on_as_it_does(client: FlaskClient) -> None:
    file = "time,open,high,low,close\n2024-01-01 21:00,1,2,1,2\n2024-01-02 21:00,1,2,1,2\n2024-01-03 21:00,1,2,1,2\n"
    sent = {"file": (io.BytesIO(file.encode()), "days.csv"), "symbol": "FX", "timeframe": "1d"}
    series_id = client.post("/api/series", data=sent).get_json()["series"]["id"]
    opens = 1_704_402_000_000  # 2024-01-04 21:00
    assert post(client, series_id, candle(0, time=opens, closed=True))["gaps"] == []
    assert "opens then" in post(client, series_id, candle(0, time=opens + HOUR), 422)["message"]


def test_the_door_is_shut_without_a_token_and_for_a_series_that_is_not_there(
    shared_app: Flask, client: FlaskClient
) -> None:
    assert shared_app.test_client().post("/api/series/1/candles", json=candle(0)).status_code == 403
    assert client.post("/api/series/99/candles", json=candle(0)).status_code == 404
    assert client.post("/api/series/1/candles", data="no JSON").status_code == 415


def test_the_kinds_of_the_exchanges_messages_give_their_values(client: FlaskClient) -> None:
    """Bybit's sample is a forming candle; OKX's opens off the grid of a day and is refused."""
    folder = CANDLE_FACTS / "live"
    if not folder.is_dir():
        return  # beside a clone without the facts there is nothing to compare with
    kline = json.loads((folder / "bybit_ws_kline.json").read_text())["data"][0]
    names = ("open", "high", "low", "close", "volume")
    forming = {"time": kline["start"], **{n: float(kline[n]) for n in names}, "closed": kline["confirm"]}
    series_id = made(client, "BTCUSDT", "5m")["id"]
    assert post(client, series_id, forming)["forming"] == 1672324800000
    assert stored(client, series_id) == []
    row = json.loads((folder / "okx_ws_candle.json").read_text())["data"][0]
    daily = {"time": int(row[0]), **dict(zip(names, map(float, row[1:6]), strict=True)), "closed": row[8] == "1"}
    series_id = made(client, "BTC-USDT", "1d")["id"]
    assert "send its open time, 1597017600000" in post(client, series_id, daily, 422)["message"]


def test_two_feeders_at_once_store_every_candle_once(shared_app: Flask, client: FlaskClient, series_id: int) -> None:
    def feed(offset: int) -> None:
        mine = shared_app.test_client()
        mine.environ_base = client.environ_base
        for start in range(offset, 60, 2):
            post(mine, series_id, [candle(number) for number in range(start, start + 3)])

    threads = [threading.Thread(target=feed, args=(offset,)) for offset in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stored(client, series_id) == [candle(number) for number in range(62)]


@pytest.mark.slow
def test_a_server_killed_while_it_is_fed_has_lost_no_acknowledged_candle(tmp_path: Path) -> None:
    server = start_server(tmp_path / "data")
    series_id = server.post("/api/series", {"symbol": "ETH/USDT", "timeframe": "1h"})["series"]["id"]
    acknowledged: list[int] = []
    enough = threading.Event()

    def feed() -> None:
        for number in range(100_000):
            try:
                answer = server.call("POST", f"/api/series/{series_id}/candles", json=candle(number))
            except requests.RequestException:
                return
            if answer.status_code == 200:
                acknowledged.append(number)
            if number == 60:
                enough.set()

    feeder = threading.Thread(target=feed)
    feeder.start()
    assert enough.wait(60)
    server.process.send_signal(signal.SIGKILL)
    server.process.wait(10)
    feeder.join()
    again = start_server(tmp_path / "data")
    columns = again.get(f"/api/series/{series_id}/candles?encoding=list&max_points=5000")
    again.stop()
    times = [candle(number)["time"] for number in acknowledged]
    assert len(times) > 60
    assert columns["time"][: len(times)] == times
    assert columns["close"][: len(times)] == [candle(number)["close"] for number in acknowledged]
    assert len(columns["time"]) <= len(times) + 1  # the one that was on its way
