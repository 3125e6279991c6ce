"""Which marks of one author may not stand on the same candles."""

from __future__ import annotations

from collections.abc import Iterable

from annotate.annotations.draft import AnnotationDraft
from annotate.annotations.geometry import CLASS_KINDS
from annotate.annotations.mark import Mark
from annotate.annotations.ranges import Range
from annotate.models import LabelSet
from annotate.store.slate import Slate


def rivals(slate: Slate, label_set: LabelSet, before: Mark | None, new: Mark) -> list[Mark]:
    """Give the author's marks, by time, whose candles `new` claims where `before` did not.

    In an exclusive layer these are all spans and candle classes that it touches; in any other, a candle class has one
    where another stands on the very same candle.
    """
    layers = {label.id: label.layer for label in label_set.labels}
    layer = layers[new.label_id]
    stood_here = before is not None and (before.kind, before.geometry) == (new.kind, new.geometry)
    if stood_here and before is not None and layers.get(before.label_id) == layer:
        return []
    exclusive = layer in label_set.exclusive
    if new.kind not in CLASS_KINDS or not (exclusive or new.kind == "candle_class"):
        return []
    found = [old for old in slate.classes_at(new.author, place_of(new)) if old.id != new.id]
    found = [old for old in found if layers.get(old.label_id) == layer]
    return [old for old in found if exclusive or (old.kind == "candle_class" and place_of(old) == place_of(new))]


def load_rivals(slate: Slate, author: str, marks: Iterable[Mark | AnnotationDraft]) -> None:
    """Read at once what `rivals` will be asked for of many marks of one author, rather than for each of them."""
    places = [place_of(mark) for mark in marks if mark.kind in CLASS_KINDS]
    if len(places) > 1:
        slate.load_classes(author, (min(start for start, _ in places), max(end for _, end in places)))


def place_of(mark: Mark | AnnotationDraft) -> Range:
    """Give the range of time of a mark that gives candles their class."""
    return mark.geometry["start"], mark.geometry["end"]
