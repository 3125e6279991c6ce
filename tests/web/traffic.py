"""Every route of the application, called with plausible arguments; and what numbers its answers hold.

The series has a future that can be told at sight: prices near PLANTED and times in a year of their own.
"""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from annotate.candles import Candles
from annotate.models import Json
from tests.annotate.annotations.builders import HOUR, START

PAST = 300  # candles that the replay may show
AHEAD = 100
PLANTED = 987_654.0  # prices after the cursor are this and a little more
CURSOR = START + PAST * HOUR
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
DOUBLES = 8  # bytes of a number in a binary column


def planted_candles() -> Candles:
    """Hours of an ordinary market, then a future that no past number looks like."""
    n = PAST + AHEAD
    time = START + np.arange(n, dtype=np.int64) * HOUR
    close = np.where(np.arange(n) < PAST, 100 + np.sin(np.arange(n) / 7), PLANTED + np.arange(n) / 100)
    return Candles(time, close - 0.25, close + 0.5, close - 0.5, close.astype(np.float64), np.full(n, 3.0))


def is_of_the_future(number: float) -> bool:
    """Tell whether a number is a planted price, or a time after the cursor and within the series' future."""
    return PLANTED - 10 <= number <= PLANTED + 1_000 or CURSOR < number <= START + (PAST + AHEAD) * HOUR


def leaks(answer: TestResponse) -> list[str]:
    """Give what an answer holds of the future, wherever it stands: JSON, base64 columns, text, files of a zip."""
    return sorted(set(_in_bytes(answer.get_data())))[:5]


def leaks_of(value: Any) -> list[str]:
    """Give what plain data holds of the future."""
    return sorted(set(_in_json(value)))[:5]


def _in_bytes(content: bytes) -> Iterator[str]:
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield from (f"{name}: {leak}" for leak in _in_bytes(archive.read(name)))
    elif content.startswith(b"ARROW1"):
        table = pa.ipc.open_file(io.BytesIO(content)).read_all()
        yield from (leak for column in table.columns for leak in _in_json(column.to_pylist()))
    else:
        text = content.decode("utf-8", "replace")
        try:
            yield from _in_json(json.loads(text))
        except ValueError:
            yield from _in_text(text)


def _in_json(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "bdata" in value:
            yield from _in_column(base64.b64decode(value["bdata"]), value["dtype"])
        for name, inner in value.items():
            if name != "bdata":
                yield from _in_json(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _in_json(inner)
    elif isinstance(value, str):
        yield from _in_text(value)
    elif isinstance(value, int | float) and not isinstance(value, bool) and is_of_the_future(value):
        yield str(value)


def _in_column(content: bytes, dtype: str) -> Iterator[str]:
    assert dtype == "f8", dtype
    yield from (str(number) for number in np.frombuffer(content, "<f8") if is_of_the_future(float(number)))


def _in_text(text: str) -> Iterator[str]:
    for found in re.findall(r"\d+(?:\.\d+)?", text):
        if is_of_the_future(float(found)):
            yield found
    for day in re.findall(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d)?", text):
        moment = np.datetime64(day.replace(" ", "T"), "ms").astype(np.int64)
        if is_of_the_future(float(moment)):
            yield day


@dataclass
class Things:
    """What the addresses name: rows that exist, so that a route has something to tell."""

    series_id: int
    run_id: int
    dataset_id: int
    export_id: int
    annotation_id: str
    label_set_id: int

    def value(self, name: str) -> Any:
        """Give what stands for a part of an address."""
        known: Any = getattr(self, name, None)
        return known if known is not None else {"version": "x", "name": "icon.svg"}.get(name, 1)


def bodies(things: Things, author: str) -> dict[str, list[Json]]:
    """Give for an endpoint the bodies that make it speak; any other gets an empty object."""
    mark = {"kind": "span", "label": "Long", "start": START, "end": START + HOUR}
    return {
        "annotations.put_annotation": [{**mark, "revision": 7}, mark],
        "annotations.post_bulk": [{"put": [{**mark, "id": things.annotation_id, "revision": 7}]}],
        "annotations.patch_annotations": [{"ids": [things.annotation_id], "set": {"comment": author}}],
        "annotations.post_undo": [{}, {"skip": True}],
        "datasets.post_dataset": [{"series_id": things.series_id, "name": "made"}],
        "datasets.preview_dataset": [{"series_id": things.series_id}],
        "datasets.post_export": [{"format": "report"}],
        "label_sets.post_label_set": [{"name": "x", "labels": [{"name": "a", "colour": "#000000"}]}],
        "models.load_model": [{"series_id": things.series_id, "model": "gru"}],
        "runs.post_run": [{"series_id": things.series_id, "mode": "live"}],
        "runs.predict": [{}, {"as_of": CURSOR}],
        "replay.patch_replay": [{"hide_price": True}],
        "replay.post_pass": [{"hides": "others"}],
        "reviewed.put_reviewed": [{"start": START, "end": START + HOUR}],
        "worth.put_costs": [{"fee_bps": 5}],
        "views.put_view": [{"zoom": 1}],
        "series.patch_series": [{"symbol": "PLANTED"}],
        "feeding.post_candles": [{"time": START, "open": 1, "high": 1, "low": 1, "close": 1, "closed": True}],
    }


QUERIES = {
    "series.get_candles": f"?timeframe=1d&from={START}&to={START + HOUR}&beside=5000",
    "indicators.get_indicators": "?names=sma:5,macd,atr:14&timeframe=4h",
}
SKIPPED = {  # these end what the walk needs; each has a test of its own
    "series.remove_series",
    "replay.post_replay",
    "replay.delete_replay",
    "replay.delete_pass",
    "datasets.remove_dataset",
}


def walk(app: Flask, client: FlaskClient, things: Things, author: str) -> Iterator[tuple[str, TestResponse]]:
    """Call every route of the API with every method it has, reading first; give `METHOD endpoint` and the answer."""
    known = bodies(things, author)
    rules = [
        rule for rule in app.url_map.iter_rules() if rule.rule.startswith("/api/") and rule.endpoint not in SKIPPED
    ]
    for method in METHODS:
        for rule in sorted(rules, key=lambda rule: (rule.endpoint, rule.rule)):
            for body in known.get(rule.endpoint, [{}]) if method in (rule.methods or ()) else ():
                answer = _call(client, method, _address(rule, things), body, author)
                yield f"{method} {rule.endpoint}", answer
                answer.close()


def _address(rule: Rule, things: Things) -> str:
    values = {name: things.value(name) for name in rule.arguments}
    if rule.endpoint == "annotations.put_annotation":
        values["annotation_id"] = values.get("annotation_id") or str(uuid4())
    address = rule.rule + QUERIES.get(rule.endpoint, "")
    for name, value in values.items():
        address = re.sub(rf"<(?:\w+:)?{name}>", str(value), address)
    return address


def _call(client: FlaskClient, method: str, address: str, body: Json, author: str) -> TestResponse:
    headers = {"X-Author": author}
    if method in ("GET", "DELETE"):
        return client.open(address, method=method, headers=headers)
    return client.open(address, method=method, json=body, headers=headers)
