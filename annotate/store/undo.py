"""Undo steps: one gesture of one author on one series, taken back and made again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Select, delete, select
from sqlalchemy.orm import Session

from annotate.annotations.mark import Change, Mark, describe, merge
from annotate.annotations.ranges import Range, joined, without
from annotate.errors import Conflict
from annotate.models import Json, LabelSet, Series, UndoStep
from annotate.store.marks import label_names, mark_to_json
from annotate.store.reviewed import ranges_of, set_ranges
from annotate.store.rivals import load_rivals, rivals
from annotate.store.slate import Slate
from annotate.store.suggestions import set_fates

Direction = Literal["undo", "redo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gesture:
    """Who acts, when (ms UTC), and the id that several calls of one gesture share; what it decides of suggestions."""

    author: str
    now: int
    id: str | None = None
    source: str = "human"  # of the marks that it makes
    title: str | None = None  # what it does, where its marks do not say it
    fates: dict[str, list[str]] = field(default_factory=dict)  # suggestion → [fate before, after]
    ranges: Json | None = None  # reviewed ranges {before, after}
    mode: str = "hindsight"  # of the marks that it makes
    sees_from: int | None = None  # in a second pass over one's own marks: those made earlier are hidden (ms UTC)
    sees_until: int | None = None  # in a replay: what was known or decided later is hidden


@dataclass(frozen=True, slots=True)
class Applied:
    """What an undo or redo did: its title, None where nothing was left to do; what it set and what it removed."""

    title: str | None
    annotations: list[Json] = field(default_factory=list)  # as the API shows them
    deleted: list[str] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)  # whose fate it changed
    skipped: list[str] = field(default_factory=list)  # marks that someone changed since, left as they are


def record(session: Session, series_id: int, gesture: Gesture, *new: Change) -> None:
    """Keep changes as a step, or join them to the step of their gesture; what the author could redo is gone with it."""
    undone = UndoStep.series_id == series_id, UndoStep.author == gesture.author, UndoStep.undone.is_(True)
    session.execute(delete(UndoStep).where(*undone))
    step = None if gesture.id is None else _next_step(session, series_id, gesture.author, "undo")
    if step is None or step.gesture != gesture.id:
        step = UndoStep(series_id=series_id, author=gesture.author, gesture=gesture.id, created=gesture.now)
        step.before, step.after = [], []
    changes = merge(_changes(step), new)
    fates = _joined(step.fates or {}, gesture.fates)
    ranges = step.ranges if gesture.ranges is None else {**gesture.ranges, **_earlier(step)}
    if changes or fates or ranges:
        _keep(step, changes)
        step.fates, step.ranges = fates or None, ranges
        step.title = gesture.title or describe(changes, label_names(session, _label_ids(changes)))
        session.add(step)
    elif step in session:  # a mark that was drawn and removed again within one gesture leaves nothing to undo
        session.delete(step)
    session.flush()


def review(session: Session, series_id: int, part: Range, gesture: Gesture, *, reviewed: bool) -> None:
    """Note that the author has looked through a range of time, or has not after all, as a step of undo."""
    before = ranges_of(session, series_id, gesture.author)
    after = joined([*before, part]) if reviewed else without(before, part)
    if after == before:
        return
    set_ranges(session, series_id, gesture.author, after)
    title = gesture.title or ("mark as reviewed" if reviewed else "mark as not reviewed")
    record(session, series_id, dataclasses.replace(gesture, title=title, ranges={"before": before, "after": after}))


def undo(session: Session, series_id: int, author: str, *, skip: bool = False) -> Applied:
    """Take back this author's last gesture.

    Where someone changed a mark of it since, or put another in its place where a candle can have one only, raise
    Conflict with both versions; with `skip`, leave that mark as it is and take back the rest.
    """
    return _apply(session, series_id, author, "undo", skip)


def redo(session: Session, series_id: int, author: str, *, skip: bool = False) -> Applied:
    """Make the gesture again that was taken back last; conflicts as `undo` has them."""
    return _apply(session, series_id, author, "redo", skip)


def marks_of_next(session: Session, series_id: int, author: str, direction: Direction) -> list[str]:
    """Give the ids of the marks that this author's next undo or redo would touch."""
    step = _next_step(session, series_id, author, direction)
    return [] if step is None else _mark_ids(step)


def undo_state(session: Session, series_id: int, author: str) -> Json:
    """Say what this author's undo and redo would do: `{can_undo, can_redo, undo, redo}`, two titles or null."""
    # The titles alone: a step may hold ten thousand marks.
    back, again = (
        session.scalar(_next_of(select(UndoStep.title), series_id, author, direction)) for direction in ("undo", "redo")
    )
    return {"can_undo": back is not None, "can_redo": again is not None, "undo": back, "redo": again}


def _apply(session: Session, series_id: int, author: str, direction: Direction, skip: bool) -> Applied:
    step = _next_step(session, series_id, author, direction)
    if step is None:
        return Applied(None)
    slate = Slate(session, series_id)
    slate.load(_mark_ids(step))
    changes: list[Change] = []
    skipped: list[str] = []
    for before, after in _changes(step):
        expected, wanted = (after, before) if direction == "undo" else (before, after)
        current = slate.find(_id_of(expected, wanted))
        if not _alike(current, expected):
            if not skip:
                raise _conflict(session, slate, f"{direction} of “{step.title}”", expected, current)
            skipped.append(_id_of(expected, wanted))
            continue
        restored = _restore(slate, current or expected, wanted)
        changes.append((restored, current) if direction == "undo" else (current, restored))
    skipped += _leave_crowded(session, slate, step, changes, direction, skip)
    slate.write()
    touched = [_id_of(*change) for change in changes]
    applied = Applied(step.title, slate.shown(touched), slate.missing(touched), skipped=skipped)
    _keep(step, changes)
    applied.suggestions.extend(set_fates(session, step.fates or {}, back=direction == "undo"))
    if step.ranges:
        set_ranges(session, series_id, author, step.ranges["before" if direction == "undo" else "after"])
    if changes or step.fates or step.ranges:
        step.undone = direction == "undo"
    else:  # all of it was skipped: there is nothing left to make again
        session.delete(step)
    session.flush()
    return applied


def _leave_crowded(
    session: Session, slate: Slate, step: UndoStep, changes: list[Change], direction: Direction, skip: bool
) -> list[str]:
    """Put back the changes whose mark came to stand where another stands that the step knows nothing of; give the ids.

    Raises Conflict for the first of them unless they may be skipped.
    """
    label_set = session.get_one(Series, slate.series_id).label_set
    placed = [mark for change in changes if (mark := _turned(change, direction)[0]) is not None]
    for author in {mark.author for mark in placed}:
        load_rivals(slate, author, (mark for mark in placed if mark.author == author))
    left: list[str] = []
    while found := next(_crowded(slate, label_set, changes, direction), None):
        change, restored, other = found
        if not skip:
            raise _no_room(session, f"{direction} of “{step.title}”", restored, other)
        _put_back(slate, restored.id, _turned(change, direction)[1])
        changes.remove(change)
        left.append(restored.id)
    return left


def _crowded(
    slate: Slate, label_set: LabelSet, changes: list[Change], direction: Direction
) -> Iterator[tuple[Change, Mark, Mark]]:
    own = {_id_of(*change) for change in changes}
    for change in changes:
        restored, current = _turned(change, direction)
        if restored is not None:
            others = [mark for mark in rivals(slate, label_set, current, restored) if mark.id not in own]
            yield from ((change, restored, other) for other in others[:1])


def _turned(change: Change, direction: Direction) -> Change:
    """Give what a change sets, and what it found."""
    return change if direction == "undo" else change[::-1]


def _put_back(slate: Slate, mark_id: str, current: Mark | None) -> None:
    if current is None:
        slate.remove(mark_id)
    else:
        slate.put(current)


def _earlier(step: UndoStep) -> Json:
    return {"before": step.ranges["before"]} if step.ranges else {}


def _joined(earlier: dict[str, list[str]], later: dict[str, list[str]]) -> dict[str, list[str]]:
    """Join what two calls of one gesture decide of suggestions: from how each was first to how it is last."""
    joined = earlier | {name: [earlier.get(name, fates)[0], fates[1]] for name, fates in later.items()}
    return {name: fates for name, fates in joined.items() if fates[0] != fates[1]}


def _restore(slate: Slate, current: Mark | None, wanted: Mark | None) -> Mark | None:
    """Let the mark be as wanted, under a revision it never had, so that a stale edit is told apart."""
    if wanted is None:
        if current is not None:
            slate.remove(current.id)
        return None
    revision = max(wanted.revision, current.revision if current else 0) + 1
    restored = dataclasses.replace(wanted, revision=revision)
    slate.put(restored)
    return restored


def _next_step(session: Session, series_id: int, author: str, direction: Direction) -> UndoStep | None:
    step: UndoStep | None = session.scalar(_next_of(select(UndoStep), series_id, author, direction))
    return step


def _next_of(query: Select[Any], series_id: int, author: str, direction: Direction) -> Select[Any]:
    order = UndoStep.id.desc() if direction == "undo" else UndoStep.id
    query = query.where(UndoStep.series_id == series_id, UndoStep.author == author)
    return query.where(UndoStep.undone.is_(direction == "redo")).order_by(order).limit(1)


def _alike(current: Mark | None, expected: Mark | None) -> bool:
    if current is None or expected is None:
        return current is expected
    return current.is_like(expected)


def _conflict(session: Session, slate: Slate, what: str, expected: Mark | None, current: Mark | None) -> Conflict:
    names = label_names(session, _label_ids([(expected, current)]))
    yours, stored = (mark and mark_to_json(mark, names[mark.label_id]) for mark in (expected, current))
    became = "was removed" if current is None else "was changed" if expected else "was drawn again"
    by = current.updated_by if current else slate.remover(_id_of(expected, None))
    message = f"{what} is refused: a mark {became} since{f' by {by}' if by else ''}; settle it by hand, or skip it"
    return Conflict(message, code="changed_since", yours=yours, stored=stored, by=by)


def _no_room(session: Session, what: str, restored: Mark, other: Mark) -> Conflict:
    names = label_names(session, [restored.label_id, other.label_id])
    yours, stored = (mark_to_json(mark, names[mark.label_id]) for mark in (restored, other))
    message = (
        f"{what} is refused: a mark would stand where “{stored['label']}” stands since, last changed by "
        f"{other.updated_by}, and a candle can have only one of them; settle it by hand, or skip it"
    )
    return Conflict(message, code="changed_since", yours=yours, stored=stored, by=other.updated_by)


def _changes(step: UndoStep) -> list[Change]:
    marks = ([Mark(**mark) if mark else None for mark in side] for side in (step.before, step.after))
    return list(zip(*marks, strict=True))


def _keep(step: UndoStep, changes: list[Change]) -> None:
    step.before = [before.to_json() if before else None for before, _ in changes]
    step.after = [after.to_json() if after else None for _, after in changes]


def _mark_ids(step: UndoStep) -> list[str]:
    return list(dict.fromkeys(mark["id"] for mark in (*step.before, *step.after) if mark is not None))


def _id_of(before: Mark | None, after: Mark | None) -> str:
    mark = before or after
    return mark.id if mark else ""


def _label_ids(changes: list[Change]) -> set[int]:
    return {mark.label_id for change in changes for mark in change if mark is not None}
