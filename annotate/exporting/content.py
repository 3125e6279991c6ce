"""What a dataset is made of, read from the database at one moment: facts of the series, its labels, its marks."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from annotate.annotations.labels import LABEL_FIELDS
from annotate.annotations.veil import Veil
from annotate.exporting.recipe import Recipe
from annotate.models import Json
from annotate.store.annotations import list_annotations
from annotate.store.label_sets import labels_to_json
from annotate.store.reviewed import list_reviewed
from annotate.store.series import get_series
from annotate.store.suggestions import rejections

FACTS = ("symbol", "timeframe", "simulated")
LABEL_FACTS = tuple(name for name in LABEL_FIELDS if name != "id")
"""Ids differ from one instance to the next, so none may stand in what two instances compare."""


@dataclass(frozen=True, slots=True)
class Content:
    """A series without its candles; archived labels only where a mark has them."""

    facts: Json
    label_set: str  # its name
    labels: list[Json]
    annotations: list[Json]
    exclusive: list[str] = field(default_factory=list)  # layers in which a candle has one class
    reviewed: list[Json] = field(default_factory=list)  # {author, start, end} of what someone has looked through
    left_out: int = 0  # marks that the recipe leaves out
    rejected: list[Json] = field(default_factory=list)  # {label, start, end} of suggestions that someone rejected


def read_content(
    session: Session, series_id: int, recipe: Recipe, until: int | None = None, veil: Veil | None = None
) -> Content:
    """Read a series as it is now; `until` (ms UTC) leaves out marks that were not known by then. Raises NotFound.

    Under a replay's veil nothing is read that its author may not see.
    """
    series = get_series(session, series_id)
    marks = [mark for mark in list_annotations(session, series_id) if veil is None or veil.shows(mark)]
    known = [mark for mark in marks if until is None or mark["known_at"] <= until]
    kept = [mark for mark in known if not (recipe.without_hindsight and mark["mode"] == "hindsight")]
    used = {mark["label"] for mark in kept}
    cursor = None if veil is None else veil.cursor
    labels = labels_to_json(label for label in series.label_set.labels if not label.archived or label.name in used)
    names = {label["name"] for label in labels}
    return Content(
        facts={name: getattr(series, name) for name in FACTS},
        label_set=series.label_set.name,
        labels=[{name: label[name] for name in LABEL_FACTS} for label in labels],
        annotations=kept,
        exclusive=series.label_set.exclusive,
        reviewed=list_reviewed(session, series_id, until),
        left_out=len(known) - len(kept),
        rejected=[one for one in rejections(session, series_id, until, cursor) if one["label"] in names],
    )
