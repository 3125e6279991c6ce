"""A Label Studio export: regions of time series. Pure.

A region ends with its last candle, an instant is a point, two instants with a relation are a trade. What has no field
there is read from `meta.text`, where our own export writes it as `name: value`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from annotate.importing.doubts import Doubts
from annotate.mark_files.cells import times_of
from annotate.mark_files.found import Chart, Found, FoundMark

Json = dict[str, Any]

REGION = "timeserieslabels"
TRADE_ENTRY = "-entry"


def is_label_studio(given: object) -> bool:
    """Tell whether this JSON is a list of tasks."""
    return (
        isinstance(given, list)
        and all(isinstance(task, dict) and "annotations" in task for task in given)
        and bool(given)
    )


def read_label_studio(tasks: Sequence[Mapping[str, Any]], chart: Chart, doubts: Doubts) -> Found:
    """Read every task; suggestions (`predictions`) are left aside."""
    marks: list[FoundMark] = []
    skipped: list[Json] = []
    for where, result in _results(tasks):
        trades = _trades(result)
        for region in result:
            if region.get("type") == REGION:
                mark = _mark(region, trades, f"{where}, region {region.get('id')}", chart, doubts)
                marks += [mark] if mark is not None else []
            elif region.get("type") != "relation":
                skipped.append({"where": where, "why": f"a region of type {region.get('type')!r} is no mark in time"})
    predictions = sum(len(task.get("predictions") or []) for task in tasks)
    notes = [f"{predictions} predictions are left aside"] if predictions else []
    return Found("label_studio", marks, mapping={"end": "the last candle"}, notes=notes, skipped=skipped)


def _results(tasks: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[Json]]]:
    for number, task in enumerate(tasks, 1):
        for annotation in task.get("annotations") or []:
            yield f"task {task.get('id', number)}", list(annotation.get("result") or [])


def _trades(result: Sequence[Json]) -> dict[str, Json | None]:
    """Give for the id of each entry the region of its exit; for the id of each exit None."""
    regions = {region["id"]: region for region in result if region.get("type") == REGION}
    trades: dict[str, Json | None] = {}
    for relation in result:
        ends = [regions.get(relation.get(name, "")) for name in ("from_id", "to_id")]
        if relation.get("type") == "relation" and all(end and end["value"].get("instant") for end in ends):
            trades[relation["from_id"]], trades[relation["to_id"]] = ends[1], None
    return trades


def _mark(
    region: Json, trades: Mapping[str, Json | None], where: str, chart: Chart, doubts: Doubts
) -> FoundMark | None:
    leave = trades.get(region["id"], region)
    if leave is None:
        return None
    value, notes = region["value"], _notes(region)
    label = (value.get(REGION) or [""])[0]
    (start, end), _ = times_of([str(value["start"]), str(value["end"])], where, [1, 1], doubts)
    said = {"label": label, "comment": notes.get("comment", ""), "confidence": _number(notes.get("confidence"))}
    if leave is not region:
        body = _trade(start, leave, notes, chart, doubts)
    elif value.get("instant"):
        body = {"kind": "point", "time": start, "price": _price(notes, chart, start)}
    else:
        body = {"kind": "span", "start": start, "end": chart.close_after(end)}
    return FoundMark(where, {**body, **said}, _our_id(str(region["id"]).removesuffix(TRADE_ENTRY)))


def _trade(start: int, leave: Json, notes: Mapping[str, str], chart: Chart, doubts: Doubts) -> Json:
    (end,), _ = times_of([str(leave["value"]["start"])], "exit", [1], doubts)
    return {
        "kind": "trade",
        "side": notes.get("side", "long"),
        "entry": {"time": start, "price": _price(notes, chart, start)},
        "exit": {"time": end, "price": _price(_notes(leave), chart, end)},
        "stop": _number(notes.get("stop")),
        "target": _number(notes.get("target")),
    }


def _price(notes: Mapping[str, str], chart: Chart, time: int) -> float | None:
    price = _number(notes.get("price"))
    return chart.price_at(time) if price is None else price


def _notes(region: Json) -> dict[str, str]:
    lines = (region.get("meta") or {}).get("text") or []
    pairs = (str(line).partition(": ") for line in ([lines] if isinstance(lines, str) else lines))
    return {name: text for name, colon, text in pairs if colon}


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _our_id(text: str) -> str | None:
    try:
        return text if str(UUID(text)) == text else None
    except ValueError:
        return None
