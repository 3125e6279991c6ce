"""What a workspace's zip says of itself, checked field by field: label sets, series, people, runs. No database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from annotate.annotations.draft import AnnotationDraft
from annotate.annotations.fields import Fields
from annotate.annotations.labels import LabelSetDraft
from annotate.errors import InvalidInput
from annotate.exporting.content import LABEL_FACTS
from annotate.exporting.workspace import RUN_FACTS
from annotate.store.series import MAX_SYMBOL
from annotate.timeframe import parse
from annotate.zips import parsed_json

Json = dict[str, Any]

SOURCES = ("sample", "upload", "simulator", "feed")
MODES = ("load", "batch", "live", "skill", "leaks")
STATES = ("queued", "running", "paused", "stopping", "finished", "stopped", "failed", "interrupted")
HIDES = ("others", "all")
PLACES = ("chart", "replay")
MAX_NAME = 100
MAX_CAUSE = 1_000_000
MAX_DECIMALS = 10
MAX_SEQ = 2**53


@dataclass(frozen=True, slots=True)
class GivenSet:
    """A label set of the zip."""

    draft: LabelSetDraft
    default: bool


@dataclass(frozen=True, slots=True)
class GivenSeries:
    """A series of the zip; `facts` are the columns of its row."""

    facts: Json
    label_set: int  # its place among the label sets
    reports: list[Json]
    people: Mapping[str, list[Json]]
    folder: str  # in the zip


@dataclass(frozen=True, slots=True)
class GivenRun:
    """A run of the zip; `facts` are the columns of its row, without ids."""

    facts: Json
    series: int  # its place among the series, from 0
    dataset_hash: str | None
    hours: list[Json]  # old per-candle events, folded
    events: list[Json]


def read_set(fields: Fields) -> GivenSet:
    """Read a label set of workspace.json."""
    return GivenSet(_draft(fields), fields.flag("default"))


def dataset_set(head: Fields) -> GivenSet:
    """Read the label set of a dataset's manifest."""
    return GivenSet(_draft(head.object("label_set")), default=False)


def _draft(fields: Fields) -> LabelSetDraft:
    given = {"name": fields.text("name", MAX_NAME), "labels": _looks(fields.value("labels"))}
    return LabelSetDraft.from_json({**given, "exclusive": fields.value("exclusive") or []})


def _looks(labels: object) -> list[Json]:
    given: Sequence[Any] = labels if isinstance(labels, list) else []
    return [{name: each.get(name) for name in LABEL_FACTS} if isinstance(each, dict) else {} for each in given]


def dataset_series(head: Fields) -> GivenSeries:
    """Read the series of a dataset's manifest."""
    facts = {"symbol": head.text("symbol", MAX_SYMBOL), "timeframe": head.text("timeframe", 20)}
    parse(facts["timeframe"])
    rest = {"source": "upload", "simulated": head.flag("simulated"), "zone": "UTC", "facts": {}, "created": None}
    reviewed = [_reviewed(each) for each in head.items("reviewed_ranges")] if head.has("reviewed_ranges") else []
    rejected = [_rejected_span(each) for each in head.items("rejected")] if head.has("rejected") else []
    return GivenSeries({**facts, **rest}, 0, [], {"reviewed": reviewed, "rejected": rejected}, "")


def read_series(fields: Fields, folder: str, label_sets: int) -> GivenSeries:
    """Read a series of workspace.json, whose files stand in `folder` of the zip."""
    facts = {
        "symbol": fields.text("symbol", MAX_SYMBOL),
        "timeframe": fields.text("timeframe", 20),
        "source": fields.choice("source", SOURCES),
        "simulated": fields.flag("simulated"),
        "zone": fields.text("zone", MAX_NAME),
        "facts": _facts(fields),
        "created": fields.time("created"),
    }
    parse(facts["timeframe"])
    place = fields.whole("label_set", 0, label_sets - 1)
    reports = [_report(each) for each in fields.items("reports")]
    return GivenSeries(facts, place, reports, _people(fields), folder)


def _facts(fields: Fields) -> Json:
    facts = fields.object("facts")
    if facts.has("precision"):
        facts.whole("precision", 0, MAX_DECIMALS)
    return dict(fields.value("facts"))


def _report(fields: Fields) -> Json:
    fields.object("report").flag("added_to_series")
    report = fields.value("report")
    return {"sha256": fields.text("sha256", 64), "created": fields.time("created"), "report": report}


def _people(fields: Fields) -> dict[str, list[Json]]:
    """Read what people had on the series; nothing in a zip that was written before that was kept."""
    if not fields.has("people"):
        return {}
    people = fields.object("people")
    return {
        "reviewed": [_reviewed(each) for each in people.items("reviewed")],
        "passes": [_pass(each) for each in people.items("passes")],
        "views": [_view(each) for each in people.items("views")],
        "rejected": [_rejected(each) for each in people.items("rejected")] if people.has("rejected") else [],
    }


def _reviewed(fields: Fields) -> Json:
    start, end = fields.time("start"), fields.time("end")
    if end <= start:
        raise fields.bad("end", f"must be after start = {start}")
    return {"author": fields.text("author", MAX_NAME), "start": start, "end": end}


def _rejected(fields: Fields) -> Json:
    """Read a rejected suggestion; its place must be that of a mark of its kind."""
    fields.object("geometry")
    geometry = dict(fields.value("geometry"))
    draft = AnnotationDraft.from_json({**geometry, "kind": fields.value("kind"), "label": fields.value("label")}, "")
    if draft.geometry != geometry:
        raise fields.bad("geometry", f"is no place of a {draft.kind}")
    start, end = fields.time("start"), fields.time("end")
    if end <= start:
        raise fields.bad("end", f"must be after start = {start}")
    probability = fields.number("probability") if fields.value("probability") is not None else None
    said = {"author": fields.text("author", MAX_NAME, default=""), "decided": fields.optional_time("decided")}
    place = {"kind": draft.kind, "label": draft.label, "start": start, "end": end, "geometry": draft.geometry}
    return {**said, **place, "probability": probability}


def _rejected_span(fields: Fields) -> Json:
    """Read a rejection of a dataset, which knows neither who nor when."""
    start, end = fields.time("start"), fields.time("end")
    if end <= start:
        raise fields.bad("end", f"must be after start = {start}")
    place = {"kind": "span", "start": start, "end": end, "geometry": {"start": start, "end": end}}
    return {"author": "", "decided": None, "label": fields.text("label", MAX_NAME), **place, "probability": None}


def _pass(fields: Fields) -> Json:
    times = {"started": fields.time("started"), "ended": fields.optional_time("ended")}
    return {"author": fields.text("author", MAX_NAME), "hides": fields.choice("hides", HIDES), **times}


def _view(fields: Fields) -> Json:
    fields.object("value")
    rest = {"value": fields.value("value"), "updated": fields.time("updated")}
    return {"author": fields.text("author", MAX_NAME), "place": fields.choice("place", PLACES), **rest}


def read_run(text: str, name: str, series: int) -> GivenRun:
    """Read a run's file: the run in its first line, an event in each other one."""
    lines = [parsed_json(line, f"{name}, line {number}") for number, line in enumerate(text.split("\n"), 1) if line]
    try:
        head, events = Fields(lines[0] if lines else None), [Fields(line) for line in lines[1:]]
        facts = {each: head.value(each) for each in RUN_FACTS}
        facts |= {"mode": head.choice("mode", MODES), "state": head.choice("state", STATES)}
        facts |= {"created": head.time("created")} | {of: head.optional_time(of) for of in ("started", "ended")}
        for needed in ("config", "summary"):
            head.object(needed)
        facts |= {each: head.text(each, MAX_CAUSE, default="") or None for each in ("cause", "note")}
        bodies: list[Json] = [
            {"seq": each.whole("seq", 1, MAX_SEQ), "time": each.time("time"), "type": each.text("type", MAX_NAME)}
            for each in events
        ]
        if any(later["seq"] <= earlier["seq"] for earlier, later in pairwise(bodies)):
            raise InvalidInput("the events' seq must rise")
        place = head.whole("series", 1, series) - 1
        dataset_hash = head.text("dataset_hash", 64, default="") or None
        hours = _hours(head)
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error.message}", **error.details) from None
    whole = [{**line, **body} for line, body in zip(lines[1:], bodies, strict=True)]
    return GivenRun(facts, place, dataset_hash, hours, whole)


def _hours(head: Fields) -> list[Json]:
    """Read the folded hours; each is an object with its hour and the number of its newest event."""
    for fields in head.items("hours") if head.has("hours") else ():
        fields.time("hour")
        fields.whole("last_seq", 1, MAX_SEQ)
    hours: list[Json] = head.value("hours") or []
    return hours
