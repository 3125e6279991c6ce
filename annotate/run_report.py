"""Figures of a run, or of compared ones, to keep: a table of all points, one page that needs nothing else. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape as html_escape
from importlib.resources import files
from typing import Any

from annotate.exporting.csv_text import escape, row
from annotate.models import Json

COLUMNS = ("figure", "trace", "x", "y")
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 14px system-ui, sans-serif; margin: 2em auto; max-width: 1000px; }}
td {{ padding-right: 2em; }}
</style>
<script>{plotly}</script>
</head>
<body>
<h1>{title}</h1>
<table>{facts}</table>
<main id="figures"></main>
<script id="items" type="application/json">{items}</script>
<script>
for (const item of JSON.parse(document.getElementById("items").textContent)) {{
  const place = document.getElementById("figures").appendChild(document.createElement("div"));
  Plotly.newPlot(place, item.figure.data, item.figure.layout, {{ displaylogo: false, responsive: true }});
}}
</script>
</body>
</html>
"""


def as_table(items: Sequence[Json]) -> str:
    """Give CSV with a line for each point of each line of each figure; an unknown value is an empty cell."""
    lines = [row(COLUMNS)]
    for item in items:
        for trace in item["figure"]["data"]:
            if trace["type"] == "scatter":
                lines += [
                    row(_cells(item["name"], trace["name"], x, y)) for x, y in zip(trace["x"], trace["y"], strict=True)
                ]
    return "".join(lines)


def as_html(run: Json, items: Sequence[Json]) -> str:
    """Give a page with the run's facts and figures, Plotly's own bundle in it."""
    facts = [("state", run["state"]), ("cause", run["cause"]), ("note", run["note"]), *sorted(run["config"].items())]
    title = f"Run {run['id']}, {run['mode']}, {run['config'].get('model', '')}"
    return _page(title, "".join(_fact(name, value) for name, value in facts if value is not None), items)


def comparison_as_html(comparison: Json) -> str:
    """Give a page with what compared runs reached, where their settings differ, and their curves over each other."""
    runs = comparison["runs"]
    rows = [*comparison["facts"], *comparison["differences"]]
    facts = _fact("", *(f"run {run_id}" for run_id in runs)) + "".join(_fact(of["field"], *of["values"]) for of in rows)
    return _page("Runs " + ", ".join(map(str, runs)), facts, comparison["items"])


def _page(title: str, facts: str, items: Sequence[Json]) -> str:
    return PAGE.format(
        title=html_escape(title),
        plotly=_bundle(),
        facts=facts,
        # A "<" inside JSON may only stand in a text, where its escape means the same: no text can end the element.
        items=json.dumps([item for item in items if item["figure"]["data"]]).replace("<", "\\u003c"),
    )


def _cells(*values: Any) -> Iterable[str]:
    return ("" if value is None else escape(value) if isinstance(value, str) else repr(value) for value in values)


def _fact(name: str, *values: Any) -> str:
    texts = [value if isinstance(value, str) else "–" if value is None else json.dumps(value) for value in values]
    return "<tr>" + "".join(f"<td>{html_escape(text)}</td>" for text in (name, *texts)) + "</tr>"


@cache
def _bundle() -> str:
    return (files("plotly") / "package_data" / "plotly.min.js").read_text("utf-8")
