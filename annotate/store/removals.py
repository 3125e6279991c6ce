"""Who removed a mark that is no more, as the steps of undo tell."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotate.models import UndoStep


def who_removed(session: Session, series_id: int, mark_ids: Sequence[str]) -> dict[str, str]:
    """Name for each mark the author whose newest gesture on it removed it; one that no step tells of is left out."""
    if not mark_ids:
        return {}
    each = func.json_each(UndoStep.before).table_valued("value", joins_implicitly=True)
    mark_id = func.json_extract(each.c.value, "$.id")
    asked = func.json_each(json.dumps(list(mark_ids))).table_valued("value", name="asked")
    query = select(mark_id, UndoStep.author).select_from(UndoStep, each).where(UndoStep.series_id == series_id)
    query = query.where(mark_id.in_(select(asked.c.value))).order_by(UndoStep.id)
    return {str(found): author for found, author in session.execute(query)}
