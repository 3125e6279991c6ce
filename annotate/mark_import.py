"""Marks of a file onto a series: what is new, known, in conflict or fits no candle; stored as one step of undo, or not.

A mark is never moved. One that fits no candle is listed; so is one whose id is stored with other content.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy.orm import Session

from annotate.annotations.classes import CandleTimes
from annotate.annotations.draft import AnnotationDraft
from annotate.annotations.labels import LABEL_FIELDS, LabelDraft, LabelSetDraft
from annotate.annotations.mark import Mark
from annotate.annotations.timeline import Timeline
from annotate.errors import InvalidInput
from annotate.mark_files import Chart, Found, FoundMark
from annotate.models import Json, LabelSet
from annotate.store.label_sets import add_labels
from annotate.store.marks import add_marks, change_marks, mark_to_json, marks_by_id
from annotate.store.series import get_series
from annotate.store.undo import Gesture, record

NAMESPACE = UUID("6f0d3a52-3f3c-4c5e-9a55-2f1f2f6a7b10")  # of the ids that foreign marks get
SAMPLE = 20
COLOURS = ("#0072b2", "#cc79a7", "#56b4e9", "#f0e442", "#009e73", "#d55e00", "#e69f00", "#8c8c8c")


@dataclass(slots=True)
class Sorted:
    """The marks of a file by what becomes of them."""

    new: list[tuple[FoundMark, Mark]] = field(default_factory=list)
    same: int = 0
    conflicts: list[Json] = field(default_factory=list)  # {id, where, yours, stored, series_id}
    replacing: list[tuple[Mark, Mark]] = field(default_factory=list)  # the stored one and what takes its place
    unplaced: list[Json] = field(default_factory=list)  # {where, mark, stored}


@dataclass(frozen=True, slots=True)
class Import:
    """How a file's marks are taken: by whom and when, and whether a stored mark gives way in a conflict."""

    gesture: Gesture
    replace: bool = False
    undoable: bool = True  # keep a step of undo


def import_marks(session: Session, series_id: int, chart: Chart, found: Found, how: Import) -> Json:
    """Store a file's marks in the caller's transaction and say what became of each; one step of undo takes all back.

    Marks of ours keep id, author, times and revision; others are of source `import` and this author's. Labels that the
    series' set lacks are added to it. A caller that only wants to know rolls back. Raises InvalidInput naming the place
    in the file.
    """
    label_set = get_series(session, series_id).label_set
    drafts = [(mark, *_draft(mark, series_id)) for mark in found.marks]
    added = _add_missing(session, label_set, found, [draft.label for _, _, draft in drafts])
    label_ids = {label.name: label.id for label in label_set.labels}
    timeline = Timeline(chart.opens, chart.timeframe)
    stored = marks_by_id(session, [mark_id for _, mark_id, _ in drafts])
    outcome = Sorted()
    rows, seen = CandleTimes(chart.opens, chart.timeframe), set[str]()
    for found_mark, mark_id, draft in drafts:
        if mark_id in seen:
            outcome.same += 1
        elif _fits(found_mark, draft, rows, timeline, outcome):
            mark = _mark(found_mark, mark_id, draft, label_ids[draft.label], timeline, how.gesture)
            _settle(found_mark, mark, draft.label, stored.get(mark_id), series_id, how, outcome)
        seen.add(mark_id)
    _store(session, series_id, outcome, how)
    return _report(found, outcome, added)


def _draft(mark: FoundMark, series_id: int) -> tuple[str, AnnotationDraft]:
    """Check a mark as a PUT would be; a foreign one without a price where no candle is keeps 0 until it is listed."""
    body = dict(mark.body)
    if body["kind"] == "point" and body["price"] is None:
        body["price"] = 0.0
    for end in ("entry", "exit"):
        if end in body and body[end]["price"] is None:
            body[end] = {**body[end], "price": 0.0}
    mark_id = mark.id or str(uuid5(NAMESPACE, f"{series_id} {json.dumps(body, sort_keys=True)}"))
    revision = mark.facts["revision"] - 1 if mark.facts else 0
    try:
        return mark_id, AnnotationDraft.from_json({**body, "revision": revision}, mark_id)
    except InvalidInput as error:
        raise InvalidInput(f"{mark.where}: {error.message}", **error.details) from None


def _fits(mark: FoundMark, draft: AnnotationDraft, rows: CandleTimes, timeline: Timeline, outcome: Sorted) -> bool:
    """Tell whether a mark may be stored; list one that touches no candle.

    One of ours may lie in a gap, as long as it lies within the time of the candles, where it was drawn.
    """
    at = rows.touched({"kind": draft.kind, **draft.geometry})
    try:
        timeline.check(draft)
        inside = True
    except InvalidInput:
        inside = False
    if at.stop > at.start or (inside and draft.first is None):
        return True
    taken = inside and mark.facts is not None
    outcome.unplaced.append({"where": mark.where, "mark": mark.body, "stored": taken})
    return taken


def _mark(
    found: FoundMark, mark_id: str, draft: AnnotationDraft, label_id: int, timeline: Timeline, gesture: Gesture
) -> Mark:
    facts: Mapping[str, Any] = found.facts or {
        "author": gesture.author,
        "source": "import",
        "mode": "hindsight",
        "decided_at": timeline.end,
        "known_at": timeline.known_at(draft),
        "created": gesture.now,
        "updated": gesture.now,
        "updated_by": gesture.author,
        "entry_decided_at": timeline.end if draft.kind == "trade" else None,
        "revision": 1,
    }
    return Mark(
        id=mark_id,
        kind=draft.kind,
        label_id=label_id,
        start=draft.listed_at,
        end=facts["known_at"],
        geometry=draft.geometry,
        comment=draft.comment,
        confidence=draft.confidence,
        draft=draft.to_json(),
        status=draft.status,
        **facts,
    )


def _settle(
    found: FoundMark,
    mark: Mark,
    label: str,
    stored: tuple[int, Mark, str] | None,
    series_id: int,
    how: Import,
    outcome: Sorted,
) -> None:
    if stored is None:
        outcome.new.append((found, mark))
        return
    on_series, known, known_label = stored
    alike = known.is_like(mark) if found.facts else known.says_the_same(mark)
    if on_series == series_id and alike and (not found.facts or known.revision == mark.revision):
        outcome.same += 1
        return
    replaced = how.replace and on_series == series_id
    if replaced:
        outcome.replacing.append((known, dataclasses.replace(mark, revision=max(known.revision, mark.revision) + 1)))
    conflict = {"id": mark.id, "where": found.where, "series_id": on_series, "replaced": replaced}
    outcome.conflicts.append(
        {**conflict, "yours": mark_to_json(mark, label), "stored": mark_to_json(known, known_label)}
    )


def _store(session: Session, series_id: int, outcome: Sorted, how: Import) -> None:
    add_marks(session, series_id, [mark for _, mark in outcome.new])
    change_marks(session, [mark for _, mark in outcome.replacing])
    changes = [(None, mark) for _, mark in outcome.new]
    if how.undoable and (changes or outcome.replacing):
        record(session, series_id, how.gesture, *changes, *outcome.replacing)


def _add_missing(session: Session, label_set: LabelSet, found: Found, names: Sequence[str]) -> list[str]:
    """Add the labels that the set lacks, with the look that the file gives them, else the next colour."""
    known = {label.name for label in label_set.labels}
    looks = {look["name"]: look for look in _looks(found.labels)}
    missing = [name for name in dict.fromkeys(names) if name not in known]
    drafts = [
        _label_draft(looks.get(name, {"name": name, "colour": COLOURS[(len(known) + place) % len(COLOURS)]}))
        for place, name in enumerate(missing)
    ]
    add_labels(session, label_set, drafts)
    return missing


def _looks(labels: Sequence[Mapping[str, Any]]) -> Sequence[Json]:
    """Check what a file says of its labels; they come from outside."""
    if not labels:
        return []
    given = [{name: label.get(name) for name in LABEL_FIELDS if name != "id"} for label in labels]
    LabelSetDraft.from_json({"name": "of the file", "labels": given})
    return given


def _label_draft(look: Json) -> LabelDraft:
    return LabelDraft(
        id=None,
        name=look["name"],
        colour=look["colour"],
        key=look.get("key"),
        layer=look.get("layer") or "default",
        archived=bool(look.get("archived")),
    )


def _report(found: Found, outcome: Sorted, added: list[str]) -> Json:
    return {
        "format": found.format,
        "read": len(found.marks),
        "new": len(outcome.new),
        "same": outcome.same,
        "conflicts": outcome.conflicts,
        "unplaced": outcome.unplaced,
        "skipped": list(found.skipped),
        "labels_added": added,
        "mapping": dict(found.mapping),
        "notes": list(found.notes),
        "options": list(found.options),
        "sample": [{"where": mark.where, **mark.body} for mark, _ in outcome.new[:SAMPLE]],
    }
