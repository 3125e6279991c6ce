"""Label Studio: a task list, the label config, and candles.csv with times that its parser takes. Pure.

Its time parser wants the whole text to fit the format: `YYYY-MM-DD HH:MM:SS` in UTC with nothing after, and exactly
three digits where there are milliseconds. A region ends with the open time of its last candle, an instant is a point,
a trade is two instants with a relation; what has no field of its own stands in `meta.text` as `name: value`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import pyarrow as pa

from annotate.annotations.classes import CandleTimes
from annotate.annotations.geometry import CLASS_KINDS
from annotate.exporting.arrow import Column, pc
from annotate.exporting.candle_table import PRICES, TIME
from annotate.exporting.candles_csv import csv_lines
from annotate.exporting.csv_text import row
from annotate.exporting.losses import PEOPLE, all_kinds_but, count_marks
from annotate.exporting.member import Member, Source, row_blocks
from annotate.timeframe import closes_all, parse
from nn.dataset_dir import DatasetDir

Json = dict[str, Any]
Mark = Mapping[str, Any]

SECONDS, MILLISECONDS = "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%L"
NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
DATA_FILE = "candles.csv"
PLACED = (*CLASS_KINDS, "point", "trade")  # kinds that a region or an instant can hold
README = """# Label Studio
1. Make a project and paste `label-config.xml` as its labeling interface.
2. Serve `candles.csv` (local storage or any address Label Studio may read) and put its address into `data.csv` of
   `tasks.json`.
3. Import `tasks.json`.
"""


def members(source: Source) -> list[Member]:
    """Give tasks.json, label-config.xml, candles.csv and README.md."""
    dataset = source.dataset
    suggestions = [mark for mark in source.suggestions if mark["kind"] in PLACED]
    times = _Times(dataset, suggestions)
    tasks = json.dumps([_task(dataset, times, suggestions)], ensure_ascii=False, indent=1) + "\n"
    return [
        Member("tasks.json", [tasks.encode("utf-8")]),
        Member("label-config.xml", [_config(dataset, times.format).encode("utf-8")]),
        Member(DATA_FILE, _candles(dataset, times), len(row_blocks(len(dataset.candles)))),
        Member("README.md", [README.encode()]),
    ]


def plain(name: str) -> str:
    """Give the name of a label as XML can hold it.

    Examples
    --------
    >>> plain("two\\nlines"), plain("null \\0")
    ('two\\nlines', 'null \ufffd')
    """
    return NOT_IN_XML.sub("\ufffd", name)


def lost(source: Source) -> list[str]:
    """Name what Label Studio has no place for."""
    dataset = source.dataset
    times = _Times(dataset)
    said = count_marks(dataset, "spans whose edges lie inside a candle or a gap: they end on candles", times.is_odd)
    said += all_kinds_but(dataset, *PLACED)
    said += count_marks(dataset, "trades: two instants and a relation, prices in the notes", _is_trade)
    layers = dataset.manifest["layers"]
    if len(layers) > 1:
        said.append(f"the layers {', '.join(layers)}: all labels are in one list")
    changed = sum(plain(name) != name for name in dataset.manifest["labels"])
    said += [f"{changed} names of labels with letters that XML cannot hold: � stands for them"] if changed else []
    return [*said, *(["; ".join(PEOPLE) + " of each mark"] if dataset.annotations else []), "keys of the labels"]


class _Times:
    """How this dataset writes its times."""

    def __init__(self, dataset: DatasetDir, suggestions: Sequence[Mark] = ()) -> None:
        timeframe = dataset.manifest["timeframe"]
        self._rows = CandleTimes(dataset.candles.time, timeframe)
        self._opens = dataset.candles.time
        self._closes = closes_all(dataset.candles.time, parse(timeframe))
        stamps = np.array([time for mark in (*dataset.annotations, *suggestions) for time in _moments(mark)], np.int64)
        self.format = MILLISECONDS if np.any(self._opens % 1000) or np.any(stamps % 1000) else SECONDS

    def text(self, time: int) -> str:
        """Write a time, ms UTC."""
        unit = "datetime64[ms]" if self.format == MILLISECONDS else "datetime64[s]"
        return str(np.array([time], "datetime64[ms]").astype(unit)[0]).replace("T", " ")

    def column(self, start: int, end: int) -> Column:
        """Write the open times of candles [start, end)."""
        texts = pa.array(self._opens[start:end]).cast(TIME).cast(pa.string())
        cut: Column = pc.utf8_slice_codeunits(texts, 0, len(self.text(0)))
        return cut

    def last_candle(self, mark: Mark) -> int:
        """Give the open time of the last candle that a span touches; its own last moment where it touches none."""
        at = self._rows.touched(mark)
        return int(self._opens[at.stop - 1]) if at.stop > at.start else mark["end"] - 1

    def is_odd(self, mark: Mark) -> bool:
        """Tell whether a span begins or ends elsewhere than a candle does."""
        if mark["kind"] not in CLASS_KINDS:
            return False
        at = self._rows.touched(mark)
        if at.stop == at.start:
            return True
        return bool(self._opens[at.start] != mark["start"] or self._closes[at.stop - 1] != mark["end"])


def _task(dataset: DatasetDir, times: _Times, suggestions: Sequence[Mark]) -> Json:
    placed = [mark for mark in dataset.annotations if mark["kind"] in PLACED]
    by_author = groupby(sorted(placed, key=lambda mark: str(mark["author"])), lambda mark: mark["author"])
    annotations = [
        {"created_username": author, "result": [part for mark in marks for part in _regions(mark, times)]}
        for author, marks in by_author
    ]
    by_lesson = groupby(suggestions, lambda mark: str(mark["lesson"]))
    predictions = [_prediction(lesson, list(marks), times) for lesson, marks in by_lesson]
    names = ("symbol", "timeframe", "hash")
    data = {"csv": DATA_FILE, **{name: dataset.manifest[name] for name in names}}
    return {"data": data, "annotations": annotations, "predictions": predictions}


def _prediction(lesson: str, marks: Sequence[Mark], times: _Times) -> Json:
    """Give what one lesson suggests; the score is the mean of its probabilities, those of rules have none."""
    sure = [mark["confidence"] for mark in marks if mark["confidence"] is not None]
    score = sum(sure) / len(sure) if sure else None
    return {
        "model_version": lesson,
        "score": score,
        "result": [part for mark in marks for part in _regions(mark, times)],
    }


def _regions(mark: Mark, times: _Times) -> list[Json]:
    notes = [f"comment: {mark['comment']}"] if mark["comment"] else []
    notes += [] if mark["confidence"] is None else [f"confidence: {mark['confidence']!r}"]
    if mark["kind"] in CLASS_KINDS:
        notes = [*(["kind: candle_class"] if mark["kind"] == "candle_class" else []), *notes]
        return [
            _region(mark["id"], mark["label"], times.text(mark["start"]), times.text(times.last_candle(mark)), notes)
        ]
    if mark["kind"] == "point":
        return [_instant(mark["id"], mark["label"], times.text(mark["time"]), [f"price: {mark['price']!r}", *notes])]
    return _trade(mark, times, notes)


def _trade(mark: Mark, times: _Times, notes: Sequence[str]) -> list[Json]:
    limits = [f"{name}: {mark[name]!r}" for name in ("stop", "target") if mark[name] is not None]
    ends = {name: f"{mark['id']}-{name}" for name in ("entry", "exit")}
    said = {
        "entry": [f"price: {mark['entry']['price']!r}", f"side: {mark['side']}", *limits, *notes],
        "exit": [f"price: {mark['exit']['price']!r}"],
    }
    instants = [
        _instant(ends[name], mark["label"], times.text(mark[name]["time"]), said[name]) for name in ("entry", "exit")
    ]
    relation = {"type": "relation", "from_id": ends["entry"], "to_id": ends["exit"], "direction": "right"}
    return [*instants, relation]


def _instant(region_id: str, label: str, time: str, notes: Sequence[str]) -> Json:
    region = _region(region_id, label, time, time, notes)
    region["value"]["instant"] = True
    return region


def _region(region_id: str, label: str, start: str, end: str, notes: Sequence[str]) -> Json:
    value = {"start": start, "end": end, "instant": False, "timeserieslabels": [plain(label)]}
    region: Json = {"id": region_id, "from_name": "label", "to_name": "ts", "type": "timeserieslabels", "value": value}
    return {**region, **({"meta": {"text": list(notes)}} if notes else {})}


def _config(dataset: DatasetDir, time_format: str) -> str:
    labels = "\n".join(
        f"    <Label value={quoteattr(plain(label['name']))} background={quoteattr(label['colour'])}/>"
        for label in dataset.manifest["label_set"]["labels"]
    )
    channels = "\n".join(f'    <Channel column="{name}"/>' for name in PRICES)
    return f"""<View>
  <TimeSeriesLabels name="label" toName="ts">
{labels}
  </TimeSeriesLabels>
  <TimeSeries name="ts" value="$csv" valueType="url" sep="," timeColumn="time" timeFormat="{time_format}"
              timeDisplayFormat="{time_format}" overviewChannels="close">
{channels}
  </TimeSeries>
</View>
"""


def _candles(dataset: DatasetDir, times: _Times) -> Iterator[bytes]:
    yield row(["time", *PRICES]).encode()
    candles = dataset.candles
    for start, end in row_blocks(len(candles)):
        block = candles.slice(start, end)
        prices = [pa.array(getattr(block, name)) for name in PRICES[:-1]]
        yield csv_lines([times.column(start, end), *prices, pa.array(block.volume, mask=np.isnan(block.volume))])


def _moments(mark: Mark) -> list[int]:
    if mark["kind"] not in PLACED:
        return []
    if mark["kind"] in CLASS_KINDS:
        return [mark["start"]]
    return [mark["time"]] if mark["kind"] == "point" else [mark["entry"]["time"], mark["exit"]["time"]]


def _is_trade(mark: Mark) -> bool:
    return bool(mark["kind"] == "trade")
