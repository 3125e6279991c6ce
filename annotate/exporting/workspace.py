"""The whole workspace as one zip: series with their candles and marks, label sets, views, runs on choice.

No id and no clock of the export is inside, so that what was imported into an empty instance exports as the same bytes.
series/<n>/ holds candles.arrow and annotations.jsonl, runs/<n>.jsonl a run and its events; workspace.json comes last
and names everything with its SHA-256.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import pyarrow as pa
from sqlalchemy.orm import Session

from annotate import __version__
from annotate.candle_store import CandleStore
from annotate.db import Database
from annotate.exporting.archive import pack
from annotate.exporting.content import LABEL_FACTS
from annotate.exporting.member import Drain, Member, row_blocks
from annotate.models import Json, LabelSet, Run, Series, Setting
from annotate.store.annotations import list_annotations
from annotate.store.candle_hours import list_hours
from annotate.store.datasets import hash_of_dataset
from annotate.store.events import events_after
from annotate.store.imports import reports_of_series
from annotate.store.label_sets import DEFAULT_SETTING, labels_to_json, list_label_sets
from annotate.store.people import people_of
from annotate.store.runs import SHOWN, list_runs
from annotate.store.series import list_series
from annotate.watch import Watch
from nn import dataset_dir

FORMAT = 1
SERIES_FACTS = ("symbol", "timeframe", "source", "simulated", "zone", "facts", "created")
RUN_FACTS = tuple(name for name in SHOWN if name not in ("id", "series_id", "dataset_id"))
LEFT_OUT = (
    *("undo history", "datasets", "checkpoints of the models", "suggestions that nobody rejected", "replays under way"),
    "settings of the server",
)
EVENTS_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class Choice:
    """What goes along beside series, marks and label sets."""

    runs: bool = False
    views: Json | None = None  # what the page remembers of its views


def write_workspace(database: Database, candles: CandleStore, file: IO[bytes], choice: Choice, watch: Watch) -> None:
    """Write the zip; raises what `watch` raises, OSError where the disk is full."""
    with database.read() as session:
        series = list_series(session)
        head = _head(session, series, choice)
        members = [
            member for number, each in enumerate(series, 1) for member in _of_series(session, candles, number, each)
        ]
        runs = _runs(session, database, series) if choice.runs else []

    def last(hashes: Mapping[str, str]) -> Iterable[Member]:
        return [Member("workspace.json", [_pretty({**head, "files": dict(hashes)})])]

    pack([*members, *runs], file, watch, last)


def _head(session: Session, series: Sequence[Series], choice: Choice) -> Json:
    sets = list_label_sets(session)
    default = session.get(Setting, DEFAULT_SETTING)
    return {
        "format": FORMAT,
        "exporter": f"annotate {__version__}",
        "label_sets": [_label_set(each, default.value if default else None) for each in sets],
        "series": [_series(session, each, [label_set.id for label_set in sets]) for each in series],
        "views": choice.views,
        "left_out": [*LEFT_OUT, *(() if choice.runs else ("runs",))],
    }


def _label_set(label_set: LabelSet, default_id: int | None) -> Json:
    return {
        "name": label_set.name,
        "default": default_id == label_set.id,
        "exclusive": label_set.exclusive,
        "labels": [{name: label[name] for name in LABEL_FACTS} for label in labels_to_json(label_set.labels)],
    }


def _series(session: Session, series: Series, set_ids: Sequence[int]) -> Json:
    reports = [
        {name: getattr(report, name) for name in ("sha256", "created", "report")}
        for report in reports_of_series(session, series.id)
    ]
    facts = {name: getattr(series, name) for name in SERIES_FACTS}
    people = people_of(session, series.id)
    return {**facts, "label_set": set_ids.index(series.label_set_id), "reports": reports, "people": people}


def _of_series(session: Session, candles: CandleStore, number: int, series: Series) -> list[Member]:
    rows = candles.bounds(series.id).rows
    lines = dataset_dir.jsonl(list_annotations(session, series.id))
    return [
        Member(f"series/{number}/candles.arrow", _candle_blocks(candles, series.id), len(row_blocks(rows)) + 1),
        Member(f"series/{number}/annotations.jsonl", [lines]),
    ]


def _candle_blocks(candles: CandleStore, series_id: int) -> Iterator[bytes]:
    stored, sink = candles.read(series_id), Drain()
    with pa.ipc.new_file(pa.PythonFile(sink, mode="w"), dataset_dir.SCHEMA) as writer:
        for start, end in row_blocks(len(stored)):
            columns = [np.asarray(getattr(stored, name)[start:end]) for name in dataset_dir.COLUMNS]
            volume = pa.array(columns[-1], mask=np.isnan(columns[-1]))
            writer.write_table(pa.table([*map(pa.array, columns[:-1]), volume], schema=dataset_dir.SCHEMA))
            yield sink.take()
    yield sink.take()


def _runs(session: Session, database: Database, series: Sequence[Series]) -> list[Member]:
    places = {each.id: number for number, each in enumerate(series, 1)}
    runs = [run for run in reversed(list_runs(session)) if run.series_id in places]
    heads = [_run(session, run, places[run.series_id]) for run in runs]
    return [
        Member(f"runs/{number}.jsonl", _run_lines(database, run.id, head))
        for number, (run, head) in enumerate(zip(runs, heads, strict=True), 1)
    ]


def _run(session: Session, run: Run, place: int) -> Json:
    facts = {name: getattr(run, name) for name in RUN_FACTS}
    also = {"dataset_hash": hash_of_dataset(session, run.dataset_id), "hours": list_hours(session, run.id)}
    return {**facts, "series": place, **also}


def _run_lines(database: Database, run_id: int, head: Json) -> Iterator[bytes]:
    """Give a run in the first line and its events in the others, a block of them at a time."""
    yield dataset_dir.jsonl([head])
    after = 0
    while True:
        with database.read() as session:
            events = events_after(session, run_id, after, EVENTS_AT_ONCE)
        if not events:
            return
        yield dataset_dir.jsonl({name: value for name, value in each.items() if name != "run_id"} for each in events)
        after = events[-1]["seq"]


def _pretty(value: Any) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode("utf-8")
