"""Every route meets what no page would send: a clear refusal or a right answer, never a failure or a half number."""

from __future__ import annotations

import json
import random
import re
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule

REQUESTS = 400
# Two take long whatever they are sent: one starts the trainer, the other packs all that is stored.
SLOW = {("DELETE", "/api/series/<int:series_id>/checkpoints"), ("GET", "/api/workspace/download")}
FIELDS = [
    "kind", "label", "start", "end", "time", "price", "side", "entry", "exit", "comment", "confidence", "revision",
    "status", "name", "labels", "colour", "key", "layer", "symbol", "timeframe", "zone", "series_id", "answers",
    "mode", "source", "from", "to", "cursor", "parameters", "decision", "ids", "mark", "order", "count", "at",
    "random", "step", "verdict", "set", "put", "delete", "skip", "hides", "reviewed", "fee_bps", "model",
    "checkpoint", "config", "feed", "dataset_id", "note", "epochs", "heads", "upload", "filename", "closed", "open",
    "high", "low", "close", "volume", "file", "tolerance", "first", "second", "limit", "after", "format",
    "max_points", "names",
]  # fmt: skip
ODD = [
    None, True, 0, 1, -1, 2, 10**15, 2**63, -(2**70), 1e308, 0.5, float("nan"), float("inf"), "", " ", "a", "\x00",
    "ü😀", "1", "NaN", "null", "x" * 5000, [], [1], [None], {}, {"a": 1}, "2017-01-01", "1h", "Long", "latest", "../x",
    "\ud800",
]  # fmt: skip
IDS = ["1", "2", "3", "0", "999", "9" * 20, "x", "%00", "-1"]
AUTHORS = ["me", "bob", "%zz", "%00", "a" * 300, "%F0%9F%98%80"]


@pytest.fixture
def app(shared_app: Flask) -> Flask:
    """One application for all of them."""
    return shared_app


def test_no_request_breaks_a_route(app: Flask, client: FlaskClient) -> None:
    draw = random.Random(0)
    routes = [
        (method, rule) for rule in app.url_map.iter_rules() for method in sorted((rule.methods or set()) - {"HEAD"})
    ]
    routes = [(method, rule) for method, rule in routes if (method, rule.rule) not in SLOW and method != "OPTIONS"]
    met = set()
    for number in range(REQUESTS):
        method, rule = routes[number % len(routes)]
        address = _address(rule, draw)
        asked = f"{method} {address}"
        answer = _send(client, method, address, draw)
        met.add(answer.status_code)
        answer.close()
        assert answer.status_code < 500, asked
        body = json.loads(answer.get_data(as_text=True), parse_constant=_no_number) if answer.is_json else {}
        if answer.status_code >= 400:
            assert body["error"]["message"], asked
    assert met >= {200, 404, 422}


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ('{"name": "\\ud800"}', "surrogates"),
        ('{"name": NaN}', "NaN"),
        ("[" * 100_000, "nested too deep"),
        ("{", "line 1 column 2"),
        ("", "line 1 column 1"),
    ],
)
def test_a_body_that_could_not_be_stored_again_is_refused_by_what_it_is(
    client: FlaskClient, body: str, named: str
) -> None:
    answer = client.put("/api/series/1/view", data=body, content_type="application/json")
    assert answer.status_code == 422
    assert named in answer.get_json()["error"]["message"]


def _no_number(name: str) -> float:
    raise AssertionError(f"{name} is no number of JSON")


def _address(rule: Rule, draw: random.Random) -> str:
    unique = str(UUID(int=draw.getrandbits(128)))
    return re.sub(r"<[^>]+>", lambda _part: draw.choice([*IDS[:3] * 3, *IDS, unique]), rule.rule)


def _send(client: FlaskClient, method: str, address: str, draw: random.Random) -> Any:
    query = {draw.choice(FIELDS): _text(draw.choice(ODD)) for _ in range(draw.choice([0, 0, 1, 3]))}
    headers = {"X-Author": draw.choice(AUTHORS)} if draw.random() < 0.3 else {}
    body = json.dumps(
        {draw.choice(FIELDS): _value(draw) for _ in range(draw.randrange(7))} if draw.random() < 0.8 else _value(draw)
    )
    sent: dict[str, Any] = {} if method == "GET" else {"data": body, "content_type": "application/json"}
    return client.open(address, method=method, query_string=query, headers=headers, **sent)


def _value(draw: random.Random, depth: int = 0) -> Any:
    kind = draw.random()
    if kind < 0.7 or depth > 2:
        return draw.choice(ODD)
    if kind < 0.85:
        return {draw.choice(FIELDS): _value(draw, depth + 1) for _ in range(draw.randrange(4))}
    return [_value(draw, depth + 1) for _ in range(draw.randrange(3))]


def _text(value: Any) -> str:
    return (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "replace").decode("utf-8")
