"""Label sets: classes, shared among series. A rename keeps marks; a used label is archived rather than deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from annotate.annotations.labels import LABEL_FIELDS, MAX_LABELS, LabelDraft, LabelSetDraft, default_draft
from annotate.errors import Conflict, InvalidInput, NotFound
from annotate.models import Annotation, Json, Label, LabelSet, Series, Setting, UndoStep

DEFAULT_SETTING = "default_label_set"


def default_label_set(session: Session) -> LabelSet:
    """Give the set that every new series takes, made on first use; renamed or changed, it stays the default."""
    setting = session.get(Setting, DEFAULT_SETTING)
    known = session.get(LabelSet, setting.value) if setting else None
    if known is not None:
        return known
    made = create_label_set(session, default_draft())
    session.merge(Setting(name=DEFAULT_SETTING, value=made.id))
    session.flush()
    return made


def list_label_sets(session: Session) -> list[LabelSet]:
    """List every set, oldest first."""
    return list(session.scalars(select(LabelSet).order_by(LabelSet.id)))


def get_label_set(session: Session, label_set_id: int) -> LabelSet:
    """Give the set; raise NotFound."""
    label_set = session.get(LabelSet, label_set_id)
    if label_set is None:
        raise NotFound(f"there is no label set {label_set_id}", label_set_id=label_set_id)
    return label_set


def create_label_set(session: Session, draft: LabelSetDraft) -> LabelSet:
    """Make a set, revision 1."""
    label_set = LabelSet(name=draft.name, revision=1, labels=[], exclusive=list(draft.exclusive or ()))
    session.add(label_set)
    session.flush()
    _replace(session, label_set, draft.labels)
    return label_set


def save_label_set(session: Session, label_set_id: int, draft: LabelSetDraft, *, archive_all: bool = False) -> LabelSet:
    """Store the whole set as its next revision.

    A label that is left out is deleted where nothing uses it, else archived; with `archive_all` it is archived anyway,
    for someone who may not know which are used. What is stored already changes nothing.
    Raises Conflict with both versions for a stale revision, InvalidInput for the id of a foreign label.
    """
    label_set = get_label_set(session, label_set_id)
    if _is_stored(label_set, draft):
        return label_set
    if draft.revision != label_set.revision:
        raise Conflict(
            f"label set {label_set_id} is at revision {label_set.revision}, you sent {draft.revision}; "
            "take the stored one and try again",
            code="stale_revision",
            yours={"name": draft.name, "revision": draft.revision, "labels": [_draft_to_json(d) for d in draft.labels]},
            stored=label_set_to_json(session, label_set),
        )
    _replace(session, label_set, draft.labels, archive_all=archive_all)
    label_set.name = draft.name
    label_set.exclusive = list(_exclusive_of(label_set, draft))
    label_set.revision += 1
    session.flush()
    return label_set


def add_labels(session: Session, label_set: LabelSet, drafts: Sequence[LabelDraft]) -> None:
    """Append labels to a set, as its next revision; raise InvalidInput where it would have too many."""
    if not drafts:
        return
    if len(label_set.labels) + len(drafts) > MAX_LABELS:
        raise InvalidInput(
            f"“{label_set.name}” has {len(label_set.labels)} labels and at most {MAX_LABELS}; {len(drafts)} more came"
        )
    keys = {label.key for label in label_set.labels}
    for draft in drafts:
        label = _filled(Label(), draft)
        label.key = None if draft.key in keys else draft.key
        label.position = len(label_set.labels)
        label_set.labels.append(label)
    label_set.revision += 1
    session.flush()


def assign_label_set(session: Session, series: Series, label_set_id: int) -> None:
    """Let a series use another set; its marks keep their classes by name.

    Raises InvalidInput naming the classes in use that the other set does not have.
    """
    target = get_label_set(session, label_set_id)
    if target.id == series.label_set_id:
        return
    new_ids = {label.name: label.id for label in target.labels}
    used = select(Label.name).join(Annotation).where(Annotation.series_id == series.id).distinct()
    missing = sorted(set(session.scalars(used)) - set(new_ids))
    if missing:
        raise InvalidInput(
            f"label_set_id = {label_set_id}: marks of the series use {', '.join(missing)}, which "
            f"“{target.name}” does not have; add them there first",
            field="label_set_id",
        )
    moves = {label.id: new_ids[label.name] for label in series.label_set.labels if label.name in new_ids}
    _relabel(session, series.id, moves)
    series.label_set_id = target.id
    session.flush()
    session.expire(series, ["label_set"])


def series_using(session: Session, label_set_id: int) -> list[int]:
    """List the ids of the series that use the set."""
    query = select(Series.id).where(Series.label_set_id == label_set_id, Series.deleted.is_(None)).order_by(Series.id)
    return list(session.scalars(query))


def label_set_to_json(session: Session, label_set: LabelSet) -> Json:
    """Give a set as the API shows it, labels in order, with the series that use it."""
    return {
        "id": label_set.id,
        "name": label_set.name,
        "revision": label_set.revision,
        "labels": labels_to_json(label_set.labels),
        "exclusive": label_set.exclusive,
        "used_by": series_using(session, label_set.id),
    }


def labels_to_json(labels: Iterable[Label]) -> list[Json]:
    """Give labels as the API shows them."""
    return [{name: getattr(label, name) for name in LABEL_FIELDS} for label in labels]


def _replace(session: Session, label_set: LabelSet, drafts: Iterable[LabelDraft], *, archive_all: bool = False) -> None:
    wanted = list(drafts)
    rows = {label.id: label for label in label_set.labels}
    _check_ids(rows, wanted)
    kept = {draft.id for draft in wanted}
    gone = [label for label in label_set.labels if label.id not in kept]
    used = _used_labels(session, [label.id for label in gone])
    archived = [label for label in gone if archive_all or label.id in used]
    _check_archived_names(archived, wanted)
    # Names swap places freely: none may meet the unique constraint half way.
    for label in label_set.labels:
        label.name = f"\0{label.id}" if label.id in kept else label.name
    session.flush()
    ordered = [_filled(rows.get(draft.id or 0) or Label(), draft) for draft in wanted]
    for label in archived:
        label.archived, label.key = True, None
    for place, label in enumerate([*ordered, *archived]):
        label.position = place
    label_set.labels = [*ordered, *archived]
    session.flush()


def _check_ids(rows: Mapping[int, Label], wanted: list[LabelDraft]) -> None:
    for place, draft in enumerate(wanted):
        if draft.id is not None and draft.id not in rows:
            field = f"labels[{place}].id"
            raise InvalidInput(
                f"{field} = {draft.id}: the set has no such label; leave id out for a new one", field=field
            )


def _check_archived_names(archived: Iterable[Label], wanted: list[LabelDraft]) -> None:
    names = {label.name: label.id for label in archived}
    for place, draft in enumerate(wanted):
        if draft.name in names:
            field = f"labels[{place}].name"
            raise InvalidInput(
                f"{field} = {draft.name!r}: marks use an older label of this name; send id = {names[draft.name]}",
                field=field,
            )


def _filled(label: Label, draft: LabelDraft) -> Label:
    label.name, label.colour, label.key = draft.name, draft.colour, draft.key
    label.layer, label.archived = draft.layer, draft.archived
    return label


def _used_labels(session: Session, label_ids: list[int]) -> set[int]:
    """Give those of the labels that a mark has, or that an undo step would give back to one."""
    if not label_ids:
        return set()
    marks = select(Annotation.label_id).where(Annotation.label_id.in_(label_ids))
    used = set(session.scalars(marks.distinct()))
    for side in (UndoStep.before, UndoStep.after):
        each = func.json_each(side).table_valued("value", joins_implicitly=True)
        label_id = func.json_extract(each.c.value, "$.label_id")
        used |= set(session.scalars(select(label_id).select_from(UndoStep).where(label_id.in_(label_ids)).distinct()))
    return used


def _relabel(session: Session, series_id: int, moves: Mapping[int, int]) -> None:
    for old, new in moves.items():
        session.execute(
            update(Annotation).where(Annotation.series_id == series_id, Annotation.label_id == old).values(label_id=new)
        )
    for step in session.scalars(select(UndoStep).where(UndoStep.series_id == series_id)):
        step.before = [_moved(mark, moves) for mark in step.before]
        step.after = [_moved(mark, moves) for mark in step.after]


def _moved(mark: Json | None, moves: Mapping[int, int]) -> Json | None:
    return None if mark is None else {**mark, "label_id": moves.get(mark["label_id"], mark["label_id"])}


def _is_stored(label_set: LabelSet, draft: LabelSetDraft) -> bool:
    stored = [(r.name, r.colour, r.key, r.layer, r.archived) for r in label_set.labels]
    wanted = [(d.name, d.colour, d.key, d.layer, d.archived) for d in draft.labels]
    ids_fit = len(stored) == len(wanted) and all(
        d.id in (None, r.id) for d, r in zip(draft.labels, label_set.labels, strict=True)
    )
    same = draft.name == label_set.name and list(_exclusive_of(label_set, draft)) == label_set.exclusive
    return ids_fit and stored == wanted and same


def _exclusive_of(label_set: LabelSet, draft: LabelSetDraft) -> Sequence[str]:
    """Give the wanted exclusive layers; where none are named, the stored ones that still have a label."""
    layers = {label.layer for label in draft.labels}
    return [name for name in label_set.exclusive if name in layers] if draft.exclusive is None else draft.exclusive


def _draft_to_json(draft: LabelDraft) -> Json:
    return {name: getattr(draft, name) for name in LABEL_FIELDS}
