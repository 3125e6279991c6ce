"""The page on the HTTP API and the routes of the application name the same calls."""

from __future__ import annotations

import re
from pathlib import Path

from flask import Flask

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "http-api.md"
ASSETS = {"GET /favicon.ico", "GET /static/<version>/plotly.min.js", "GET /static/<version>/<name>"}
PAGES = {"GET /", "GET /about", *ASSETS}


def test_every_call_is_documented_and_every_documented_call_exists(app: Flask) -> None:
    assert _documented() == _served(app) - PAGES


def _documented() -> set[str]:
    text = DOCUMENT.read_text("utf-8")
    return set(re.findall(r"`((?:GET|POST|PUT|PATCH|DELETE) /[^`?]*)(?:\?[^`]*)?`", text))


def _served(app: Flask) -> set[str]:
    calls = set()
    for rule in app.url_map.iter_rules():
        address = re.sub(r"<(?:\w+:)?(\w+)>", r"<\1>", rule.rule)
        calls |= {f"{method} {address}" for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}}
    return calls
