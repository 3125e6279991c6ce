"""Mangled files over HTTP: whole series or a named refusal, never a 500, a hang or a part of a series."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from annotate.uploads import KEPT
from tests.annotate.importing.test_fuzz import mangled_files
from tests.web.test_series import listed, served, web

__all__ = ["served", "web"]  # fixtures

IN_THE_SUITE, IN_THE_SOAK = 80, 20_000
SOAK_S = 3600.0
LONGEST_S = 3.0  # of CPU time: the machine may be busy
SAMPLE = 3  # series that every data folder starts with


def sent(web: FlaskClient, path: str, name: str, data: bytes, **fields: str) -> TestResponse:
    query = {"filename": name, **fields}
    return web.post(path, query_string=query, data=data, content_type="application/octet-stream")


def likely(questions: list[dict[str, Any]]) -> dict[str, str]:
    return {each["name"]: next(c["value"] for c in each["choices"] if c["likely"]) for each in questions}


def imported(web: FlaskClient, name: str, data: bytes) -> list[dict[str, Any]]:
    """Upload a file and answer what it asks as is likely; give its series, none where it is refused."""
    answer = sent(web, "/api/series", name, data, symbol="FUZZ")
    body = answer.get_json()
    if answer.status_code == 422 and body["error"]["code"] == "needs_answer":
        details = body["error"]["details"]
        answers = json.dumps(likely(details["questions"]))
        answer = web.post("/api/series", data={"upload": details["upload"], "answers": answers, "symbol": "FUZZ"})
        body = answer.get_json()
        if answer.status_code != 201:
            assert web.delete(f"/api/uploads/{details['upload']}").status_code == 200
    assert answer.status_code in (201, 422), answer.text
    if answer.status_code == 422:
        assert body["error"]["message"]
        return []
    items: list[dict[str, Any]] = body["items"]
    return items


def assert_whole(web: FlaskClient, item: dict[str, Any]) -> None:
    """Check that a made series holds what its report says, and take it away again."""
    series, report = item["series"], item["report"]
    assert series["candles"] == report["rows_kept"] > 0
    window = web.get(f"/api/series/{series['id']}/candles", query_string={"encoding": "list", "max_points": 5000})
    assert window.status_code == 200
    assert window.get_json()["time"]
    assert web.delete(f"/api/series/{series['id']}").status_code == 200


def run_fuzz(web: FlaskClient, data_dir: Path, count: int, seconds: float) -> int:
    """Send mangled files until there are no more or the time is up; give how many were sent."""
    began = time.monotonic()
    done = 0
    for label, name, data in mangled_files(count):
        started = time.process_time()
        items = imported(web, name, data)
        shown = sent(web, "/api/series/preview", name, data) if done % 4 == 0 else None
        assert shown is None or shown.status_code in (201, 422), label
        for item in items:
            assert_whole(web, item)
        assert time.process_time() - started < LONGEST_S, label
        done += 1
        if time.monotonic() - began > seconds:
            break
    assert len(listed(web)) == SAMPLE
    assert len(list((data_dir / "uploads").iterdir())) <= KEPT
    return done


def test_mangled_uploads_give_whole_series_or_a_named_refusal(web: FlaskClient, served: Flask) -> None:
    assert run_fuzz(web, served.extensions["annotate"].settings.data_dir, IN_THE_SUITE, SOAK_S) == IN_THE_SUITE


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_twenty_thousand_mangled_uploads_give_whole_series_or_a_named_refusal(
    web: FlaskClient, served: Flask, capsys: pytest.CaptureFixture[str]
) -> None:
    done = run_fuzz(web, served.extensions["annotate"].settings.data_dir, IN_THE_SOAK, SOAK_S)
    with capsys.disabled():
        print(f"{done:,} mangled files were sent")
    assert done > IN_THE_SUITE
