"""The whole workspace as one zip: series with their candles and marks, label sets, views, runs on choice.

No id and no clock of the export is inside, so that what was imported into an empty instance exports as the same bytes.
workspace.json names everything; series/<n>/ holds candles.arrow and annotations.jsonl, runs/<n>.jsonl a run and its
events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotate import __version__
from annotate.candle_store import CandleStore
from annotate.db import Database
from annotate.exporting.archive import Watch, pack
from annotate.exporting.content import LABEL_FACTS
from annotate.exporting.member import Member
from annotate.models import Dataset, Json, Run, Series, Setting
from annotate.store.annotations import list_annotations
from annotate.store.events import events_after
from annotate.store.imports import reports_of_series
from annotate.store.label_sets import DEFAULT_SETTING, labels_to_json, list_label_sets
from annotate.store.runs import SHOWN, list_runs
from annotate.store.series import list_series
from nn import dataset_dir

FORMAT = 1
SERIES_FACTS = ("symbol", "timeframe", "source", "simulated", "zone", "facts", "created")
RUN_FACTS = tuple(name for name in SHOWN if name not in ("id", "series_id", "dataset_id"))
LEFT_OUT = ("undo history", "datasets", "checkpoints of the models", "settings of the server")


@dataclass(frozen=True, slots=True)
class Choice:
    """What goes along beside series, marks and label sets."""

    runs: bool = False
    views: Json | None = None  # what the page remembers of its views


def write_workspace(database: Database, candles: CandleStore, file: IO[bytes], choice: Choice, watch: Watch) -> None:
    """Write the zip; raises what `watch` raises, OSError where the disk is full."""
    with database.read() as session:
        members = _members(session, candles, choice)
    pack(members, file, watch, lambda _hashes: [])


def _members(session: Session, candles: CandleStore, choice: Choice) -> list[Member]:
    series = list_series(session)
    head = {
        "format": FORMAT,
        "exporter": f"annotate {__version__}",
        "label_sets": _label_sets(session),
        "series": [_series(session, each) for each in series],
        "views": choice.views,
        "left_out": [*LEFT_OUT, *(() if choice.runs else ("runs",))],
    }
    members = [Member("workspace.json", [_pretty(head)])]
    for number, each in enumerate(series, 1):
        members.append(Member(f"series/{number}/candles.arrow", _candle_blocks(candles, each.id)))
        lines = dataset_dir.jsonl(list_annotations(session, each.id))
        members.append(Member(f"series/{number}/annotations.jsonl", [lines]))
    return [*members, *(_runs(session, series) if choice.runs else [])]


def _label_sets(session: Session) -> list[Json]:
    default = session.get(Setting, DEFAULT_SETTING)
    return [
        {
            "name": label_set.name,
            "default": default is not None and default.value == label_set.id,
            "labels": [{name: label[name] for name in LABEL_FACTS} for label in labels_to_json(label_set.labels)],
        }
        for label_set in list_label_sets(session)
    ]


def _series(session: Session, series: Series) -> Json:
    sets = [label_set.id for label_set in list_label_sets(session)]
    reports = [
        {name: getattr(report, name) for name in ("sha256", "created", "report")}
        for report in reports_of_series(session, series.id)
    ]
    facts = {name: getattr(series, name) for name in SERIES_FACTS}
    return {**facts, "label_set": sets.index(series.label_set_id), "reports": reports}


def _candle_blocks(candles: CandleStore, series_id: int) -> Iterator[bytes]:
    stored = candles.read(series_id)
    columns = dataset_dir.Candles(*(getattr(stored, name) for name in dataset_dir.COLUMNS))
    yield dataset_dir.candle_bytes(columns).to_pybytes()


def _runs(session: Session, series: list[Series]) -> Iterator[Member]:
    places = {each.id: number for number, each in enumerate(series, 1)}
    runs = [run for run in reversed(list_runs(session)) if run.series_id in places]
    for number, run in enumerate(runs, 1):
        yield Member(f"runs/{number}.jsonl", [_run_lines(session, run, places[run.series_id])])


def _run_lines(session: Session, run: Run, place: int) -> bytes:
    """Give a run in the first line, the hash of its dataset with it, and its events in the others."""
    dataset_hash = session.scalar(select(Dataset.hash).where(Dataset.id == run.dataset_id))
    facts = {name: getattr(run, name) for name in RUN_FACTS}
    events = events_after(session, run.id, 0)
    lines: list[Json] = [{**facts, "series": place, "dataset_hash": dataset_hash}]
    lines += [{name: value for name, value in event.items() if name != "run_id"} for event in events]
    return dataset_dir.jsonl(lines)


def _pretty(value: Any) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode("utf-8")
