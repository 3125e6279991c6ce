"""Real files beside the clone, where they stand, through the upload: each gives the facts that its manifest states."""

from __future__ import annotations

import base64
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from annotate.candles import COLUMNS, Candles
from annotate.timeframe import parse
from tests.conftest import CANDLE_FACTS
from tests.web.test_series import served, web

__all__ = ["served", "web"]  # fixtures

PRICES = ("open", "high", "low", "close")
WINDOW = 4000  # candles asked for at once


def entries() -> list[dict[str, Any]]:
    manifest = CANDLE_FACTS / "manifest.json"
    return json.loads(manifest.read_text())["files"] if manifest.exists() else []


def sent(web: FlaskClient, path: Path, **fields: str) -> TestResponse:
    """Send a file as it is, in the body."""
    return web.post(
        "/api/series",
        query_string={"filename": path.name, "symbol": path.stem, **fields},
        data=path.read_bytes(),
        content_type="application/octet-stream",
    )


def uploaded(web: FlaskClient, path: Path) -> dict[str, Any]:
    """Upload a file; questions get their likely answers, the zone that of UTC: facts are of the file's own clock."""
    answer = sent(web, path)
    if answer.status_code == 422 and answer.get_json()["error"]["code"] == "needs_answer":
        details = answer.get_json()["error"]["details"]
        likely = {
            each["name"]: next(choice["value"] for choice in each["choices"] if choice["likely"])
            for each in details["questions"]
        }
        assert set(likely) <= {"zone", "stamp"}
        answers = {"answers": json.dumps(likely | {"zone": "UTC"}), "upload": details["upload"], "symbol": path.stem}
        answer = web.post("/api/series", data=answers)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.get_json()
    assert len(made["items"]) == 1
    return made


def read_back(web: FlaskClient, series: dict[str, Any]) -> Candles:
    """Ask for every stored candle, window by window, in the series' own timeframe."""
    step = parse(series["timeframe"])
    parts: dict[str, list[np.ndarray[Any, np.dtype[np.float64]]]] = {name: [] for name in COLUMNS}
    for start in range(series["first"], series["last"] + 1, WINDOW * step):
        query = {"from": start, "to": start + WINDOW * step, "max_points": 5000}
        window = web.get(f"/api/series/{series['id']}/candles", query_string=query).get_json()
        assert window["level"] == series["timeframe"]
        for name in COLUMNS:
            parts[name].append(np.frombuffer(base64.b64decode(window[name]["bdata"]), "<f8"))
    time, *values = (np.concatenate(parts[name]) for name in COLUMNS)
    return Candles(time.astype(np.int64), *values)


def row_at(candles: Candles, row: int) -> dict[str, float | int | None]:
    volume = float(candles.volume[row])
    cells = {name[0]: float(getattr(candles, name)[row]) for name in PRICES}
    return {"t": int(candles.time[row]), **cells, "v": None if math.isnan(volume) else volume}


def expected_row(fact: dict[str, Any]) -> dict[str, float | int | None]:
    return {"t": fact["t_ms"], **{letter: None if fact[letter] is None else float(fact[letter]) for letter in "ohlcv"}}


if ENTRIES := entries():
    IMPORTED = [entry for entry in ENTRIES if entry["facts"]["rows"]]
    REFUSED = [entry for entry in ENTRIES if not entry["facts"]["rows"]]

    @pytest.mark.parametrize("entry", IMPORTED, ids=lambda entry: entry["id"])
    def test_an_uploaded_file_gives_its_facts(entry: dict[str, Any], web: FlaskClient) -> None:
        made, facts = uploaded(web, CANDLE_FACTS / entry["file"]), entry["facts"]
        report, candles = made["report"], read_back(web, made["series"])
        assert len(candles) == made["series"]["candles"] == facts["unique_timestamps"]
        assert (report["rows_read"], report["order"], report["sha256"]) == (
            facts["rows"],
            facts["file_order"],
            entry["sha256"],
        )
        assert report["duplicates"]["exact"] == facts["exact_duplicate_rows"]
        assert report["duplicates"]["conflicting"] == facts["conflicting_duplicate_timestamps"]
        assert report["gaps"]["count"] == facts["gaps_longer_than_modal_step"]
        assert report["violations"]["count"] == facts["rows_breaking_high_low_rule"]
        assert report["null_volumes"] == facts["rows_null_volume"]
        assert row_at(candles, 0) == expected_row(facts["first_row_chronological"])
        assert row_at(candles, -1) == expected_row(facts["last_row_chronological"])
        assert int(candles.time.sum()) == facts["sum_t_ms"]
        assert float(candles.low.min()) == float(facts["min_low"])
        assert float(candles.high.max()) == float(facts["max_high"])
        for name in (*PRICES, "volume"):
            if (total := facts.get(f"sum_{name}")) is not None:
                assert float(np.nansum(getattr(candles, name))) == pytest.approx(float(total), rel=1e-9)

    @pytest.mark.parametrize("entry", REFUSED, ids=lambda entry: entry["id"])
    def test_a_file_without_candles_is_refused_by_what_it_is(entry: dict[str, Any], web: FlaskClient) -> None:
        before = web.get("/api/series").get_json()
        answer = sent(web, CANDLE_FACTS / entry["file"])
        assert (answer.status_code, "no candles" in answer.get_json()["error"]["message"]) == (422, True)
        assert web.get("/api/series").get_json() == before

    def test_no_file_left_a_stack_trace_in_the_log(served: Flask) -> None:
        logs = served.extensions["annotate"].settings.data_dir / "logs"
        text = "\n".join(path.read_text() for path in logs.iterdir())
        assert "Traceback" not in text
