"""Worth, costs, indicators and views over HTTP."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from annotate.models import Json
from tests.annotate.annotations.builders import HOUR, START, trade
from tests.web.marking import Marking, answered, refused


def get(marking: Marking, path: str, author: str = "me") -> Json:
    return answered(marking.client.get(f"/api/series/{marking.series_id}/{path}", headers={"X-Author": author}))


def test_a_trade_is_worth_what_its_fills_bring_after_the_costs_of_the_workspace(marking: Marking) -> None:
    mark = marking.put_ok(trade(10, 20))
    answered(marking.client.put("/api/costs", json={"fee_bps": 0}))
    worth = get(marking, "worth")
    (item,) = worth["items"]
    assert (item["id"], item["entry"]["price"], item["exit"]["price"]) == (mark["id"], 111.0, 121.0)
    assert item["return"] == pytest.approx(121 / 111 - 1)
    answered(marking.client.put("/api/costs", json={"fee_bps": 10, "slippage_bps": 5}))
    after = get(marking, "worth")
    assert after["costs"] == answered(marking.client.get("/api/costs")) == {"fee_bps": 10.0, "slippage_bps": 5.0}
    assert after["items"][0]["return"] < item["return"]
    assert after["totals"]["label"] == [after["totals"]["all"] | {"name": "Long"}]
    assert refused(marking.client.put("/api/costs", json={"fee_bps": -1}), 422)["details"]["field"] == "fee_bps"


def test_a_replayed_trade_is_open_until_the_cursor_has_passed_its_exit(marking: Marking) -> None:
    path = f"/api/series/{marking.series_id}/replay"
    answered(marking.client.post(path, json={"at": START + 21 * HOUR}), 201)
    marking.put_ok(trade(20, 20))
    assert get(marking, "worth")["items"][0]["state"] == "waiting"
    answered(marking.client.patch(path, json={"step": 5}))
    assert get(marking, "worth")["items"][0]["state"] == "open"
    answered(marking.client.delete(path))
    assert [each["name"] for each in get(marking, "worth")["totals"]["mode"]] == ["replay"]


def test_indicators_stand_on_the_candles_of_the_same_question(marking: Marking) -> None:
    asked = f"from={START + 30 * HOUR}&to={START + 60 * HOUR}&encoding=list"
    candles, lines = get(marking, f"candles?{asked}"), get(marking, f"indicators?names=sma:20,macd&{asked}")
    assert lines["time"] == candles["time"]
    average, macd = lines["items"]
    assert average["lines"]["value"] == pytest.approx([100.1 + place - 9.5 for place in range(30, 60)])
    assert (average["pane"], average["parameters"], macd["pane"]) == ("price", {"period": 20}, "own")
    assert macd["lines"]["signal"][:3] == [None] * 3  # its warm-up of 33 candles ends within the range
    assert all(value is not None for value in macd["lines"]["signal"][3:])


def test_panning_and_coarser_candles_change_no_value(marking: Marking) -> None:
    whole = get(marking, "indicators?names=rsi:5,ema:3&timeframe=4h&encoding=list")
    part = get(marking, f"indicators?names=rsi:5,ema:3&timeframe=4h&encoding=list&from={START + 48 * HOUR}")
    first = whole["time"].index(part["time"][0])
    for one, other in zip(whole["items"], part["items"], strict=True):
        assert one["lines"]["value"][first:] == other["lines"]["value"]


def test_binary_lines_have_nan_for_no_value(marking: Marking) -> None:
    line = get(marking, "indicators?names=sma:20")["items"][0]["lines"]["value"]
    values = np.frombuffer(base64.b64decode(line["bdata"]), "<f8")
    assert np.isnan(values).tolist() == [place < 19 for place in range(100)]


def test_a_replay_cuts_indicators_and_moves_none_of_their_values(marking: Marking) -> None:
    before = get(marking, "indicators?names=rsi:5&encoding=list")["items"][0]["lines"]["value"]
    path = f"/api/series/{marking.series_id}/replay"
    answered(marking.client.post(path, json={"at": START + 50 * HOUR}), 201)
    assert get(marking, "indicators?names=rsi:5&encoding=list")["items"][0]["lines"]["value"] == before[:50]
    answered(marking.client.delete(path))


def test_indicators_that_are_not_known_are_refused(marking: Marking) -> None:
    path = f"/api/series/{marking.series_id}/indicators"
    assert "is not known" in refused(marking.client.get(f"{path}?names=magic"), 422)["message"]
    assert "unknown parameter" in refused(marking.client.get(f"{path}?names=sma&limit=5"), 422)["message"]
    assert len(answered(marking.client.get("/api/indicators"))["items"]) >= 5


def test_a_view_is_found_again_by_its_author_alone_and_a_replay_has_its_own(marking: Marking) -> None:
    view = {"zoom": [START, START + 9 * HOUR], "panes": ["1h", "4h"], "indicators": ["sma:20"], "zone": "Asia/Tokyo"}
    path = f"/api/series/{marking.series_id}/view"
    answered(marking.client.put(path, json=view, headers={"X-Author": "Ann"}))
    assert get(marking, "view", "Ann") == {"view": view}
    assert get(marking, "view", "Ben") == {"view": {}}
    replay = f"/api/series/{marking.series_id}/replay"
    answered(marking.client.post(replay, json={"at": START + 50 * HOUR}, headers={"X-Author": "Ann"}), 201)
    assert get(marking, "view", "Ann") == {"view": {}}
    answered(marking.client.put(path, json={"zoom": []}, headers={"X-Author": "Ann"}))
    answered(marking.client.delete(replay, headers={"X-Author": "Ann"}))
    assert get(marking, "view", "Ann") == {"view": view}
    assert refused(marking.client.put(path, json={"x": "y" * 20_000}), 422)["details"]["field"] == "view"
    assert refused(marking.client.put(path, json=[1]), 422)["details"]["field"] == "view"
