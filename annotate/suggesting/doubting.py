"""The list of doubted marks: without those that a person confirmed, or changed after they had been listed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from annotate.store.marks import marks_by_id
from annotate.store.suggestions import check_mark, checked_marks

Json = dict[str, Any]


def open_doubts(session: Session, found: Sequence[Json], count: int) -> list[Json]:
    """Give the first `count` doubts that are still open, each with its mark's `revision`, and note them as shown."""
    checked = checked_marks(session)
    stored = marks_by_id(session, [doubt["id"] for doubt in found])
    shown: list[Json] = []
    for doubt in found:
        if doubt["id"] not in stored or len(shown) == count:
            continue
        revision = stored[doubt["id"]][1].revision
        seen, is_confirmed = checked.get(doubt["id"], (revision, False))
        if is_confirmed and seen == revision:
            continue
        if seen < revision:  # changed since it was listed or confirmed: that settles it
            check_mark(session, doubt["id"], revision, confirmed=True)
            continue
        if doubt["id"] not in checked:
            check_mark(session, doubt["id"], revision, confirmed=False)
        shown.append({**doubt, "revision": revision})
    return shown
