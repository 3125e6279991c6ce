"""A stored mark as plain data, and a gesture in words. Pure; no database."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotate.annotations.geometry import Json, change_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One annotation, whole; the fields of its row, without the series."""

    id: str
    kind: str
    label_id: int
    start: int  # first time it touches, ms UTC
    end: int  # half open: close of the last candle that it touches
    geometry: Json
    comment: str
    confidence: float | None
    author: str
    source: str
    mode: str
    decided_at: int
    known_at: int
    revision: int
    created: int
    updated: int
    draft: Json
    status: str = "done"
    updated_by: str = ""
    entry_decided_at: int | None = None  # of a trade: `decided_at` as it stood when its entry was placed
    review: Json | None = None  # the last verdict on it: {verdict, by, at, comment, correction}

    def to_json(self) -> Json:
        """Give every field, JSON-able."""
        return {name: getattr(self, name) for name in MARK_FIELDS}

    def is_like(self, other: Mark) -> bool:
        """Say whether two versions are the same; only how they came about and a later review may differ."""
        apart = {name: getattr(other, name) for name in ("revision", "draft", "updated_by", "review")}
        return dataclasses.replace(self, **apart) == other

    def says_the_same(self, other: Mark) -> bool:
        """Say whether a person would see no difference: kind, label, place, comment, confidence, status are equal."""
        return _said(self) == _said(other)


Change = tuple[Mark | None, Mark | None]
"""A mark before and after a gesture; None where there was none."""

MARK_FIELDS = tuple(field.name for field in dataclasses.fields(Mark))


def describe(changes: Sequence[Change], names: Mapping[int, str]) -> str:
    """Say in words what a gesture did: `draw Long`, `relabel Long as Short`, `delete 3 marks`.

    `names` gives the names of the label ids.
    """
    if len(changes) == 1:
        return _one(*changes[0], names)
    verbs = {_verb(before, after) for before, after in changes}
    return f"{verbs.pop() if len(verbs) == 1 else 'change'} {len(changes)} marks"


def merge(earlier: Sequence[Change], later: Sequence[Change]) -> list[Change]:
    """Join the changes of two calls of one gesture: each mark once, from how it was first to how it is last."""
    joined = {_id_of(change): change for change in earlier}
    for before, after in later:
        known = joined.get(_id_of((before, after)))
        joined[_id_of((before, after))] = (known[0] if known else before, after)
    return [change for change in joined.values() if not _changes_nothing(*change)]


def _one(before: Mark | None, after: Mark | None, names: Mapping[int, str]) -> str:
    verb, mark = _verb(before, after), before or after
    name = names[mark.label_id] if mark else ""
    if verb == "relabel" and after is not None:
        return f"relabel {name} as {names[after.label_id]}"
    return f"{verb} {name}"


def _verb(before: Mark | None, after: Mark | None) -> str:
    if before is None:
        return "draw"
    if after is None:
        return "delete"
    if before.label_id != after.label_id:
        return "relabel"
    if before.kind != after.kind:
        return "redraw"
    if before.geometry != after.geometry:
        return change_of(after.kind, before.geometry, after.geometry)
    if before.status != after.status:
        return "finish" if after.status == "done" else "reopen"
    return "comment on" if before.comment != after.comment else "set confidence of"


def _changes_nothing(before: Mark | None, after: Mark | None) -> bool:
    if before is None or after is None:
        return before is after
    return before.says_the_same(after)


def _said(mark: Mark) -> tuple[object, ...]:
    return (mark.kind, mark.label_id, mark.geometry, mark.comment, mark.confidence, mark.status)


def _id_of(change: Change) -> str:
    mark = change[0] or change[1]
    return mark.id if mark else ""
