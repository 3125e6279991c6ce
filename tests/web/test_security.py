"""The guard: who gets in, from where, with what; and that nothing stands outside of it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule

from annotate.security import credentials
from annotate.settings import Settings
from tests.conftest import TOKEN

PUBLIC_RULES = {"/health", "/favicon.ico", "/static/<version>/plotly.min.js", "/static/<version>/<path:name>"}
BEARER = {"Authorization": f"Bearer {TOKEN}"}
HOME = "http://localhost"


@pytest.fixture
def app(shared_app: Flask) -> Flask:
    """The guard changes nothing, so that one application serves all of these."""
    return shared_app


def test_every_route_but_the_public_ones_refuses_a_stranger(app: Flask, stranger: FlaskClient) -> None:
    protected = [rule for rule in app.url_map.iter_rules() if rule.rule not in PUBLIC_RULES]
    assert len(protected) > 20
    for rule in protected:
        for method in (rule.methods or set()) - {"OPTIONS", "HEAD"}:
            answer = stranger.open(_address(rule), method=method, headers={"Origin": HOME})
            assert answer.status_code == 401, f"{method} {rule.rule}"


def test_options_tells_a_stranger_nothing(app: Flask, stranger: FlaskClient) -> None:
    for rule in app.url_map.iter_rules():
        if rule.rule not in PUBLIC_RULES:
            assert stranger.options(_address(rule), headers={"Origin": HOME}).status_code == 401


def test_health_and_assets_need_no_token(stranger: FlaskClient) -> None:
    assert stranger.get("/health").json["status"] == "ok"  # type: ignore[index]
    assert stranger.get("/static/any/icon.svg", buffered=True).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8050",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "127.0.0.1@evil.example",
        "evil.example#127.0.0.1",
        "evil.example/127.0.0.1",
        "[::2]",
        "0.0.0.0",
        "",
        "localhost\\evil",
        "localhost?x",
        "[::1",
    ],
)
def test_a_foreign_host_is_refused_everywhere(client: FlaskClient, host: str) -> None:
    for path in ("/health", "/api/series", "/socket.io/?EIO=4&transport=polling", "/static/x/icon.svg"):
        assert client.get(path, headers={"Host": host}, buffered=True).status_code == 403


@pytest.mark.parametrize("host", ["localhost", "localhost:8050", "127.0.0.1:1", "[::1]:8050"])
def test_loopback_hosts_are_served(client: FlaskClient, host: str) -> None:
    assert client.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://localhost",
        "http://localhost:81",
        "null",
        "",
        "http://localhost.evil.example",
        "HTTP://localhost",
        "http://localhost/",
        "file://",
        "http://127.0.0.1",
        "http://[::1]",
        "chrome-extension://x",
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])
def test_a_foreign_origin_is_refused_on_every_writing_method(client: FlaskClient, origin: str, method: str) -> None:
    assert client.open("/api/series/1", method=method, headers={"Origin": origin}).status_code == 403


@pytest.mark.parametrize("transport", ["polling", "websocket"])
def test_a_handshake_from_a_foreign_origin_is_refused(client: FlaskClient, transport: str) -> None:
    address = f"/socket.io/?EIO=4&transport={transport}"
    assert client.get(address, headers={"Origin": "http://evil.example"}).status_code == 403
    assert client.get("/socket.io/?EIO=4&transport=polling", headers={"Origin": HOME}).status_code == 200


def test_without_origin_the_token_passes_and_the_cookie_alone_does_not(app: Flask) -> None:
    browser = app.test_client()
    assert browser.get(f"/?token={TOKEN}").status_code == 303
    assert browser.get("/api/series").status_code == 200
    assert browser.post("/api/series/1/undo").status_code == 403
    assert browser.post("/api/series/1/undo", headers={"Origin": HOME}).status_code != 403
    assert app.test_client().post("/api/series/1/undo", headers=BEARER).status_code != 403


def test_the_link_becomes_a_cookie_and_leaves_the_address_bar(app: Flask) -> None:
    answer = app.test_client().get(f"/?token={TOKEN}")
    cookie = answer.headers["Set-Cookie"]
    assert answer.headers["Location"] == "/"
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert TOKEN not in cookie


def test_a_wrong_token_is_refused_and_sets_no_cookie(app: Flask) -> None:
    answer = app.test_client().get("/?token=wrong")
    assert answer.status_code == 401
    assert "Set-Cookie" not in answer.headers


def test_a_browser_without_a_cookie_is_told_where_the_link_is(stranger: FlaskClient) -> None:
    answer = stranger.get("/", headers={"Accept": "text/html"})
    assert answer.status_code == 401
    assert "?token=" in answer.text


def test_every_answer_carries_the_security_headers(client: FlaskClient, stranger: FlaskClient) -> None:
    for answer in (
        client.get("/"),
        client.get("/api/nothing"),
        stranger.get("/api/series"),
        client.get("/socket.io/?EIO=4&transport=polling"),
    ):
        assert "script-src 'self';" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_body_above_the_limit_is_refused_before_it_is_read(client: FlaskClient) -> None:
    answer = client.post("/api/runs", environ_overrides={"CONTENT_LENGTH": str(2**40)}, content_type="application/json")
    assert answer.status_code == 413
    assert answer.json["error"]["code"] == "too_large"  # type: ignore[index]


def test_json_sent_as_plain_text_is_not_taken(client: FlaskClient) -> None:
    answer = client.post("/api/runs", data='{"mode": "batch", "series_id": 1}', content_type="text/plain")
    assert 400 <= answer.status_code < 500


@pytest.mark.parametrize(
    "path",
    [
        "/static/x/../app.py",
        "/static/x/%2e%2e/app.py",
        "/static/x/..%2fapp.py",
        "/static/x/..%5capp.py",
        "/static/x//etc/passwd",
        "/static/x/%00",
        "/static/x/vendor/../../app.py",
        "/static/../app.py",
        "/static/x/....//app.py",
        "/static/x/%252e%252e/app.py",
    ],
)
def test_no_path_leads_out_of_the_assets(client: FlaskClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("identity", ["*", ":id", "%2e%2e", "1%20or%201=1", "-1", "1.0", "x" * 300])
def test_an_odd_id_is_not_found(client: FlaskClient, identity: str) -> None:
    for address in (
        f"/api/series/{identity}/candles",
        f"/api/runs/{identity}/events",
        f"/api/datasets/{identity}/download",
    ):
        assert client.get(address).status_code == 404


def test_a_made_token_is_kept_private_and_survives_a_restart(tmp_path: Path) -> None:
    first = credentials(Settings(data_dir=tmp_path))
    assert credentials(Settings(data_dir=tmp_path)) == first
    assert len(first.token) >= 43
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600


def test_two_folders_have_different_tokens(tmp_path: Path) -> None:
    tokens = set()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        tokens.add(credentials(Settings(data_dir=tmp_path / name)).token)
    assert len(tokens) == 2


def test_a_given_token_is_taken_as_it_is_and_not_written(tmp_path: Path) -> None:
    assert credentials(Settings(data_dir=tmp_path, token="given")).token == "given"
    assert not (tmp_path / "token").exists()


def _address(rule: Rule) -> str:
    identity = "00000000-0000-4000-8000-000000000001"
    values = {
        name: identity if "uuid" in str(type(converter)).lower() else 1 for name, converter in rule._converters.items()
    }
    built = rule.build(values, append_unknown=False)
    assert built is not None
    return built[1]
