"""The label head over a series: what it marks, what a rejection teaches it, what later candles cannot change."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nn import commands
from nn.config import BatchConfig, ModelConfig
from nn.dataset_dir import Candles, DatasetDir, write_candles
from nn.few.market import Market
from nn.few.spans import Span, agreement, runs
from nn.label_reader import Series, read_labels
from nn.learner import Learner, Schedule
from nn.loaded import Loaded, LoadedModels, snapshot_of
from nn.losses import counts_of, losses_of
from nn.models import build
from nn.oracle import Oracle, Unanswerable
from nn.snapshot import Snapshot
from nn.targets import MASKED, head_classes
from nn.windows import Batch, noise
from tests.nn.few.markets import HOUR_MS, annotation, candles
from tests.nn.live_market import small
from tests.nn.simulated import trained

Json = dict[str, Any]
LABELS = ("Short", "Long")
ROWS = candles(3_000, seed=5)
TAUGHT = 2_000  # candles that are marked and trained on


def moods() -> list[Span]:
    """Give the runs in which price stands above or below that of 12 candles ago, those of under 6 candles left out."""
    path = Market(ROWS).log_price
    above = (path > np.concatenate([np.full(12, path[0]), path[:-12]])).astype(np.int64)
    return [span for span in runs(above) if span.end - span.start >= 6]


@pytest.fixture(scope="module")
def taught() -> Snapshot:
    marks = [annotation(span, ROWS, LABELS[span.label]) for span in moods() if span.end <= TAUGHT]
    manifest = {"timeframe_ms": HOUR_MS, "labels": list(LABELS)}
    heads = {"candle": 0.0, "trend": 0.0, "range": 0.0, "label": 1.0}
    config = BatchConfig.from_json(small(epochs=6, stride=6, learning_rate=4e-3, heads=heads, split=[0.85, 0.15, 0.0]))
    weights = trained(config, DatasetDir(manifest, ROWS.slice(0, TAUGHT), marks)).weights
    assert weights is not None
    return snapshot_of(weights)


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Series:
    return Series.of(written(tmp_path_factory.mktemp("rows"), ROWS), HOUR_MS)


def written(folder: Path, rows: Candles) -> Path:
    path = folder / "candles.arrow"
    write_candles(path, rows)
    return path


def spans(found: list[Json]) -> list[Span]:
    first = np.searchsorted(ROWS.time, [one["start"] for one in found]).tolist()
    last = np.searchsorted(ROWS.time, [one["end"] for one in found]).tolist()
    return [Span(a, b, LABELS.index(one["label"])) for a, b, one in zip(first, last, found, strict=True)]


def test_candles_that_it_never_saw_are_marked_as_the_person_would(taught: Snapshot, series: Series) -> None:
    found = read_labels(taught, series, TAUGHT, len(ROWS), len(ROWS), hindsight=True)
    wanted = [span for span in moods() if span.start >= TAUGHT]
    assert agreement(spans(found), wanted).f1 > 0.6
    assert all(0.5 < one["probability"] <= 1 for one in found)


def test_pieces_read_one_by_one_are_the_whole(taught: Snapshot, series: Series) -> None:
    whole = read_labels(taught, series, 500, 2_300, len(ROWS), hindsight=True)
    pieces = [read_labels(taught, series, at, at + 600, len(ROWS), hindsight=True) for at in range(500, 2_300, 600)]
    assert [one for piece in pieces for one in piece] == whole


@pytest.mark.parametrize("hindsight", [False, True])
def test_causal_spans_that_have_ended_stay_whatever_comes_later(
    taught: Snapshot, series: Series, tmp_path: Path, hindsight: bool
) -> None:
    cut = 1_203  # no border of a window
    earlier = Series.of(written(tmp_path, ROWS.slice(0, cut)), HOUR_MS)
    then = read_labels(taught, earlier, 600, cut, cut, hindsight=hindsight)
    now = read_labels(taught, series, 600, cut, len(ROWS), hindsight=hindsight)
    ended = [one for one in then if one["end"] <= int(ROWS.time[cut - 1])]
    assert len(ended) > 10
    if hindsight:  # the control: spans cut with hindsight may move, their probabilities at the least do near the end
        assert now[: len(then)] != then
    else:
        assert now[: len(ended)] == ended


def test_nothing_past_a_limit_is_looked_at(taught: Snapshot, series: Series, tmp_path: Path) -> None:
    cut = 1_203
    earlier = Series.of(written(tmp_path, ROWS.slice(0, cut)), HOUR_MS)
    alone = read_labels(taught, earlier, 0, cut, cut, hindsight=True)
    assert read_labels(taught, series, 0, cut, cut, hindsight=True) == alone


def test_a_rejected_class_becomes_less_likely_there_and_the_loss_is_that_of_its_absence() -> None:
    config = ModelConfig.from_json(small(dropout=0.0, heads={"candle": 0, "trend": 0, "range": 0, "label": 1}))
    batch = noise(config, {"label": 3})
    nothing, refused = torch.full_like(batch.targets["label"], MASKED), torch.full_like(batch.targets["label"], MASKED)
    refused[:, ::2] = 1
    taught = Batch(batch.x, {"label": nothing}, {"label": refused})
    logits = build(config, head_classes("abc")).eval()(batch.x)
    losses = losses_of(logits, taught.targets, taught.refused)["label"]
    right = -torch.log1p(-logits["label"].softmax(-1)[..., 1])
    assert torch.allclose(losses[:, ::2], right[:, ::2], atol=1e-5)
    assert not losses[:, 1::2].any()
    assert int(counts_of(taught.targets, taught.refused)["label"]) == int((refused != MASKED).sum())
    learner = Learner(config, Schedule(1e-2), labels="abc")
    results = [learner.step(taught) for _ in range(15)]
    assert results[-1].loss < 0.2 * results[0].loss
    assert all(result.skipped is None for result in results)


def test_however_sure_of_a_rejected_class_the_loss_stays_finite() -> None:
    logits = torch.tensor([[[0.0, 500.0, 0.0]]], requires_grad=True)
    loss = losses_of({"label": logits}, {"label": torch.tensor([[MASKED]])}, {"label": torch.tensor([[1]])})["label"]
    loss.sum().backward()  # type: ignore[no-untyped-call]
    assert torch.isfinite(loss).all()
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()


@pytest.fixture
def oracle(taught: Snapshot) -> Oracle:
    loaded = LoadedModels()
    loaded.put(1, Loaded(None, taught, run_id=7))
    return Oracle(loaded, lambda _series, _model: None)


def question(path: Path, **more: Any) -> commands.ReadLabels:
    asked: Json = {"start": None, "end": None, "cursor": None, "at": 0, "count": 500, "hindsight": False}
    facts = {"request_id": 1, "series_id": 1, "model": None, "candles": str(path), "timeframe_ms": HOUR_MS}
    return commands.ReadLabels(**{**facts, **asked, **more})


def test_a_question_is_answered_piece_by_piece_with_whose_weights_these_are(oracle: Oracle, tmp_path: Path) -> None:
    path = written(tmp_path, ROWS)
    body = oracle.answer(question(path, start=int(ROWS.time[100]), at=200)).body or {}
    assert (body["run_id"], body["done"], body["total"]) == (7, 700, len(ROWS) - 100)
    assert body["data_cut"] < ROWS.time[TAUGHT]
    assert {one["label"] for one in body["suggestions"]} == set(LABELS)


def test_in_a_replay_a_model_that_saw_later_candles_says_nothing(
    oracle: Oracle, taught: Snapshot, tmp_path: Path
) -> None:
    path = written(tmp_path, ROWS)
    with pytest.raises(Unanswerable, match="past the cursor of the replay"):
        oracle.answer(question(path, cursor=int(ROWS.time[1_500])))
    later = oracle.answer(question(path, cursor=int(ROWS.time[2_500]), at=2_400)).body or {}
    assert later["total"] == 2_500
    assert all(one["end"] <= ROWS.time[2_500] for one in later["suggestions"])
    with pytest.raises(Unanswerable, match="no model is loaded"):
        oracle.answer(question(path, series_id=2))
    without = LoadedModels()
    without.put(1, Loaded(None, dataclasses.replace(taught, labels=()), run_id=7))
    with pytest.raises(Unanswerable, match="without marks"):
        Oracle(without, lambda _series, _model: None).answer(question(path))
