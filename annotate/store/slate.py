"""The marks that one gesture touches: read at once, changed in memory, written at once. Nothing is written before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotate.annotations.geometry import CLASS_KINDS
from annotate.annotations.mark import MARK_FIELDS, Mark
from annotate.annotations.ranges import Range
from annotate.errors import Conflict
from annotate.models import Annotation, Json
from annotate.store.marks import add_marks, change_marks, label_names, mark_to_json, marks_by_id, remove_marks
from annotate.store.removals import who_removed


class Slate:
    """Marks of one series as a gesture finds and leaves them; `write` makes the database agree."""

    def __init__(self, session: Session, series_id: int) -> None:
        self._session = session
        self.series_id = series_id
        self._stored: dict[str, Mark | None] = {}  # as the database has it; None where it has none
        self._marks: dict[str, Mark] = {}  # as it is now
        self._elsewhere: set[str] = set()  # ids that stand on another series
        self._classes: dict[str, _Classes] = {}  # of each author that was asked for
        self._removers: dict[str, str | None] = {}

    def load(self, mark_ids: Iterable[str]) -> None:
        """Read many marks at once; those at hand stay as they are."""
        wanted = [mark_id for mark_id in mark_ids if mark_id not in self._stored]
        if not wanted:
            return
        found = marks_by_id(self._session, wanted)
        for mark_id in wanted:
            on_series, mark, _ = found.get(mark_id, (self.series_id, None, ""))
            self._take(mark_id, mark)
            if on_series != self.series_id:
                self._elsewhere.add(mark_id)

    def find(self, mark_id: str) -> Mark | None:
        """Give a mark as it is now, None where there is none; raise Conflict where the id stands on another series."""
        self.load([mark_id])
        if mark_id in self._elsewhere:
            raise Conflict(f"annotation {mark_id} stands on another series; make a new id", code="id_taken")
        return self._marks.get(mark_id)

    def missing(self, mark_ids: Iterable[str]) -> list[str]:
        """Give those of marks at hand that are not there."""
        return [mark_id for mark_id in mark_ids if mark_id not in self._marks]

    def put(self, mark: Mark) -> None:
        """Let a mark be as given."""
        self.load([mark.id])
        self._marks[mark.id] = mark
        if mark.author in self._classes:
            self._classes[mark.author].put(mark)

    def remove(self, mark_id: str) -> None:
        """Let a mark be no more."""
        self.load([mark_id])
        gone = self._marks.pop(mark_id, None)
        if gone is not None and gone.author in self._classes:
            self._classes[gone.author].forget(mark_id)

    def load_removers(self, mark_ids: Sequence[str]) -> None:
        """Find out at once who removed marks that are no more."""
        self._removers |= dict.fromkeys(mark_ids) | who_removed(self._session, self.series_id, mark_ids)

    def remover(self, mark_id: str) -> str | None:
        """Name who removed a mark that is no more; None where no step of undo tells."""
        if mark_id not in self._removers:
            self.load_removers([mark_id])
        return self._removers[mark_id]

    def load_classes(self, author: str, within: Range) -> None:
        """Read at once every mark of an author that gives candles of a range their class."""
        classes = self._classes.setdefault(author, _Classes())
        if classes.covers(within):
            return
        columns = [getattr(Annotation, name) for name in MARK_FIELDS]
        of_author = select(*columns).where(Annotation.series_id == self.series_id, Annotation.author == author)
        query = of_author.where(Annotation.kind.in_(CLASS_KINDS), Annotation.start < within[1])
        # Not by the column `end`: where candles ended before the mark, it is too early.
        query = query.where(Annotation.geometry["end"].as_integer() > within[0])
        for row in self._session.execute(query):
            mark = Mark(**dict(zip(MARK_FIELDS, row, strict=True)))
            if mark.id not in self._stored:
                self._take(mark.id, mark)
        classes.read(within, self._marks.values(), author)

    def classes_at(self, author: str, place: Range) -> list[Mark]:
        """Give the marks of an author that give candles of a range their class, by time."""
        self.load_classes(author, place)
        found = [self._marks[mark_id] for mark_id in self._classes[author].at(place)]
        return sorted(found, key=lambda mark: (mark.start, mark.id))

    def shown(self, mark_ids: Iterable[str]) -> list[Json]:
        """Give marks as the API shows them, in this order; those that are no more are left out."""
        marks = [self._marks[mark_id] for mark_id in mark_ids if mark_id in self._marks]
        names = label_names(self._session, (mark.label_id for mark in marks))
        return [mark_to_json(mark, names[mark.label_id]) for mark in marks]

    def write(self) -> None:
        """Make the database hold what is at hand."""
        changed = [mark for mark in self._marks.values() if mark is not self._stored[mark.id]]
        gone = [mark_id for mark_id, mark in self._stored.items() if mark is not None and mark_id not in self._marks]
        remove_marks(self._session, gone)
        change_marks(self._session, [mark for mark in changed if self._stored[mark.id] is not None])
        add_marks(self._session, self.series_id, [mark for mark in changed if self._stored[mark.id] is None])
        self._stored = {mark_id: self._marks.get(mark_id) for mark_id in self._stored}

    def _take(self, mark_id: str, mark: Mark | None) -> None:
        self._stored[mark_id] = mark
        if mark is not None:
            self._marks[mark_id] = mark


class _Classes:
    """Where the classes of one author stand; asked by range, in one sweep over arrays."""

    def __init__(self) -> None:
        self._read: Range | None = None
        self._rows: dict[str, int] = {}
        self._ids: list[str] = []
        self._edges: npt.NDArray[np.int64] = np.zeros((2, 16), np.int64)  # starts and ends; one removed has 0, 0

    def covers(self, within: Range) -> bool:
        return self._read is not None and self._read[0] <= within[0] and within[1] <= self._read[1]

    def read(self, within: Range, marks: Iterable[Mark], author: str) -> None:
        known = self._read or within
        self._read = min(known[0], within[0]), max(known[1], within[1])
        for mark in marks:
            if mark.author == author:
                self.put(mark)

    def put(self, mark: Mark) -> None:
        if mark.kind not in CLASS_KINDS:
            return self.forget(mark.id)
        row = self._rows.setdefault(mark.id, len(self._ids))
        if row == len(self._ids):
            self._ids.append(mark.id)
            if row == self._edges.shape[1]:
                self._edges = np.concatenate([self._edges, np.zeros_like(self._edges)], axis=1)
        self._edges[:, row] = mark.geometry["start"], mark.geometry["end"]
        return None

    def forget(self, mark_id: str) -> None:
        if mark_id in self._rows:
            self._edges[:, self._rows[mark_id]] = 0

    def at(self, place: Range) -> Sequence[str]:
        starts, ends = self._edges
        touched = (starts < place[1]) & (ends > place[0]) & (starts < ends)
        return [self._ids[row] for row in np.flatnonzero(touched)]
