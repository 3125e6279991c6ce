"""Uploads over HTTP: looked at first, answered without sending again, imported in the background, called off."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from annotate import early_reader
from annotate.importing import reader
from annotate.uploads import Uploads
from tests.web.test_series import MINUTE, START, candles, csv_of, served, uploaded, web

__all__ = ["served", "web"]  # fixtures

METATRADER = (
    b"2024.01.02,10:00,1.1,1.2,1.0,1.15,7\n2024.01.02,10:01,1.15,1.3,1.1,1.2,8\n2024.01.02,10:02,1.2,1.3,1.1,1.2,9\n"
)


def previewed(web: FlaskClient, content: bytes, filename: str = "candles.csv") -> dict[str, Any]:
    answer = web.post("/api/series/preview", data={"file": (io.BytesIO(content), filename)})
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.get_json()
    return body


def committed(web: FlaskClient, upload_id: str, answers: dict[str, str], **body: Any) -> dict[str, Any]:
    answer = web.post(f"/api/uploads/{upload_id}/commit", json={"answers": answers, **body})
    assert answer.status_code == 202, answer.text
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        upload: dict[str, Any] = web.get(f"/api/uploads/{upload_id}").get_json()["upload"]
        if upload["state"] != "importing":
            return upload
        time.sleep(0.02)
    raise AssertionError("the import did not end")


def test_a_preview_stores_no_series_and_its_commit_does(web: FlaskClient) -> None:
    before = web.get("/api/series").get_json()
    body = previewed(web, csv_of(3, price=301))
    assert web.get("/api/series").get_json() == before
    assert body["preview"]["series"][0]["first"][0]["close"] == 301
    upload = committed(web, body["upload"]["id"], {"symbol": "TWO/STEPS"})
    assert (upload["state"], upload["progress"], upload["items"][0]["series"]["candles"]) == ("finished", 1.0, 3)


def test_a_question_is_answered_without_sending_the_file_again(web: FlaskClient) -> None:
    sent = {"file": (io.BytesIO(METATRADER), "EURUSD1.csv"), "symbol": "ASKED"}
    error = web.post("/api/series", data=sent).get_json()["error"]
    assert error["code"] == "needs_answer"
    again = {"upload": error["details"]["upload"], "symbol": "ASKED", "zone": "+02:00"}
    answer = web.post("/api/series", data=again)
    assert (answer.status_code, answer.get_json()["series"]["zone"]) == (201, "+02:00")
    # The next file like it finds the answer filled in.
    asked = previewed(web, METATRADER.replace(b"1.3", b"1.4"), "EURUSD1.csv")["preview"]["questions"]
    zone = next(question for question in asked if question["name"] == "zone")
    assert [choice["value"] for choice in zone["choices"] if choice["likely"]] == ["+02:00"]


def test_a_file_that_was_called_off_is_not_imported(web: FlaskClient) -> None:
    upload_id = previewed(web, csv_of(3, price=303))["upload"]["id"]
    assert web.delete(f"/api/uploads/{upload_id}").get_json()["upload"]["state"] == "cancelled"
    assert web.post(f"/api/uploads/{upload_id}/commit", json={}).status_code == 409


def test_a_failed_commit_says_why_and_may_be_tried_again(web: FlaskClient) -> None:
    upload_id = previewed(web, csv_of(3, price=304))["upload"]["id"]
    failed = committed(web, upload_id, {"duplicates": "none"})
    assert (failed["state"], failed["error"]["code"]) == ("failed", "invalid_input")
    assert committed(web, upload_id, {"symbol": "AGAIN"})["state"] == "finished"


def test_a_raw_body_is_taken_like_a_form(web: FlaskClient) -> None:
    answer = web.post(
        "/api/series?filename=raw.csv&symbol=RAW", data=csv_of(4, price=305), content_type="application/octet-stream"
    )
    assert (answer.status_code, answer.get_json()["series"]["candles"]) == (201, 4)


def test_a_large_file_is_read_while_it_arrives_and_taken_as_it_was_read(
    web: FlaskClient, served: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(early_reader, "LEAST", 1)
    held = previewed(web, METATRADER, "GBPUSD1.csv")["upload"]["id"]
    early = served.extensions["annotate"].uploads._early
    assert len(early.opened(held).tables[0]) == 3

    def never(*_arguments: object) -> None:
        raise AssertionError("the file was read again")

    with monkeypatch.context() as patch:
        patch.setattr(reader, "_open", never)
        upload = committed(web, held, {"zone": "+02:00"})
    assert (upload["state"], upload["items"][0]["series"]["zone"]) == ("finished", "+02:00")
    assert early.opened(held) is None


def test_an_upload_that_breaks_off_leaves_nothing_and_the_next_is_read(
    web: FlaskClient, served: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(early_reader, "LEAST", 1)
    uploads: Uploads = served.extensions["annotate"].uploads
    waiting = len(list(uploads._folder.iterdir()))

    def broken() -> Iterator[bytes]:
        yield csv_of(3, price=320)[:60]
        raise ConnectionError("the line went dead")

    with pytest.raises(ConnectionError):
        uploads.keep("broken.csv", broken())
    assert len(list(uploads._folder.iterdir())) == waiting
    broken_off = uploads._early._opened
    assert broken_off is not None
    assert isinstance(broken_off.exception(30), OSError)
    held = uploads.keep("whole.csv", iter([csv_of(3, price=321)]))
    opened = uploads._early.opened(held.id)
    assert opened is not None
    assert len(opened.tables[0]) == 3
    assert uploads.cancel(held.id)["state"] == "cancelled"


def test_fifty_marks_stay_where_they_are_when_older_rows_come_before_and_one_candle_is_corrected(
    web: FlaskClient,
) -> None:
    rows = [f"{START + place * MINUTE},{1 + place % 7},9,0.5,{2 + place % 7},5" for place in range(-500, 300)]
    header = "time,open,high,low,close,volume"
    series_id = uploaded(web, "\n".join([header, *rows[500:]]).encode(), "FIFTY")["series"]["id"]
    path = f"/api/series/{series_id}/annotations"
    ids = [f"00000000-0000-4000-8000-0000000005{place:02}" for place in range(50)]
    for place, mark_id in enumerate(ids):
        start = START + 6 * place * MINUTE
        span = {"kind": "span", "label": "Long", "start": start, "end": start + 2 * MINUTE, "revision": 0}
        assert web.put(f"{path}/{mark_id}", json=span).status_code == 200
    before = web.get(path).get_json()["items"]
    assert len(before) == 50
    rows[500 + 6 * 20] = rows[500 + 6 * 20].replace(",9,0.5,", ",9.5,0.5,")
    report = uploaded(web, "\n".join([header, *rows]).encode(), "FIFTY", series_id=str(series_id))["report"]
    assert (report["added"], report["same"], report["changed"]) == (500, 299, 1)
    assert [mark["id"] for mark in report["annotations_on_changed"]] == [ids[20]]
    assert report["orphan_annotations"] == []
    assert web.get(path).get_json()["items"] == before


@pytest.mark.parametrize(("row", "marks"), [(1, ["span"]), (3, [])])
def test_changed_and_vanished_candles_name_the_marks_on_them(web: FlaskClient, row: int, marks: list[str]) -> None:
    series_id = uploaded(web, csv_of(5, price=310 + row), f"MARKED{row}")["series"]["id"]
    label = web.get("/api/label-sets").get_json()["items"][0]["labels"][0]["name"]
    span = {"kind": "span", "label": label, "start": START + MINUTE, "end": START + 2 * MINUTE, "revision": 0}
    mark_id = f"00000000-0000-4000-8000-00000000000{row}"
    assert web.put(f"/api/series/{series_id}/annotations/{mark_id}", json=span).status_code == 200
    stored = candles(web, series_id)
    lines = csv_of(5, price=310 + row).decode().splitlines()
    gone = "\n".join([*lines[: row + 1], *lines[row + 2 :]]).encode()
    lines[row + 1] = lines[row + 1][:-1] + "2"
    for content, count, listed in (
        (gone, "vanished", "orphan_annotations"),
        ("\n".join(lines).encode(), "changed", "annotations_on_changed"),
    ):
        report = uploaded(web, content, f"MARKED{row}", series_id=str(series_id))["report"]
        assert (report[count], [mark["kind"] for mark in report[listed]]) == (1, marks)
    assert candles(web, series_id) == stored
