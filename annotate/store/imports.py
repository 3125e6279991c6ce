"""Import reports: what each upload gave, and which series the same bytes made before."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotate.annotations.draft import AnnotationDraft
from annotate.annotations.timeline import Timeline
from annotate.candles import Times
from annotate.errors import NotFound
from annotate.models import Annotation, ImportReport, Json, Label, Series


def add_report(session: Session, *, series_id: int, sha256: str, created: int, report: Json) -> None:
    """Keep what an upload gave a series."""
    session.add(ImportReport(series_id=series_id, sha256=sha256, created=created, report=report))
    session.flush()


def newest_report(session: Session, series_id: int) -> ImportReport:
    """Give the report of the series' newest upload; raise NotFound where it was not uploaded."""
    query = select(ImportReport).where(ImportReport.series_id == series_id).order_by(ImportReport.id.desc()).limit(1)
    report = session.scalar(query)
    if report is None:
        raise NotFound(f"series {series_id} was not uploaded, so it has no import report", series_id=series_id)
    return report


def reports_of_bytes(session: Session, sha256: str, series_id: int | None = None) -> list[ImportReport]:
    """List the reports that live series, or a given one, have of uploads of the same bytes; by series and time."""
    query = (
        select(ImportReport)
        .join(Series, Series.id == ImportReport.series_id)
        .where(ImportReport.sha256 == sha256, Series.deleted.is_(None))
        .order_by(ImportReport.series_id, ImportReport.id)
    )
    if series_id is not None:
        query = query.where(ImportReport.series_id == series_id)
    return list(session.scalars(query))


def reports_of_series(session: Session, series_id: int) -> list[ImportReport]:
    """List the reports of a series' uploads, oldest first."""
    query = select(ImportReport).where(ImportReport.series_id == series_id).order_by(ImportReport.id)
    return list(session.scalars(query))


def stretches_of_marks(session: Session, series_id: int) -> list[Json]:
    """List id, kind, label, start and end of the marks of a series, by start; `end` is open."""
    columns = (Annotation.id, Annotation.kind, Label.name.label("label"), Annotation.start, Annotation.end)
    query = select(*columns).join(Annotation.label).where(Annotation.series_id == series_id).order_by(Annotation.start)
    return [dict(row) for row in session.execute(query).mappings()]


def renew_known_at(session: Session, series_id: int, timeline: Timeline, added: Times) -> None:
    """Say anew when the marks were known into whose stretch candles came; a mark itself stays where it is."""
    if not len(added):
        return
    query = select(Annotation).where(
        Annotation.series_id == series_id, Annotation.start <= int(added[-1]), Annotation.end > int(added[0])
    )
    for row in session.scalars(query):
        draft = AnnotationDraft(kind=row.kind, label="", geometry=row.geometry)
        if draft.last is not None and draft.last < timeline.end:
            row.end = row.known_at = timeline.known_at(draft)
