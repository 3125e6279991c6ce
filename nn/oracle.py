"""Answers single questions about a window: the newest published snapshot of a series, asked in the inference thread."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from nn.commands import Predict, ReadLabels
from nn.dataset_dir import read
from nn.events import Answer
from nn.label_reader import Series, read_labels
from nn.live_run import LiveRun
from nn.loaded import LoadedModels
from nn.snapshot import Snapshot, predict
from nn.tape import Tape, finite

Json = dict[str, Any]

TAPES_KEPT = 2  # histories whose features stay in memory


class Unanswerable(ValueError):
    """A question that has no answer now; says what is missing."""


class Oracle:
    """Looks only at immutable snapshots; `live` gives the live run of a series and model name, if one is under way."""

    def __init__(self, loaded: LoadedModels, live: Callable[[int, str | None], LiveRun | None]) -> None:
        self._loaded, self._live = loaded, live
        self._tapes: OrderedDict[str, Tape] = OrderedDict()
        self._read: tuple[str, Series] | None = None  # the candle file that labels were read of last

    def answer(self, question: Predict | ReadLabels) -> Answer:
        """Answer; raise Unanswerable, or DatasetError for a history that cannot be read."""
        if isinstance(question, ReadLabels):
            return Answer(request_id=question.request_id, body=self._labels(question))
        live = self._live(question.series_id, question.model)
        snapshot, run_id = self._speaker(live, question)
        tape = self._tape(question.history_dir) if live is None else live.session.tape
        row = self._row(tape, question.as_of, snapshot.config.sequence_length)
        window = torch.from_numpy(tape.rows[row - snapshot.config.sequence_length + 1 : row + 1])  # (T, F)
        body = {"run_id": run_id, "as_of": int(tape.time[row]), **_said(snapshot, window)}
        return Answer(request_id=question.request_id, body=body)

    def _labels(self, question: ReadLabels) -> Json:
        """Read one piece of a series by the label head."""
        snapshot, run_id = self._speaker(self._live(question.series_id, question.model), question)
        _check_may_read(snapshot, question)
        series = self._series_of(question)
        first, end = series.rows_of(question.start, question.end)
        _, limit = series.rows_of(None, question.cursor)
        end = min(end, limit)
        start = min(first + question.at, end)
        until = min(start + question.count, end)
        found = read_labels(snapshot, series, start, until, limit, hindsight=question.hindsight)
        facts = {"run_id": run_id, "model": snapshot.config.model, "step": snapshot.step}
        body = {**facts, "data_cut": snapshot.data_cut, "done": until - first, "total": max(0, end - first)}
        return {**body, "suggestions": found}

    def _speaker(self, live: LiveRun | None, question: Predict | ReadLabels) -> tuple[Snapshot, int]:
        """Give the weights that answer, a live run's before loaded ones, and the run that they are of."""
        if live is not None:
            return live.published, live.run_id
        loaded = self._loaded.get(question.series_id, question.model)
        if loaded is None:
            raise Unanswerable("no model is loaded for this series: load one or train one first")
        return loaded.snapshot, loaded.run_id

    def _series_of(self, question: ReadLabels) -> Series:
        if self._read is None or self._read[0] != question.candles:
            self._read = question.candles, Series.of(Path(question.candles), question.timeframe_ms)
        return self._read[1]

    def _tape(self, history_dir: str | None) -> Tape:
        if history_dir is None:
            raise Unanswerable("no live run feeds this series, and no history_dir was given")
        if history_dir not in self._tapes:
            dataset = read(Path(history_dir))
            self._tapes[history_dir] = Tape(finite(dataset.candles), int(dataset.manifest["timeframe_ms"]))
            while len(self._tapes) > TAPES_KEPT:
                self._tapes.popitem(last=False)
        self._tapes.move_to_end(history_dir)
        return self._tapes[history_dir]

    def _row(self, tape: Tape, as_of: int | None, length: int) -> int:
        row = len(tape) - 1 if as_of is None else tape.row_of(as_of)
        if row is None or row < 0:
            oldest = f", and the live run remembers none before {tape.time.values[0]}; stop it to ask about older ones"
            words = oldest if tape.time.first else ""
            raise Unanswerable(f"as_of = {as_of}: no candle of this series opens then{words}")
        if row - length + 1 < tape.run.first or tape.run[row] < length:
            raise Unanswerable(
                f"only {int(tape.run[row])} candles in a row without a gap end with the one that opens at "
                f"{int(tape.time[row])}; the model looks back over {length}"
            )
        return row


def _check_may_read(snapshot: Snapshot, question: ReadLabels) -> None:
    """Raise Unanswerable for a model without labels, or one that learnt of candles past the cursor of a replay."""
    if not snapshot.labels:
        raise Unanswerable("the loaded model was trained without marks, so it has no label head: train it on marks")
    if question.cursor is not None and (snapshot.data_cut or 0) >= question.cursor:
        raise Unanswerable(
            "the loaded model learnt from candles past the cursor of the replay; suggest from your marks, or load a "
            "model that was trained on candles before it"
        )


def _said(snapshot: Snapshot, window: torch.Tensor) -> Json:
    prediction = predict(snapshot, window)
    labels = prediction.probabilities.get("label")
    return {
        "snapshot": snapshot.number,
        "step": snapshot.step,
        "age_s": max(0.0, time.time() - snapshot.created_ms / 1000),
        "data_cut": snapshot.data_cut,
        "model": snapshot.config.model,
        "candle_probabilities": prediction.probabilities["candle"],
        "trend_up": prediction.trend_up,
        "label_probabilities": dict(zip(snapshot.labels, labels, strict=True)) if labels else None,
    }
