"""A Label Studio export, as JSON, JSON-MIN or CSV: regions of time series. Pure.

A region ends with its last candle, an instant is a point, two instants with a relation are a trade; a region of several
labels is a mark of each. What has no field there is read from `meta.text`, where our own export writes it as
`name: value`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from annotate.errors import InvalidInput
from annotate.importing.doubts import Choice
from annotate.mark_files.cells import Rows, text_of, times_of
from annotate.mark_files.doubts import MarkDoubts
from annotate.mark_files.found import Chart, Found, FoundMark

Json = dict[str, Any]

REGION = "timeserieslabels"
TRADE_ENTRY = "-entry"
LISTS = ("annotations", "completions")  # the second is the name that old versions give it
EVERY_TASK = "all"
MOST_TASKS = 200  # offered to choose from


@dataclass(frozen=True, slots=True)
class Region:
    """One region with its times, ms UTC; `end` is the open time of its last candle."""

    id: str
    where: str
    labels: Sequence[str]
    start: int
    end: int
    instant: bool
    notes: Mapping[str, str]


def is_label_studio(given: object) -> bool:
    """Tell whether this JSON is a list of tasks, whole or of the short form."""
    if not isinstance(given, list) or not given or not all(isinstance(task, dict) for task in given):
        return False
    whole = all(any(isinstance(task.get(name), list) for name in LISTS) for task in given)
    return whole or any(_short_regions(task) for task in given)


def tasks_of_table(rows: Rows) -> list[Json] | None:
    """Give the tasks of its CSV, whose cells hold regions as JSON; None where this is another table."""
    if not any(cell.lstrip().startswith("[{") and f'"{REGION}"' in cell for cells in rows.cells for cell in cells):
        return None
    return [
        {name: _json_of(cell) for name, cell in zip(rows.names, cells, strict=True)} | {"id": f"of line {line}"}
        for cells, line in zip(rows.cells, rows.lines, strict=True)
    ]


def read_label_studio(tasks: Sequence[Mapping[str, Any]], chart: Chart, doubts: MarkDoubts) -> Found:
    """Read the tasks; suggestions (`predictions`) are left aside, and so is what is no region in time."""
    chosen = _chosen(tasks, doubts)
    skipped: list[Json] = []
    results = list(_results(chosen, skipped))
    regions = _regions(results, skipped, doubts)
    marks: list[FoundMark] = []
    for _, result in results:
        trades = _trades(result, regions)
        for raw in result:
            region = regions.get(id(raw))
            if region is not None:
                marks += _marks(region, trades, chart)
    predictions = sum(len(of) for task in chosen if isinstance(of := task.get("predictions"), list))
    notes = [f"{predictions} predictions are left aside"] if predictions else []
    notes += [f"{len(chosen)} tasks are read as marks of this one series"] if len(chosen) > 1 else []
    return Found("label_studio", marks, mapping={"end": "the last candle"}, notes=notes, skipped=skipped)


def _chosen(tasks: Sequence[Mapping[str, Any]], doubts: MarkDoubts) -> Sequence[Mapping[str, Any]]:
    """Let a person take one of several tasks: in a project each is a chart of its own."""
    if len(tasks) < 2:
        return tasks
    choices = [Choice(EVERY_TASK, f"all {len(tasks)} tasks", likely=True)]
    choices += [Choice(str(n), f"{_name(n, task)}: {_about(task)}") for n, task in enumerate(tasks[:MOST_TASKS], 1)]
    answer = doubts.offer("task", "Which task is of this series?", choices, "Each task may be of another chart.")
    return tasks if answer == EVERY_TASK else [tasks[int(answer) - 1]]


def _about(task: Mapping[str, Any]) -> str:
    data = task.get("data", task)
    texts = [text for text in data.values() if isinstance(text, str)] if isinstance(data, dict) else []
    return texts[0][-60:] if texts else ""


def _name(number: int, task: Mapping[str, Any]) -> str:
    return f"task {task.get('id', number)}"


def _results(tasks: Sequence[Mapping[str, Any]], skipped: list[Json]) -> Iterator[tuple[str, list[Json]]]:
    """Give for each annotation of each task where it stands and its regions and relations."""
    for number, task in enumerate(tasks, 1):
        where = _name(number, task)
        short = _short_regions(task)
        if short:
            yield where, short
        for annotation in (each for name in LISTS for each in _list(task.get(name))):
            if not isinstance(annotation, dict) or not isinstance(annotation.get("result") or [], list):
                raise InvalidInput(f"{where}: an annotation is an object with a list `result`")
            if annotation.get("was_cancelled") or annotation.get("skipped"):
                skipped.append({"where": where, "why": "the annotator skipped this task"})
            else:
                yield where, [each for each in annotation.get("result") or [] if isinstance(each, dict)]


def _list(given: object) -> list[Any]:
    return given if isinstance(given, list) else []


def _short_regions(task: Mapping[str, Any]) -> list[Json]:
    """Give the regions of a task of JSON-MIN, where each control's regions stand in a list under its name."""
    return [
        {"id": f"{name} {number}", "type": REGION, "value": value}
        for name, given in task.items()
        if isinstance(given, list)
        for number, value in enumerate(given, 1)
        if isinstance(value, dict) and REGION in value
    ]


def _regions(results: Sequence[tuple[str, list[Json]]], skipped: list[Json], doubts: MarkDoubts) -> dict[int, Region]:
    """Read the time regions by the identity of their JSON; whatever else stands there is listed in `skipped`."""
    raws = []
    for where, result in results:
        for raw in result:
            why = _no_region(raw)
            if why is None:
                raws.append((f"{where}, region {raw.get('id')}", raw))
            elif why:
                skipped.append({"where": where, "why": why})
    edges = {edge: [text_of(raw["value"][edge]) for _, raw in raws] for edge in ("start", "end")}
    (starts, ends), _ = times_of(edges, [where for where, _ in raws], doubts)
    return {
        id(raw): Region(
            id=str(raw.get("id")),
            where=where,
            labels=[str(label) for label in raw["value"][REGION]],
            start=start,
            end=end,
            instant=bool(raw["value"].get("instant")),
            notes=_notes(raw),
        )
        for (where, raw), start, end in zip(raws, starts, ends, strict=True)
    }


def _no_region(raw: Mapping[str, Any]) -> str | None:
    """Say why this is no region in time; empty for a relation, which belongs to its two regions, None for a region."""
    kind, value = raw.get("type"), raw.get("value")
    if kind == "relation":
        return ""
    if kind != REGION or not isinstance(value, dict):
        return f"a region of type {kind!r} is no mark in time"
    if any(value.get(edge) in (None, "") for edge in ("start", "end")):
        return f"region {raw.get('id')} has no start or no end"
    if not isinstance(value.get(REGION), list) or not value[REGION]:
        return f"region {raw.get('id')} has no label"
    return None


def _trades(result: Sequence[Json], regions: Mapping[int, Region]) -> dict[str, Region | None]:
    """Give for the id of each entry the region of its exit; for the id of each exit None."""
    by_id = {region.id: region for raw in result if (region := regions.get(id(raw))) is not None}
    trades: dict[str, Region | None] = {}
    for relation in result:
        if relation.get("type") == "relation":
            ends = [by_id.get(str(relation.get(name))) for name in ("from_id", "to_id")]
            if all(end is not None and end.instant for end in ends):
                trades[str(relation["from_id"])], trades[str(relation["to_id"])] = ends[1], None
    return trades


def _marks(region: Region, trades: Mapping[str, Region | None], chart: Chart) -> Iterator[FoundMark]:
    """Give a mark of each label; none for the exit of a trade."""
    leave = trades.get(region.id, region)
    if leave is None:
        return
    body = _trade(region, leave, chart) if leave is not region else _alone(region, chart)
    said = {"comment": region.notes.get("comment", ""), "confidence": _number(region.notes.get("confidence"))}
    for place, label in enumerate(region.labels):
        ours = _our_id(region.id.removesuffix(TRADE_ENTRY)) if place == 0 else None
        yield FoundMark(region.where, {**body, "label": label, **said}, ours)


def _alone(region: Region, chart: Chart) -> Json:
    if region.instant:
        return {"kind": "point", "time": region.start, "price": _price(region, chart)}
    kind = "candle_class" if region.notes.get("kind") == "candle_class" else "span"
    return {"kind": kind, "start": region.start, "end": chart.close_after(region.end)}


def _trade(enter: Region, leave: Region, chart: Chart) -> Json:
    return {
        "kind": "trade",
        "side": enter.notes.get("side", "long"),
        "entry": {"time": enter.start, "price": _price(enter, chart)},
        "exit": {"time": leave.start, "price": _price(leave, chart)},
        "stop": _number(enter.notes.get("stop")),
        "target": _number(enter.notes.get("target")),
    }


def _price(region: Region, chart: Chart) -> float | None:
    price = _number(region.notes.get("price"))
    return chart.price_at(region.start) if price is None else price


def _notes(raw: Mapping[str, Any]) -> dict[str, str]:
    meta = raw.get("meta")
    lines = meta.get("text") if isinstance(meta, dict) else None
    pairs = (str(line).partition(": ") for line in ([lines] if isinstance(lines, str) else lines or []))
    return {name: text for name, colon, text in pairs if colon}


def _number(text: str | None) -> float | None:
    try:
        number = math.nan if text is None else float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _our_id(text: str) -> str | None:
    try:
        return text if str(UUID(text)) == text else None
    except ValueError:
        return None


def _json_of(cell: str) -> Any:
    try:
        return json.loads(cell) if cell.lstrip().startswith("[{") else cell
    except ValueError:
        return cell
