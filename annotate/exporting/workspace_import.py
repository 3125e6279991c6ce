"""A workspace's zip, or a dataset's, into this instance, empty or filled: all or nothing, what collides is listed.

A series that stands here with the same symbol, timeframe and candles takes the marks; any other comes beside what is
here. Nothing that stands here is changed or removed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotate.candle_store import CandleStore
from annotate.candles import COLUMNS, Candles, price_decimals
from annotate.db import Database
from annotate.errors import InvalidInput
from annotate.exporting.workspace import RUN_FACTS
from annotate.exporting.workspace_zip import GivenSeries, GivenSet, WorkspaceZip, open_workspace
from annotate.mark_files import Chart
from annotate.mark_import import Import, import_marks
from annotate.models import Dataset, Json, LabelSet, Run, Series, Setting
from annotate.store.events import add_events
from annotate.store.imports import add_report
from annotate.store.label_sets import DEFAULT_SETTING, create_label_set, labels_to_json, list_label_sets
from annotate.store.runs import UNFINISHED, add_run
from annotate.store.series import create_series, list_series
from annotate.store.undo import Gesture


def import_workspace(
    database: Database, store: CandleStore, path: Path, scratch: Path, gesture: Gesture, *, runs: bool = True
) -> Json:
    """Take a zip in; give `{series, label_sets, conflicts, runs, views}`.

    `scratch` is an empty folder for files on the way. Raises InvalidInput naming the part that cannot be taken, and
    then nothing was stored.
    """
    with open_workspace(path, scratch) as given, database.write() as session:
        conflicts: list[Json] = []
        here, sets_here = list_series(session), list_label_sets(session)  # before anything came
        sets = [_take_set(session, each, sets_here, conflicts) for each in given.label_sets]
        taken = [_take_series(session, store, given, each, here, sets, gesture, conflicts) for each in given.series]
        taken_runs = _take_runs(session, given, [each["id"] for each in taken]) if runs else 0
        names = [{"id": each.id, "name": each.name} for each in sets]
        return {"series": taken, "label_sets": names, "conflicts": conflicts, "runs": taken_runs, "views": given.views}


def _take_set(session: Session, given: GivenSet, here: list[LabelSet], conflicts: list[Json]) -> LabelSet:
    """Give the set that stands `here` and says the same, once, else a new one.

    The first default of an instance stays the default.
    """
    named = [each for each in here if each.name == given.draft.name]
    alike = next((each for each in named if _look(each) == _wanted(given)), None)
    if alike is not None:
        here.remove(alike)
    elif named:
        why = "a label set of this name has other labels; both are kept"
        conflicts.append({"what": "label_set", "name": given.draft.name, "why": why})
    label_set = alike or create_label_set(session, given.draft)
    if given.default and session.get(Setting, DEFAULT_SETTING) is None:
        session.add(Setting(name=DEFAULT_SETTING, value=label_set.id))
        session.flush()
    return label_set


def _look(label_set: LabelSet) -> list[tuple[object, ...]]:
    labels = labels_to_json(label_set.labels)
    return [tuple(value for name, value in label.items() if name != "id") for label in labels]


def _wanted(given: GivenSet) -> list[tuple[object, ...]]:
    return [(each.name, each.colour, each.key, each.layer, each.archived) for each in given.draft.labels]


def _take_series(
    session: Session,
    store: CandleStore,
    given: WorkspaceZip,
    series: GivenSeries,
    here: list[Series],
    sets: list[LabelSet],
    gesture: Gesture,
    conflicts: list[Json],
) -> Json:
    """Take a series in; one that stands `here` serves a single series of the zip and is taken from the list."""
    candles, marks = given.candles(series), given.marks(series)
    rivals = [each for each in here if _name(each) == (series.facts["symbol"], series.facts["timeframe"])]
    known = next((each for each in rivals if _same(store.read(each.id), candles)), None)
    if known is not None:
        here.remove(known)
    elif rivals:
        why = "a series of this name has other candles; both are kept"
        conflicts.append({"what": "series", "name": " ".join(_name(rivals[0])), "why": why})
    target = known or _new_series(session, store, series, candles, sets[series.label_set], gesture.now)
    how = Import(gesture, undoable=known is not None)
    report = import_marks(session, target.id, Chart(candles, target.timeframe), marks, how)
    conflicts += [{"what": "mark", "name": each["id"], **each} for each in report["conflicts"]]
    counts = {name: report[name] for name in ("read", "new", "same", "labels_added", "unplaced")}
    shown = {"id": target.id, "symbol": target.symbol, "timeframe": target.timeframe, "known": known is not None}
    return {**shown, **counts}


def _new_series(
    session: Session, store: CandleStore, given: GivenSeries, candles: Candles, label_set: LabelSet, now: int
) -> Series:
    facts = dict(given.facts)
    if facts["created"] is None:  # a dataset names no series row
        facts |= {"created": now, "facts": {"precision": price_decimals(candles)}}
    series = create_series(session, **facts)
    series.label_set_id = label_set.id
    session.flush()
    session.expire(series, ["label_set"])
    store.write_series(session, series.id, series.timeframe, candles)
    for report in given.reports:
        add_report(session, series_id=series.id, **report)
    return series


def _take_runs(session: Session, given: WorkspaceZip, series_ids: list[int]) -> int:
    """Add the runs that are not here; give how many. One that was under way when it was exported is stopped."""
    count = 0
    for head, *events in given.runs():
        try:
            facts = {name: head[name] for name in RUN_FACTS}
            series_id = series_ids[head["series"] - 1]
            bodies = [{"seq": each["seq"], "time": each["time"], "type": each["type"], **each} for each in events]
        except (KeyError, TypeError, IndexError) as error:
            raise InvalidInput(f"a run of the zip cannot be read: {error!r}") from None
        if _is_known(session, series_id, facts):
            continue
        dataset_id = session.scalar(select(Dataset.id).where(Dataset.hash == (head.get("dataset_hash") or "")).limit(1))
        asked = {name: facts.pop(name) for name in ("mode", "config", "created")}
        run = add_run(session, series_id=series_id, dataset_id=dataset_id, **asked)
        for name, value in facts.items():
            setattr(run, name, value)
        run.state = "stopped" if run.state in UNFINISHED else run.state
        session.flush()
        add_events(session, [{**body, "run_id": run.id} for body in bodies])
        count += 1
    return count


def _is_known(session: Session, series_id: int, facts: Json) -> bool:
    query = select(Run).where(Run.series_id == series_id, Run.mode == facts["mode"], Run.created == facts["created"])
    return any(run.config == facts["config"] for run in session.scalars(query))


def _name(series: Series) -> tuple[str, str]:
    return series.symbol, series.timeframe


def _same(stored: Candles, given: Candles) -> bool:
    return len(stored) == len(given) and all(
        np.array_equal(getattr(stored, name), getattr(given, name), equal_nan=name == "volume") for name in COLUMNS
    )
