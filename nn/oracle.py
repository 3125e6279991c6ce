"""Answers single questions about a window: the newest published snapshot of a series, asked in the inference thread."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from nn.commands import Predict
from nn.dataset_dir import read
from nn.events import Answer
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

    def answer(self, question: Predict) -> Answer:
        """Answer; raise Unanswerable, or DatasetError for a history that cannot be read."""
        live = self._live(question.series_id, question.model)
        if live is not None:
            snapshot, run_id, tape = live.published, live.run_id, live.session.tape
        else:
            loaded = self._loaded.get(question.series_id, question.model)
            if loaded is None:
                raise Unanswerable("no model is loaded for this series: load one or train one first")
            snapshot, run_id, tape = loaded.snapshot, loaded.run_id, self._tape(question.history_dir)
        row = self._row(tape, question.as_of, snapshot.config.sequence_length)
        window = torch.from_numpy(tape.rows[row - snapshot.config.sequence_length + 1 : row + 1])  # (T, F)
        body = {"run_id": run_id, "as_of": int(tape.time[row]), **_said(snapshot, window)}
        return Answer(request_id=question.request_id, body=body)

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
            raise Unanswerable(f"as_of = {as_of}: no candle of this series opens then")
        if tape.run[row] < length:
            raise Unanswerable(
                f"only {int(tape.run[row])} candles in a row without a gap end with the one that opens at "
                f"{int(tape.time[row])}; the model looks back over {length}"
            )
        return row


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
