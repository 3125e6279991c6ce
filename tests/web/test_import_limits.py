"""What an upload may not do: be too large, unpack without end, name other files, wait for ever, outlive a cancel."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from annotate import upload, uploads
from annotate.importing import container
from annotate.settings import Settings
from tests.conftest import TOKEN
from tests.web.test_series import START, csv_of, listed, served, web
from tests.web.test_uploads import committed, previewed

__all__ = ["served", "web"]  # fixtures

HEADER = "symbol,time,open,high,low,close,volume\n"


def sent(web: FlaskClient, data: bytes, filename: str = "a.csv", **fields: str) -> TestResponse:
    query = {"filename": filename, "symbol": "LIMITS", **fields}
    return web.post("/api/series", query_string=query, data=data, content_type="application/octet-stream")


def packed(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def message(answer: TestResponse, status: int = 422) -> str:
    assert answer.status_code == status, answer.text
    text: str = answer.get_json()["error"]["message"]
    return text


def test_a_bomb_is_refused_before_it_is_unpacked(web: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    before = listed(web)
    monkeypatch.setattr(container, "MAX_UNPACKED", 4 * container.MIB)
    assert "unpacks to more than" in message(sent(web, packed({"a.csv": bytes(8 * container.MIB)}), "bomb.zip"))
    assert listed(web) == before


@pytest.mark.parametrize("name", ["../a.csv", "/etc/a.csv", "..\\a.csv", "C:/a.csv", "a/../../b.csv"])
def test_an_archive_with_a_name_that_leaves_its_folder_is_refused(name: str, web: FlaskClient) -> None:
    assert "unsafe name" in message(sent(web, packed({name: csv_of(3)}), "names.zip"))


@pytest.mark.parametrize("name", ["../../escape.csv", "..\\..\\escape.csv", "/tmp/escape.csv", "escape.csv/.."])
def test_a_file_name_is_never_a_path(name: str, web: FlaskClient, served: Flask) -> None:
    folder: Path = served.extensions["annotate"].settings.data_dir
    answer = sent(web, csv_of(3, price=500 + len(name)), name)
    assert answer.status_code == 201
    assert not [path for path in folder.parent.rglob("*escape*") if path.name.startswith("escape")]


def test_a_body_above_the_limit_is_refused(tmp_path: Path) -> None:
    from app import close_app, create_app

    app = create_app(Settings(data_dir=tmp_path / "data", token=TOKEN, threads=1, max_upload_mb=1))
    try:
        client = app.test_client()
        client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {TOKEN}"
        answer = client.post(
            "/api/uploads?filename=a.csv", data=bytes(2 * container.MIB), content_type="application/octet-stream"
        )
        assert (answer.status_code, answer.get_json()["error"]["code"]) == (413, "too_large")
        assert list((tmp_path / "data" / "uploads").iterdir()) == []
    finally:
        close_app(app)


def test_a_file_that_nobody_takes_up_goes_after_its_time(web: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    first = previewed(web, csv_of(3, price=401))["upload"]["id"]
    monkeypatch.setattr(uploads, "KEPT_S", 0.0)
    previewed(web, csv_of(3, price=402))
    assert "send it again" in message(web.get(f"/api/uploads/{first}"), 404)


def test_a_full_house_lets_the_oldest_file_go(web: FlaskClient) -> None:
    ids = [previewed(web, csv_of(3, price=410 + at))["upload"]["id"] for at in range(uploads.KEPT + 1)]
    assert web.get(f"/api/uploads/{ids[0]}").status_code == 404
    assert web.get(f"/api/uploads/{ids[1]}").status_code == 200


def test_a_file_is_kept_as_it_is_and_imported_when_that_is_asked_for(web: FlaskClient) -> None:
    query = "/api/uploads?filename=kept.csv"
    kept = web.post(query, data=csv_of(4, price=450), content_type="application/octet-stream")
    assert (kept.status_code, kept.get_json()["upload"]["state"]) == (201, "received")
    upload = committed(web, kept.get_json()["upload"]["id"], {"symbol": "KEPT"})
    assert upload["items"][0]["series"]["candles"] == 4
    assert "it goes with the preview" in message(
        web.post(f"{query}&symbol=X", data=b"a", content_type="application/octet-stream")
    )


def test_an_import_that_is_called_off_stores_nothing(web: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    upload_id = previewed(web, csv_of(50, price=460))["upload"]["id"]
    before = listed(web)

    def called_off_at_the_last_step(database: Any, store: Any, file: Any, now: int, watch: Any) -> Any:
        def call_off(share: float) -> None:
            if share > 0.95:  # everything is written but not committed
                assert web.delete(f"/api/uploads/{upload_id}").status_code == 200
            watch(share)

        return upload.store_upload(database, store, file, now, call_off)

    monkeypatch.setattr(uploads, "store_upload", called_off_at_the_last_step)
    assert committed(web, upload_id, {"symbol": "OFF"})["state"] == "cancelled"
    assert listed(web) == before


def test_a_file_without_a_symbol_asks_for_it_with_a_likely_one(web: FlaskClient) -> None:
    answer = web.post(
        "/api/series?filename=daily_IBM.csv", data=csv_of(3, price=470), content_type="application/octet-stream"
    )
    error = answer.get_json()["error"]
    assert (answer.status_code, error["code"], error["details"]["field"]) == (422, "needs_answer", "symbol")
    (question,) = error["details"]["questions"]
    assert question["choices"] == [{"value": "IBM", "label": "IBM", "likely": True}]
    again = web.post("/api/series", data={"upload": error["details"]["upload"], "symbol": "IBM"})
    assert (again.status_code, again.get_json()["series"]["symbol"]) == (201, "IBM")


def test_a_preview_says_that_a_file_does_not_fit_the_series_it_is_to_be_added_to(web: FlaskClient) -> None:
    upload_id = previewed(web, csv_of(5, price=490))["upload"]["id"]
    path = f"/api/uploads/{upload_id}/preview"
    shown = web.post(path, json={"series_id": 1}).get_json()["preview"]
    assert shown["problem"] == "the file has 1m candles, EUR/USD has 1h; upload it as a new series"
    assert web.post(path, json={"series_id": 999}).status_code == 404


def test_a_file_that_names_another_market_is_added_with_a_word(web: FlaskClient) -> None:
    series_id = sent(web, csv_of(5, price=495), symbol="ONE/MARKET").get_json()["series"]["id"]
    added = sent(web, csv_of(7, price=495), "BTCUSDT-1m.csv", series_id=str(series_id), symbol="")
    assert "The file says that it is BTC/USDT; it was added to ONE/MARKET." in added.get_json()["report"]["notes"]


def test_several_series_of_one_file_are_asked_about_and_made_together(web: FlaskClient) -> None:
    rows = [f"{symbol},{START + row * 60_000},1,2,0.5,1.5,9\n" for row in range(4) for symbol in ("AAA", "BBB")]
    data = (HEADER + "".join(rows)).encode()
    error = web.post("/api/series?filename=two.csv", data=data, content_type="application/octet-stream").get_json()[
        "error"
    ]
    assert [question["name"] for question in error["details"]["questions"]] == ["symbols"]
    answers = {"upload": error["details"]["upload"], "answers": json.dumps({"symbols": "all"})}
    made = web.post("/api/series", data=answers).get_json()["items"]
    assert [(each["series"]["symbol"], each["series"]["candles"]) for each in made] == [("AAA", 4), ("BBB", 4)]
    again = web.post("/api/series?filename=two.csv", data=data, content_type="application/octet-stream").get_json()
    assert [each["report"]["identical"] for each in again["items"]] == [True, True]
    into = json.dumps({"symbols": "all"})
    added = sent(web, data + b"AAA,1,1,2,0.5,1.5,9\n", "two.csv", series_id=str(made[0]["series"]["id"]), answers=into)
    assert "add them one by one" in message(added)


def test_a_mark_that_ends_in_a_gap_is_known_later_once_the_gap_is_filled(web: FlaskClient) -> None:
    whole = csv_of(9, price=480)
    lines = whole.decode().splitlines(keepends=True)
    holed = "".join(lines[:4] + lines[6:]).encode()
    series_id = sent(web, holed, symbol="HOLED").get_json()["series"]["id"]
    label = web.get("/api/label-sets").get_json()["items"][0]["labels"][0]["name"]
    # It ends half a minute into the gap: known then; once there is a candle, at that candle's close.
    span = {"kind": "span", "label": label, "start": START, "end": START + 210_000, "revision": 0}
    path = f"/api/series/{series_id}/annotations"
    mark = "00000000-0000-4000-8000-0000000000aa"
    assert web.put(f"{path}/{mark}", json=span).status_code == 200
    assert web.get(path).get_json()["items"][0]["known_at"] == START + 210_000
    assert sent(web, whole, series_id=str(series_id)).get_json()["report"]["added"] == 2
    assert web.get(path).get_json()["items"][0]["known_at"] == START + 240_000
