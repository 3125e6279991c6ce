"""Annotation rows as plain marks, and back, many at once. The one place that writes an annotation row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.orm import Session

from annotate.annotations.mark import MARK_FIELDS, Mark
from annotate.models import Annotation, Json, Label

_SHOWN = (
    *("comment", "confidence", "revision", "author", "source", "mode"),
    *("decided_at", "known_at", "created", "updated", "status", "updated_by", "entry_decided_at", "review"),
)


ID_BLOCK = 500  # ids asked for in one query; SQLite takes at most 32,766


def mark_of(row: Annotation) -> Mark:
    """Give a row as plain data."""
    return Mark(**{name: getattr(row, name) for name in MARK_FIELDS})


def add_marks(session: Session, series_id: int, marks: Sequence[Mark]) -> None:
    """Add rows for many new marks at once."""
    rows = [{"series_id": series_id, **{name: getattr(mark, name) for name in MARK_FIELDS}} for mark in marks]
    if rows:
        session.execute(insert(Annotation).execution_options(render_nulls=True), rows)


def change_marks(session: Session, marks: Sequence[Mark]) -> None:
    """Make the rows of many stored marks hold exactly these, at once."""
    # The table, not the class: the mapper would ask of each row which of its twenty columns are new.
    table = Annotation.__table__
    values: dict[str, object] = {name: bindparam(name) for name in MARK_FIELDS if name != "id"}
    change = update(Annotation).where(table.c.id == bindparam("of_id")).values(values)
    rows = [{("of_id" if name == "id" else name): getattr(mark, name) for name in MARK_FIELDS} for mark in marks]
    if rows:
        session.connection().execute(change, rows)


def marks_by_id(session: Session, mark_ids: Sequence[str]) -> dict[str, tuple[int, Mark, str]]:
    """Give series, mark and label name of those ids that are stored, on any series."""
    columns = [getattr(Annotation, name) for name in MARK_FIELDS]
    found: dict[str, tuple[int, Mark, str]] = {}
    for start in range(0, len(mark_ids), ID_BLOCK):
        query = select(Annotation.series_id, Label.name, *columns).join(Annotation.label)
        rows = session.execute(query.where(Annotation.id.in_(mark_ids[start : start + ID_BLOCK])))
        for series_id, label, *values in rows:
            mark = Mark(**dict(zip(MARK_FIELDS, values, strict=True)))
            found[mark.id] = series_id, mark, label
    return found


def remove_marks(session: Session, mark_ids: Sequence[str]) -> None:
    """Remove the rows of many ids."""
    for start in range(0, len(mark_ids), ID_BLOCK):
        session.execute(delete(Annotation).where(Annotation.id.in_(mark_ids[start : start + ID_BLOCK])))


def annotation_to_json(row: Annotation) -> Json:
    """Give an annotation as the API and the exports show it; its label by name."""
    return mark_to_json(mark_of(row), row.label.name)


def mark_to_json(mark: Mark, label: str) -> Json:
    """Give a mark as the API shows it, under the name of its label."""
    return {
        "id": mark.id,
        "kind": mark.kind,
        "label": label,
        **mark.geometry,
        **{name: getattr(mark, name) for name in _SHOWN},
    }


def label_names(session: Session, label_ids: Iterable[int]) -> dict[int, str]:
    """Give the names of these labels by id."""
    labels = session.scalars(select(Label).where(Label.id.in_(set(label_ids))))
    return {label.id: label.name for label in labels}
