"""Many changes in one gesture: stored all or none, taken back by one undo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from sqlalchemy.orm import Session

from annotate.annotations.draft import MAX_REVISION, AnnotationDraft
from annotate.annotations.fields import Fields
from annotate.annotations.mark import Change, merge
from annotate.annotations.timeline import Timeline
from annotate.errors import Conflict, InvalidInput, NotFound
from annotate.models import Json
from annotate.store.annotations import put_named, take_away
from annotate.store.marks import label_names, mark_to_json, marks_by_id
from annotate.store.rivals import load_rivals
from annotate.store.series import get_series
from annotate.store.slate import Slate
from annotate.store.undo import Gesture, record

MAX_CHANGES = 10_000
SETTABLE = ("label", "status", "confidence", "comment")


@dataclass(frozen=True, slots=True)
class Bulk:
    """What is wanted: drafts by id, and marks to remove with the revision that their author saw, or None."""

    drafts: dict[str, AnnotationDraft] = field(default_factory=dict)
    removed: dict[str, int | None] = field(default_factory=dict)

    @classmethod
    def from_json(cls, given: object) -> Self:
        """Read `{put: [mark with id], delete: [{id, revision}]}`; raise InvalidInput naming the entry and its field."""
        fields = Fields(given)
        fields.only(("put", "delete"))
        drafts = _entries(fields, "put", _draft)
        removed = _entries(fields, "delete", _removal)
        both = sorted(drafts.keys() & removed.keys())
        if both:
            raise fields.bad("delete", f"{both[0]} is to be put too; choose one")
        if len(drafts) + len(removed) > MAX_CHANGES:
            raise InvalidInput(f"{len(drafts) + len(removed)} changes: at most {MAX_CHANGES} go in one gesture")
        return cls(drafts, removed)


@dataclass(frozen=True, slots=True)
class Applied:
    """What a bulk gesture came to, the marks as the API shows them; `changed` says whether anything is new."""

    annotations: list[Json]
    deleted: list[str]
    changed: bool


def apply_bulk(session: Session, series_id: int, bulk: Bulk, timeline: Timeline, gesture: Gesture) -> Applied:
    """Store every change as one step of undo, or none.

    Drafts that are stored already and marks that are gone already change nothing, so that the call may be repeated.
    Raises InvalidInput naming the mark, Conflict with `conflicts`, both versions of each stale mark.
    """
    series, slate = get_series(session, series_id), _slate(session, series_id, bulk, gesture)
    changes: list[Change] = []
    conflicts: list[Json] = []
    for mark_id, revision in bulk.removed.items():
        changes += _remove(slate, mark_id, revision, conflicts)
    for mark_id, draft in bulk.drafts.items():
        try:
            changes += put_named(slate, series, mark_id, draft, timeline, gesture)
        except Conflict as error:
            conflicts.append({"id": mark_id, **error.details})
    if conflicts:
        raise Conflict(
            f"{len(conflicts)} of the marks changed since; nothing was stored, take the stored ones first",
            code="stale_revision",
            conflicts=conflicts,
        )
    slate.write()
    if changes:
        record(session, series_id, gesture, *changes)
    return _applied(slate, bulk, merge((), changes))


def changed_drafts(session: Session, series_id: int, given: object) -> Bulk:
    """Read `{ids, set: {label, status, confidence, comment}}` and give the marks as they are to become.

    Raises InvalidInput for what cannot be set, NotFound for an id that is not on the series.
    """
    fields = Fields(given)
    fields.only(("ids", "set"))
    wanted, ids = fields.object("set"), fields.value("ids")
    wanted.only(SETTABLE)
    if not isinstance(ids, list) or not all(isinstance(each, str) for each in ids) or len(ids) > MAX_CHANGES:
        raise fields.bad("ids", f"must be a list of at most {MAX_CHANGES} ids")
    change = {name: value for name, value in fields.value("set").items() if name in SETTABLE}
    if not change:
        raise fields.bad("set", "name at least one of " + ", ".join(SETTABLE))
    stored = marks_by_id(session, ids)
    drafts = {}
    for mark_id in ids:
        on_series, mark, label = stored.get(mark_id, (None, None, ""))
        if on_series != series_id or mark is None:
            raise NotFound(f"there is no annotation {mark_id} on series {series_id}", id=mark_id)
        drafts[mark_id] = AnnotationDraft.from_json({**mark_to_json(mark, label), **change}, mark_id)
    return Bulk(drafts)


def _slate(session: Session, series_id: int, bulk: Bulk, gesture: Gesture) -> Slate:
    """Read at once what the changes of a bulk touch: one by one takes long."""
    slate = Slate(session, series_id)
    slate.load([*bulk.drafts, *bulk.removed])
    load_rivals(slate, gesture.author, bulk.drafts.values())
    slate.load_removers([mark_id for mark_id in slate.missing(bulk.drafts) if bulk.drafts[mark_id].revision])
    return slate


def _remove(slate: Slate, mark_id: str, revision: int | None, conflicts: list[Json]) -> list[Change]:
    """Take a mark away; one that is gone already is passed over, a stale one is added to `conflicts`."""
    try:
        return [take_away(slate, mark_id, revision)]
    except NotFound:
        return []
    except Conflict as error:
        conflicts.append({"id": mark_id, **error.details})
        return []


def _applied(slate: Slate, bulk: Bulk, changes: Sequence[Change]) -> Applied:
    touched = [mark.id for _, mark in changes if mark is not None]
    gone = [before.id for before, after in changes if before is not None and after is None]
    return Applied(
        slate.shown(dict.fromkeys([*bulk.drafts, *touched])),
        list(dict.fromkeys([*bulk.removed, *gone])),
        bool(changes),
    )


def _entries(fields: Fields, name: str, read: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for entry in fields.items(name) if fields.has(name) else []:
        mark_id = entry.uuid("id")
        if mark_id in found:
            raise entry.bad("id", "stands twice in the list")
        found[mark_id] = read(entry, mark_id)
    return found


def _draft(entry: Fields, mark_id: str) -> AnnotationDraft:
    return AnnotationDraft.from_fields(entry, mark_id)


def _removal(entry: Fields, _mark_id: str) -> int | None:
    entry.only(("id", "revision"))
    return entry.whole("revision", 0, MAX_REVISION) if entry.has("revision") else None


def changes_to_json(session: Session, changes: Sequence[Change]) -> Mapping[str, Any]:
    """Give `{annotations, deleted}` of changes that came along with another."""
    names = label_names(session, (mark.label_id for change in changes for mark in change if mark is not None))
    return {
        "annotations": [mark_to_json(after, names[after.label_id]) for _, after in changes if after is not None],
        "deleted": [before.id for before, after in changes if before is not None and after is None],
    }
