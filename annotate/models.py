"""The tables, as typed SQLAlchemy models. Times are int ms UTC; JSON columns hold plain data."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from annotate.db import Base

Json = dict[str, Any]


class Series(Base):
    """One (symbol, timeframe, source). A deleted one keeps its rows until the minute of undo is over."""

    __tablename__ = "series"

    id: Mapped[int] = mapped_column(primary_key=True)
    symbol: Mapped[str]
    timeframe: Mapped[str]  # as a person writes it: 1s, 5m, 1h, 1d
    source: Mapped[str]  # where the candles came from: sample, upload, simulator, feed
    simulated: Mapped[bool] = mapped_column(default=False)
    zone: Mapped[str] = mapped_column(default="UTC")  # the zone that the source's times were read in
    label_set_id: Mapped[int] = mapped_column(ForeignKey("label_set.id"))
    created: Mapped[int]
    deleted: Mapped[int | None]  # ms UTC of the delete; None while it lives
    facts: Mapped[Json] = mapped_column(JSON, default=dict)  # precision, Bayes accuracy of a simulated one, …

    label_set: Mapped[LabelSet] = relationship(lazy="joined")


class CandleFile(Base):
    """One immutable Arrow file of a series at one level; level 1 is the source timeframe."""

    __tablename__ = "candle_file"
    __table_args__ = (UniqueConstraint("series_id", "level_ms", "first"), Index(None, "series_id", "level_ms"))

    id: Mapped[int] = mapped_column(primary_key=True)
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"))
    level_ms: Mapped[int]  # candle length of this level, ms
    first: Mapped[int]  # open time of the first candle
    last: Mapped[int]  # open time of the last candle
    rows: Mapped[int]
    sha256: Mapped[str] = mapped_column(String(64))


class TailCandle(Base):
    """A live candle that is not yet folded into a file."""

    __tablename__ = "tail_candle"

    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"), primary_key=True)
    time: Mapped[int] = mapped_column(primary_key=True)
    open: Mapped[float]
    high: Mapped[float]
    low: Mapped[float]
    close: Mapped[float]
    volume: Mapped[float | None]


class ImportReport(Base):
    """What an upload gave; the file's hash finds the series that the same bytes made."""

    __tablename__ = "import_report"

    id: Mapped[int] = mapped_column(primary_key=True)
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"), index=True)
    sha256: Mapped[str] = mapped_column(String(64), index=True)  # of the uploaded bytes
    created: Mapped[int]
    report: Mapped[Json] = mapped_column(JSON)


class LabelSet(Base):
    """The classes a person may use on a series; several series may share one."""

    __tablename__ = "label_set"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    revision: Mapped[int] = mapped_column(default=1)
    exclusive: Mapped[list[str]] = mapped_column(
        JSON, default=list, server_default="[]"
    )  # layers of one class a candle

    labels: Mapped[list[Label]] = relationship(order_by="Label.position", lazy="selectin", cascade="all, delete-orphan")


class Label(Base):
    """One class of a label set; a used one is archived rather than deleted."""

    __tablename__ = "label"
    __table_args__ = (UniqueConstraint("label_set_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    label_set_id: Mapped[int] = mapped_column(ForeignKey("label_set.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    colour: Mapped[str] = mapped_column(String(7))  # #rrggbb
    key: Mapped[str | None] = mapped_column(String(1))
    layer: Mapped[str] = mapped_column(default="default")
    position: Mapped[int]
    archived: Mapped[bool] = mapped_column(default=False)


class Annotation(Base):
    """One human mark. `geometry` holds the fields of its kind; start and end index it in time."""

    __tablename__ = "annotation"
    __table_args__ = (Index(None, "series_id", "start"),)

    id: Mapped[str] = mapped_column(String(36), primary_key=True)  # UUID made by the browser
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"))
    kind: Mapped[str]  # one of annotations.geometry.KINDS
    label_id: Mapped[int] = mapped_column(ForeignKey("label.id"))
    start: Mapped[int]  # first time it touches, ms UTC; year 1 for a mark on the whole chart
    end: Mapped[int]  # half open: close of the last candle it touches
    geometry: Mapped[Json] = mapped_column(JSON)
    comment: Mapped[str] = mapped_column(default="")
    confidence: Mapped[float | None]
    author: Mapped[str]
    source: Mapped[str] = mapped_column(default="human")  # human, model_accepted, model_corrected, import
    mode: Mapped[str] = mapped_column(default="hindsight")  # replay or hindsight
    decided_at: Mapped[int]  # close of the last candle that its author could see
    known_at: Mapped[int]  # close of the last candle that the mark touches
    revision: Mapped[int]
    created: Mapped[int]
    updated: Mapped[int]
    status: Mapped[str] = mapped_column(default="done", server_default="done")  # draft or done
    updated_by: Mapped[str] = mapped_column(default="", server_default="")
    entry_decided_at: Mapped[int | None]  # `decided_at` as it stood when a trade's entry was placed
    review: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))  # {verdict, by, at, comment, correction}
    draft: Mapped[Json] = mapped_column(JSON)  # the PUT as it was sent, so that the same one again changes nothing

    label: Mapped[Label] = relationship(lazy="joined")


class UndoStep(Base):
    """One gesture of one author on one series; before and after hold the marks whole, null where there was none."""

    __tablename__ = "undo_step"
    __table_args__ = (Index(None, "series_id", "author", "undone"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"))
    author: Mapped[str]
    title: Mapped[str]  # what it did, in words: "draw Long"
    gesture: Mapped[str | None] = mapped_column(String(36))  # UUID that several calls of one gesture share
    before: Mapped[list[Json | None]] = mapped_column(JSON)
    after: Mapped[list[Json | None]] = mapped_column(JSON)
    ranges: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))  # reviewed ranges {before, after}, if changed
    fates: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))  # suggestion → [fate before, after], if changed
    undone: Mapped[bool] = mapped_column(default=False)
    created: Mapped[int]


class ReviewedRange(Base):
    """Candles that an author has looked through: no mark there means that there is nothing."""

    __tablename__ = "reviewed_range"

    id: Mapped[int] = mapped_column(primary_key=True)
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"), index=True)
    author: Mapped[str]
    start: Mapped[int]
    end: Mapped[int]  # half open


class ReplaySession(Base):
    """An author replays a series: nothing at or after the cursor is shown to them until it is closed."""

    __tablename__ = "replay_session"

    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"), primary_key=True)
    author: Mapped[str] = mapped_column(primary_key=True)
    cursor: Mapped[int]  # close of the last candle that is shown
    furthest: Mapped[int]  # the latest cursor so far
    started: Mapped[int]
    random: Mapped[bool]
    hide_price: Mapped[bool]


class BlindPass(Base):
    """An author marks a series without seeing others' marks, or any earlier ones."""

    __tablename__ = "blind_pass"

    id: Mapped[int] = mapped_column(primary_key=True)
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"), index=True)
    author: Mapped[str]
    hides: Mapped[str]  # others: marks of others; all: also the author's own from before
    started: Mapped[int]
    ended: Mapped[int | None]


class ViewState(Base):
    """How an author last looked at a series; a replay has a view of its own."""

    __tablename__ = "view_state"

    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"), primary_key=True)
    author: Mapped[str] = mapped_column(primary_key=True)
    place: Mapped[str] = mapped_column(primary_key=True)  # chart or replay
    value: Mapped[Json] = mapped_column(JSON)
    updated: Mapped[int]


class Lesson(Base):
    """What suggestions were made from: marks or a rule; `learnt` says how many of each source, and how well."""

    __tablename__ = "lesson"

    id: Mapped[int] = mapped_column(primary_key=True)
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"), index=True)
    author: Mapped[str]
    source: Mapped[str]  # marks, or the name of a rule
    mode: Mapped[str]  # history, causal or rule
    cursor: Mapped[int | None]  # under replay: nothing at or after it was looked at
    request: Mapped[Json] = mapped_column(JSON)
    learnt: Mapped[list[Json]] = mapped_column(JSON)
    created: Mapped[int]


class Suggestion(Base):
    """A mark proposed by a lesson, and what became of it; an annotation made from it has the same id."""

    __tablename__ = "suggestion"
    __table_args__ = (Index(None, "series_id", "fate", "start"),)

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"))
    lesson_id: Mapped[int] = mapped_column(ForeignKey("lesson.id", ondelete="CASCADE"), index=True)
    kind: Mapped[str]
    label_id: Mapped[int] = mapped_column(ForeignKey("label.id"))
    start: Mapped[int]
    end: Mapped[int]  # half open
    geometry: Mapped[Json] = mapped_column(JSON)
    probability: Mapped[float | None]  # of matching a mark; a rule gives none
    fate: Mapped[str]  # open, accepted, corrected, rejected or ignored
    decided_by: Mapped[str | None]
    decided: Mapped[int | None]
    created: Mapped[int]

    label: Mapped[Label] = relationship(lazy="joined")
    lesson: Mapped[Lesson] = relationship(lazy="joined")


class CheckedMark(Base):
    """A mark that was shown as doubted at a revision; it leaves the list once confirmed or changed."""

    __tablename__ = "checked_mark"

    annotation_id: Mapped[str] = mapped_column(ForeignKey("annotation.id", ondelete="CASCADE"), primary_key=True)
    revision: Mapped[int]
    confirmed: Mapped[bool]


class Dataset(Base):
    """An immutable snapshot in data/datasets/<id>/."""

    __tablename__ = "dataset"

    id: Mapped[int] = mapped_column(primary_key=True)
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    hash: Mapped[str] = mapped_column(String(64))  # of its content: the same content, the same hash
    created: Mapped[int]
    kept: Mapped[bool]  # made by a person; False for those that a run made for itself
    version: Mapped[int | None]  # counts the kept ones of a series from 1; a number is never given twice
    note: Mapped[str] = mapped_column(default="", server_default="")
    manifest: Mapped[Json] = mapped_column(JSON)


class Run(Base):
    """One job of the trainer."""

    __tablename__ = "run"

    id: Mapped[int] = mapped_column(primary_key=True)
    mode: Mapped[str]  # load, batch, live
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"), index=True)
    dataset_id: Mapped[int | None] = mapped_column(ForeignKey("dataset.id"))
    state: Mapped[str]  # queued, running, paused, stopping, finished, stopped, failed, interrupted
    cause: Mapped[str | None]
    config: Mapped[Json] = mapped_column(JSON)
    created: Mapped[int]
    started: Mapped[int | None]
    ended: Mapped[int | None]
    summary: Mapped[Json] = mapped_column(JSON, default=dict)  # best epoch, final figures, weights' origin
    note: Mapped[str | None]  # a person's


class Event(Base):
    """One event of a run, stored before it is sent."""

    __tablename__ = "event"
    __table_args__ = (Index(None, "run_id", "type", "seq"),)

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True)
    time: Mapped[int]
    type: Mapped[str]
    body: Mapped[Json] = mapped_column(JSON)


class CandleHour(Base):
    """What the per-candle events of one hour of candles amounted to; they themselves are gone."""

    __tablename__ = "candle_hour"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"), primary_key=True)
    hour: Mapped[int] = mapped_column(primary_key=True)  # when it begins, ms UTC
    last_seq: Mapped[int]  # number of the newest event in it
    body: Mapped[Json] = mapped_column(JSON)  # docs/events.md


class Checkpoint(Base):
    """Weights that a run left in data/checkpoints/<run>/<name>/."""

    __tablename__ = "checkpoint"
    __table_args__ = (UniqueConstraint("run_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"))
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id", ondelete="CASCADE"), index=True)
    model: Mapped[str]
    name: Mapped[str]  # best, last
    step: Mapped[int]
    data_cut: Mapped[int | None]  # open time of the last candle it learnt from or was chosen on
    result: Mapped[bool]  # True where later runs may start from it (batch: best; live: last)
    created: Mapped[int]
    meta: Mapped[Json] = mapped_column(JSON)  # its meta.json


class Setting(Base):
    """A small fact about this data folder: sample loaded, last backup."""

    __tablename__ = "setting"

    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[Any] = mapped_column(JSON)
