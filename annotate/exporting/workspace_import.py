"""A workspace's zip, or a dataset's, into this instance, empty or filled: all or nothing, what collides is listed.

A series that stands here with the same symbol, timeframe and candles takes the marks; any other comes beside what is
here. Nothing that stands here is changed or removed. Everything is read and checked before the first row is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotate.candle_store import CandleStore
from annotate.candles import COLUMNS, Candles, price_decimals
from annotate.db import Database
from annotate.exporting.workspace_given import GivenRun, GivenSeries, GivenSet
from annotate.exporting.workspace_zip import WorkspaceZip, open_workspace
from annotate.files import storage_errors
from annotate.mark_files import Chart, Found
from annotate.mark_import import Import, import_marks
from annotate.models import Dataset, Json, LabelSet, Run, Series, Setting
from annotate.store.candle_hours import add_hours
from annotate.store.events import add_events
from annotate.store.imports import add_report
from annotate.store.label_sets import DEFAULT_SETTING, create_label_set, labels_to_json, list_label_sets
from annotate.store.people import add_people
from annotate.store.runs import UNFINISHED, add_run
from annotate.store.series import create_series, list_series
from annotate.store.undo import Gesture
from annotate.watch import Watch

READ = 0.6  # share of an import that is done once all is read and checked
SCRATCH = "workspace-"  # prefix of the folder for files on the way


@dataclass(slots=True)
class Taking:
    """An import under way: into what, by whom, and what collided so far."""

    session: Session
    store: CandleStore
    gesture: Gesture
    here: list[Series]  # that stand here and were not met yet
    sets_here: list[LabelSet]
    conflicts: list[Json] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Part:
    """A series of the zip, read and checked."""

    given: GivenSeries
    candles: Candles
    marks: Found


def import_workspace(
    database: Database,
    store: CandleStore,
    path: Path,
    folder: Path,
    gesture: Gesture,
    *,
    runs: bool = True,
    watch: Watch = lambda _share: None,
) -> Json:
    """Take a zip in; give `{series, label_sets, conflicts, runs, views}`.

    `folder` takes files on the way. Raises InvalidInput naming the part that cannot be taken, and what `watch` raises;
    then nothing was stored.
    """
    with _scratch(folder) as scratch, open_workspace(path, scratch) as given:
        parts = list(_parts(given, watch))
        taken_runs = list(given.runs()) if runs else []
        with database.write() as session:
            taking = Taking(session, store, gesture, list_series(session), list_label_sets(session))
            sets = [_take_set(taking, each) for each in given.label_sets]
            taken = []
            for number, part in enumerate(parts, 1):
                taken.append(_take_series(taking, part, sets[part.given.label_set]))
                watch(READ + (1 - READ) * number / (len(parts) + 1))
            count = sum(_take_run(session, run, taken[run.series]["id"]) for run in taken_runs)
            names = [{"id": each.id, "name": each.name} for each in sets]
    return {"series": taken, "label_sets": names, "conflicts": taking.conflicts, "runs": count, "views": given.views}


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    with storage_errors(folder), TemporaryDirectory(prefix=SCRATCH, dir=folder) as scratch:
        yield Path(scratch)


def _parts(given: WorkspaceZip, watch: Watch) -> Iterator[Part]:
    for number, series in enumerate(given.series, 1):
        yield Part(series, given.candles(series), given.marks(series))
        watch(READ * number / len(given.series))


def _take_set(taking: Taking, given: GivenSet) -> LabelSet:
    """Give the set that stands here and says the same, once, else a new one.

    The first default of an instance stays the default.
    """
    named = [each for each in taking.sets_here if each.name == given.draft.name]
    alike = next((each for each in named if _look(each) == _wanted(given)), None)
    if alike is not None:
        taking.sets_here.remove(alike)
    elif named:
        why = "a label set of this name has other labels; both are kept"
        taking.conflicts.append({"what": "label_set", "name": given.draft.name, "why": why})
    label_set = alike or create_label_set(taking.session, given.draft)
    if given.default and taking.session.get(Setting, DEFAULT_SETTING) is None:
        taking.session.add(Setting(name=DEFAULT_SETTING, value=label_set.id))
        taking.session.flush()
    return label_set


def _look(label_set: LabelSet) -> tuple[object, ...]:
    labels = [
        tuple(value for name, value in label.items() if name != "id") for label in labels_to_json(label_set.labels)
    ]
    return labels, label_set.exclusive


def _wanted(given: GivenSet) -> tuple[object, ...]:
    labels = [(each.name, each.colour, each.key, each.layer, each.archived) for each in given.draft.labels]
    return labels, list(given.draft.exclusive or ())


def _take_series(taking: Taking, part: Part, label_set: LabelSet) -> Json:
    """Take a series in; one that stands here serves a single series of the zip and is not met again."""
    facts, candles = part.given.facts, part.candles
    rivals = [each for each in taking.here if _name(each) == (facts["symbol"], facts["timeframe"])]
    known = next((each for each in rivals if _same(taking.store.read(each.id), candles)), None)
    if known is not None:
        taking.here.remove(known)
    elif rivals:
        why = "a series of this name has other candles; both are kept"
        taking.conflicts.append({"what": "series", "name": " ".join(_name(rivals[0])), "why": why})
    target = known or _new_series(taking, part, label_set)
    how = Import(taking.gesture, undoable=known is not None)
    report = import_marks(taking.session, target.id, Chart(candles, target.timeframe), part.marks, how)
    add_people(taking.session, target.id, part.given.people, taking.gesture.now)
    taking.conflicts += [{"what": "mark", "name": each["id"], **each} for each in report["conflicts"]]
    counts = {name: report[name] for name in ("read", "new", "same", "labels_added", "unplaced")}
    shown = {"id": target.id, "symbol": target.symbol, "timeframe": target.timeframe, "known": known is not None}
    return {**shown, **counts}


def _new_series(taking: Taking, part: Part, label_set: LabelSet) -> Series:
    session, facts = taking.session, dict(part.given.facts)
    if facts["created"] is None:  # a dataset names no series row
        facts |= {"created": taking.gesture.now, "facts": {"precision": price_decimals(part.candles)}}
    series = create_series(session, **facts)
    series.label_set_id = label_set.id
    session.flush()
    session.expire(series, ["label_set"])
    taking.store.write_series(session, series.id, series.timeframe, part.candles)
    for report in part.given.reports:
        add_report(session, series_id=series.id, **report)
    return series


def _take_run(session: Session, given: GivenRun, series_id: int) -> bool:
    """Add a run that is not here, and say so. One that was under way when it was exported is stopped."""
    facts = dict(given.facts)
    if _is_known(session, series_id, facts):
        return False
    dataset_id = session.scalar(select(Dataset.id).where(Dataset.hash == (given.dataset_hash or "")).limit(1))
    asked = {name: facts.pop(name) for name in ("mode", "config", "created")}
    run = add_run(session, series_id=series_id, dataset_id=dataset_id, **asked)
    for name, value in facts.items():
        setattr(run, name, value)
    run.state = "stopped" if run.state in UNFINISHED else run.state
    session.flush()
    add_hours(session, run.id, given.hours)
    add_events(session, [{**event, "run_id": run.id} for event in given.events])
    return True


def _is_known(session: Session, series_id: int, facts: Json) -> bool:
    query = select(Run).where(Run.series_id == series_id, Run.mode == facts["mode"], Run.created == facts["created"])
    return any(run.config == facts["config"] for run in session.scalars(query))


def _name(series: Series) -> tuple[str, str]:
    return series.symbol, series.timeframe


def _same(stored: Candles, given: Candles) -> bool:
    return len(stored) == len(given) and all(
        np.array_equal(getattr(stored, name), getattr(given, name), equal_nan=name == "volume") for name in COLUMNS
    )
