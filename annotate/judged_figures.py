"""How a model's answers were right and wrong, as Plotly figures: calibration, confusion, classes. Plain data.

Each is of the best epoch on validation, with the test split beside it where a run has judged it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotate.models import Json

HEADS = {"candle": "Candle", "trend": "Trend", "range": "Range", "label": "Label"}
SPLITS = {"validation": "validation", "test": "test, once"}


def judged_figures(best: Json | None, tested: Json | None) -> Iterable[Json]:
    """Give `{name, title, figure}` of each head of `best`, an epoch, and `tested`, a `test_judged`; either may miss."""
    parts = {"validation": (best or {}).get("validation"), "test": (tested or {}).get("test")}
    found = {part: report["heads"] for part, report in parts.items() if report}
    for head, word in HEADS.items():
        told = {part: heads[head] for part, heads in found.items() if "confusion" in heads.get(head, {})}
        if told:
            yield _calibration(head, word, told)
            yield _confusion(head, word, told)
            yield _classes(head, word, told)


def skill_figures(found: Json | None) -> Iterable[Json]:
    """Give one figure a head: the validation NLL of the real run among those of the shuffled ones."""
    if found is None:
        return
    yield _against("all heads, weighted", "loss", found)
    for head, of in found["heads"].items():
        yield _against(HEADS[head], f"{head}_nll", of)


def _against(word: str, name: str, of: Json) -> Json:
    numbers = list(range(1, len(of["shuffled"]) + 1))
    point: Json = {"type": "scatter", "mode": "markers", "marker": {"size": 9}}
    traces = [
        point | {"name": "shuffled targets", "x": numbers, "y": of["shuffled"]},
        point | {"name": "real targets", "x": [0], "y": [of["real"]], "marker": {"size": 12, "symbol": "diamond"}},
        {
            "type": "scatter", "name": "below this: skill", "mode": "lines", "line": {"width": 1, "dash": "dash"},
            "x": [0, len(numbers)], "y": [of["limit"], of["limit"]],
        },
    ]  # fmt: skip
    layout = {"xaxis": {"title": {"text": "shuffling (0: none)"}}}
    return _figure(name, f"{word}: {of['verdict']}, validation loss", traces, layout)


def _calibration(head: str, word: str, told: Mapping[str, Json]) -> Json:
    traces: list[Json] = [
        {
            "type": "scatter", "name": "as told", "mode": "lines", "x": [0, 1], "y": [0, 1],
            "line": {"width": 1, "dash": "dash"},
        }
    ]  # fmt: skip
    for part, of in told.items():
        kept = of["calibration"]
        if kept is None:
            continue
        bins, error = kept["bins"], f"{kept['ece']:.1%}"
        after = f", {kept['ece_after']:.1%} at temperature {kept['temperature']:.2f}" if part == "validation" else ""
        traces.append(
            {
                "type": "scatter",
                "name": f"{SPLITS[part]}: off by {error}{after}",
                "mode": "lines+markers",
                "x": [each["told"] for each in bins],
                "y": [each["came"] for each in bins],
                "text": [f"{each['n']} answers" for each in bins],
            }
        )
    share = {"tickformat": ".0%", "range": [0, 1]}
    layout = {"xaxis": {"title": {"text": "told P"}, **share}, "yaxis": dict(share)}
    return _figure(f"{head}_calibration", f"{word} calibration", traces, layout)


def _confusion(head: str, word: str, told: Mapping[str, Json]) -> Json:
    part, of = _first(told)
    names = [each["name"] for each in of["classes"]]
    shares = [_shares(row) for row in of["confusion"]]
    trace = {
        "type": "heatmap",
        "name": SPLITS[part],
        "x": names,
        "y": names,
        "z": shares,
        "text": of["confusion"],
        "zmin": 0,
        "zmax": 1,
        "texttemplate": "%{z:.0%}",
        "hovertemplate": "was %{y}, answered %{x}: %{text} candles, %{z:.1%} of the row<extra></extra>",
        "showscale": False,
    }
    layout = {"xaxis": {"title": {"text": "answer"}}, "yaxis": {"title": {"text": "came"}, "autorange": "reversed"}}
    return _figure(f"{head}_confusion", f"{word} confusion, {SPLITS[part]}", [trace], layout)


def _classes(head: str, word: str, told: Mapping[str, Json]) -> Json:
    part, of = _first(told)
    rows = [(each["name"], each["n"], *(_percent(each[name]) for name in _CLASS_FIGURES)) for each in of["classes"]]
    if "spans" in of:
        spans = of["spans"]
        rows.append(("spans at IoU 0.5", spans["true"], "", "", f"{spans['f1']:.1%}"))
    header = ["class", "n", *_CLASS_FIGURES]
    trace = {
        "type": "table",
        "name": SPLITS[part],
        "columnwidth": [1.7, 0.8, 1.3, 1, 1],
        "header": {"values": header, "align": "left"},
        "cells": {"values": [list(column) for column in zip(*rows, strict=True)], "align": "left"},
    }
    return _figure(f"{head}_classes", f"{word} classes, {SPLITS[part]}", [trace], {})


_CLASS_FIGURES = ("precision", "recall", "f1")


def _first(told: Mapping[str, Json]) -> tuple[str, Json]:
    return next(iter(told.items()))


def _shares(row: Sequence[int]) -> list[float]:
    total = sum(row)
    return [count / total if total else 0.0 for count in row]


def _percent(value: float | None) -> str:
    return "none" if value is None else f"{value:.1%}"


def _figure(name: str, title: str, traces: list[Json], layout: dict[str, Any]) -> Json:
    return {"name": name, "title": title, "figure": {"data": traces, "layout": {"title": {"text": title}, **layout}}}
