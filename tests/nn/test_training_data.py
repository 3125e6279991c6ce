"""What a batch run trains on: targets that tell nothing of validation, windows that cover and never cross."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from nn.config import BatchConfig
from nn.dataset_dir import Candles, DatasetDir
from nn.targets import MASKED, Edges
from nn.training_data import (
    CONTROL_VISITS,
    NothingToTrain,
    epoch_length,
    epoch_starts,
    prepare,
    stretches,
    validation_start,
)
from tests.nn.live_market import MINUTE, START, market, small

N = 1000
CONFIG = BatchConfig.from_json(small(stride=10))


def test_no_train_target_uses_a_price_of_validation() -> None:
    data, shaken = prepare(CONFIG, data_of()), prepare(CONFIG, data_of(candles=shaken_from(700)), edges_of())
    plain = prepare(CONFIG, data_of(), edges_of())
    for head in ("candle", "trend", "range"):
        classes = plain.targets[head]
        assert np.array_equal(classes[:700], shaken.targets[head][:700])
        assert (classes[697:700] == MASKED).all()
        assert (classes[694:697] != MASKED).any()
    assert data.train_cut == START + 699 * MINUTE


def test_the_edges_come_from_the_train_candles_alone() -> None:
    assert prepare(CONFIG, data_of()).edges == prepare(CONFIG, data_of(candles=shaken_from(700))).edges
    assert prepare(CONFIG, data_of()).edges != prepare(CONFIG, data_of(candles=shaken_from(300))).edges


def test_edges_once_used_stay_with_the_weights() -> None:
    assert prepare(CONFIG, data_of(), edges_of()).edges == edges_of()


def test_every_train_window_lies_in_the_train_split_and_in_one_segment() -> None:
    time = START + MINUTE * np.delete(np.arange(N + 1), [400])
    data = prepare(CONFIG, data_of(candles=dataclasses.replace(market(N), time=time)))
    assert len(data.starts) == (400 - 23) + (300 - 23)
    ends = data.starts + CONFIG.sequence_length
    assert ends.max() == 700
    assert not ((data.starts < 400) & (ends > 400)).any()


def test_an_epoch_visits_every_stride_th_window_from_a_seeded_offset() -> None:
    data = prepare(CONFIG, data_of())
    first, again, second = (epoch_starts(data, CONFIG, epoch) for epoch in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != second.tolist()
    assert set(np.diff(np.sort(first)).tolist()) == {10}
    seen = set().union(*(epoch_starts(data, CONFIG, epoch).tolist() for epoch in range(80)))
    assert seen == set(data.starts.tolist())


def test_every_row_of_validation_that_counts_is_answered_once() -> None:
    data = prepare(CONFIG, data_of())
    assert data.split.validation is not None
    plan = stretches(data, data.split.validation, CONFIG.sequence_length, CONFIG.stride)
    rows = [row for s in plan for row in range(s.first, s.end)]
    assert rows == list(range(data.split.validation.first, data.split.validation.last))
    assert all(s.start <= s.first and s.end <= s.start + CONFIG.sequence_length for s in plan)
    assert all(s.first - s.start >= CONFIG.sequence_length - CONFIG.stride for s in plan[:-1])


def test_a_segment_too_short_for_a_window_is_not_judged() -> None:
    time = START + MINUTE * np.delete(np.arange(N + 2), [720, 740])
    data = prepare(CONFIG, data_of(candles=dataclasses.replace(market(N), time=time)))
    assert data.split.validation is not None
    rows = {row for s in stretches(data, data.split.validation, 24, 10) for row in range(s.first, s.end)}
    assert not rows & set(range(720, 739))
    assert rows >= set(range(739, 840))


def test_a_train_candle_whose_mark_was_known_in_validation_only_has_no_label() -> None:
    early, late = span("Long", 100, 140), span("Short", 600, 650, known_at=START + 701 * MINUTE)
    labels = prepare(CONFIG, data_of(marks=[early, late])).targets["label"]
    assert (labels[100:140] == 0).all()
    assert (labels[600:650] == MASKED).all()


def test_accepted_marks_count_by_their_weight_in_training_and_judge_nothing() -> None:
    drawn, accepted = span("Long", 100, 150), {**span("Short", 200, 600), "source": "model_accepted"}
    judged = {**span("Short", 720, 760), "source": "model_accepted"}
    data = {weight: prepare(weighted(weight), data_of(marks=[drawn, accepted, judged])) for weight in (0.0, 0.3, 1.0)}
    for weight, made in data.items():
        kept = made.targets["label"]
        assert (kept[100:150] == 0).all()
        assert np.mean(kept[200:600] == 1) == pytest.approx(weight, abs=0.08)
        assert (kept[720:760] == MASKED).all()
        assert made.facts["marks"] == {"human": 1, "model_accepted": 2}
        assert made.facts["accepted_weight"] == weight


def weighted(weight: float) -> BatchConfig:
    return dataclasses.replace(CONFIG, accepted_weight=weight)


def test_shuffled_targets_are_the_same_classes_in_another_order_and_never_leave_their_part() -> None:
    plain = prepare(CONFIG, data_of())
    shuffled = prepare(dataclasses.replace(CONFIG, shuffle_targets=True), data_of())
    for part in (plain.split.train, plain.split.validation, plain.split.test):
        assert part is not None
        ours, theirs = (of.targets["candle"][part.first : part.last] for of in (plain, shuffled))
        assert sorted(ours.tolist()) == sorted(theirs.tolist())
        assert np.mean(ours == theirs) < 0.4


def test_the_control_visits_more_windows() -> None:
    data, control = prepare(CONFIG, data_of()), dataclasses.replace(CONFIG, shuffle_targets=True)
    ratio = len(epoch_starts(data, control, 1)) / len(epoch_starts(data, CONFIG, 1))
    assert ratio == pytest.approx(CONTROL_VISITS, rel=0.3)


def test_windows_in_which_no_target_counts_are_left_out() -> None:
    labels_only = dataclasses.replace(CONFIG, heads={"candle": 0.0, "trend": 0.0, "range": 0.0, "label": 1.0})
    data = prepare(labels_only, data_of(marks=[span("Long", 300, 310)]))
    assert data.starts.tolist() == list(range(300 - 23, 310))


@pytest.mark.parametrize(
    ("changes", "n", "message"),
    [
        ({"sequence_length": 800}, N, "sequence_length = 800: lower it"),
        ({}, 20, "the train split has 14 candles"),
        ({"heads": {"candle": 0, "trend": 0, "range": 0, "label": 1}}, N, "no candle of the train split has a label"),
        ({}, 0, "the dataset has no candle"),
        ({"trend_horizon": N}, N, f"trend_horizon = {N} leaves none of the 700 candles of the train split"),
    ],
)
def test_a_dataset_without_a_window_is_refused_with_the_way_out(
    changes: Mapping[str, Any], n: int, message: str
) -> None:
    with pytest.raises(NothingToTrain, match=message):
        prepare(BatchConfig.from_json(small(stride=10, **changes)), data_of(candles=market(n)))


def test_the_label_head_alone_needs_labels() -> None:
    config = BatchConfig.from_json(small(heads={"candle": 0, "trend": 0, "range": 0, "label": 1}))
    with pytest.raises(NothingToTrain, match="the dataset has no labels"):
        prepare(config, dataclasses.replace(data_of(), manifest={"timeframe_ms": MINUTE}))


@pytest.mark.parametrize("changes", [{}, {"stride": 1}, {"stride": 999}, {"shuffle_targets": True, "stride": 7}])
def test_the_length_of_an_epoch_is_known_before_it_is_put_in_order(changes: dict[str, Any]) -> None:
    data, config = prepare(CONFIG, data_of()), dataclasses.replace(CONFIG, **changes)
    for epoch in range(1, 9):
        assert epoch_length(data, config, epoch) == len(epoch_starts(data, config, epoch))


def test_the_start_of_validation_is_known_before_anything_is_computed() -> None:
    assert validation_start(CONFIG, data_of()) == START + 700 * MINUTE
    assert validation_start(dataclasses.replace(CONFIG, split=[1.0, 0.0, 0.0]), data_of()) is None


def test_the_facts_tell_what_is_trained_on_and_what_is_dropped() -> None:
    facts = prepare(CONFIG, data_of(marks=[span("Long", 100, 140)])).facts
    assert (facts["candles"], facts["segments"], facts["labelled"], facts["purged"]) == (N, 1, 40, 3)
    assert facts["train"] == {"candles": 700, "from": START, "to": START + 699 * MINUTE}
    assert sum(facts["classes"]["candle"]) == (700 - 3) + (150 - 6) + (150 - 3 - 1)


def data_of(
    candles: Candles | None = None,
    marks: list[dict[str, Any]] | None = None,
    rejected: list[dict[str, Any]] | None = None,
) -> DatasetDir:
    manifest: dict[str, Any] = {"symbol": "T", "timeframe": "1m", "timeframe_ms": MINUTE, "labels": ["Long", "Short"]}
    if rejected is not None:
        manifest["rejected"] = rejected
    return DatasetDir(manifest, market(N) if candles is None else candles, marks or [])


def shaken_from(row: int) -> Candles:
    candles = market(N)
    factor = np.where(np.arange(N) < row, 1.0, 1 + 0.1 * np.sin(np.arange(N)))
    columns = {name: getattr(candles, name) * factor for name in ("open", "high", "low", "close")}
    return dataclasses.replace(candles, **columns)


def edges_of() -> Edges:
    return Edges((-1.0, -0.5, 0.5, 1.0), (1.0, 1.5, 2.0, 2.5), "test")


def span(label: str, first: int, end: int, known_at: int | None = None) -> dict[str, Any]:
    start, stop = START + first * MINUTE, START + end * MINUTE
    return {"kind": "span", "label": label, "start": start, "end": stop, "known_at": known_at or stop}


def test_a_rejected_suggestion_says_what_unmarked_train_candles_are_not() -> None:
    inside, marked_over, late = (rejection("Short", *rows) for rows in ((300, 320), (100, 150), (690, 710)))
    rejected = [inside, marked_over, late, rejection("Gone", 400, 410)]
    data = prepare(CONFIG, data_of(marks=[span("Long", 100, 140)], rejected=rejected))
    told = np.flatnonzero(data.refused["label"] != MASKED)
    assert told.tolist() == [*range(140, 150), *range(300, 320)]  # neither what has a mark nor what reaches validation
    assert set(data.refused["label"][told].tolist()) == {1}
    assert (data.facts["refused"], data.facts["rejected"]) == (30, 2)
    assert (data.targets["label"][300:320] == MASKED).all()
    assert prepare(CONFIG, data_of(marks=[span("Long", 100, 140)])).refused == {}


def rejection(label: str, first: int, end: int) -> dict[str, Any]:
    return {"label": label, "start": START + first * MINUTE, "end": START + end * MINUTE}
