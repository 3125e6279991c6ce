"""The leak check: passes what is clean, and catches every kind of leak that is planted, naming the marks at fault."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from nn import training_data
from nn.audit import audit_leaks
from nn.config import BatchConfig
from nn.dataset_dir import Candles, DatasetDir
from nn.device import choose
from nn.events import LeakChecked, RunEnded
from nn.features import FEATURES, Computed, compute
from nn.fit import Control
from nn.job import Job
from nn.leaks import Finding, find_leaks
from nn.learner import Learner, Schedule
from nn.snapshot import Snapshot
from nn.targets import LabelTargets, label_targets
from tests.nn.live_market import MINUTE, START, batch, joined, market

N = 1500
LABELS = ("Long", "Short")
CHECKS = ["inputs", "answers", "targets", "shifts", "overlap", "twins", "known", "late", "control"]


def test_a_clean_dataset_passes_every_check_and_a_planted_leak_is_seen() -> None:
    found = findings(marks=[span(20 * i, 20 * i + 12) for i in range(60)])
    assert list(found) == CHECKS
    assert [check for check, each in found.items() if not each.passed] == []
    assert found["control"].words == "a leak that was planted on purpose was seen"


def test_an_input_that_knows_the_next_candle_is_named_and_read_as_such() -> None:
    def leaky(candles: Candles) -> Computed:
        clean = compute(candles)
        rows = clean.rows.copy()
        ahead = np.append(np.diff(np.log(candles.close)), 0.0) / clean.sigma
        rows[:, FEATURES.index("return")] = np.clip(ahead, -5, 5)
        return Computed(rows, clean.sigma, clean.state)

    found = findings(features=leaky)
    assert not found["inputs"].passed
    assert found["inputs"].words == "later candles change earlier inputs: return"
    assert not found["shifts"].passed
    assert "knows the coming candle" in found["shifts"].words


def test_a_model_that_looks_ahead_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nn.models.transformer.F.scaled_dot_product_attention", _without_mask)
    found = findings()
    assert not found["answers"].passed
    assert "transformer's answers" in found["answers"].words


def test_an_annotation_known_before_it_ended_is_named() -> None:
    marks = [span(100, 130), span(200, 230, known=210, name="early"), span(300, 330)]
    early = findings(marks=marks)["known"]
    assert (early.passed, early.marks) == (False, ("early",))


def test_points_and_trades_that_were_known_too_early_are_named_too() -> None:
    point = {"id": "p", "kind": "point", "label": "Long", "time": at(50), "price": 1.0, "known_at": at(50)}
    sides = {"entry": {"time": at(60), "price": 1.0}, "exit": {"time": at(80), "price": 1.0}}
    trade = {"id": "t", "kind": "trade", "label": "Long", "side": "long", **sides, "known_at": at(79)}
    good = {**trade, "id": "good", "known_at": at(81)}
    assert findings(marks=[point, trade, good])["known"].marks == ("p", "t")


def test_a_mark_across_the_border_is_left_out_and_named_and_caught_where_it_is_learnt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    border = round(0.7 * N)
    marks = [span(100, 140), span(border - 20, border + 10, name="across")]
    late = findings(marks=marks)["late"]
    assert (late.passed, late.marks) == (True, ())
    assert "left out: across" in late.words
    monkeypatch.setattr(training_data, "label_targets", _always_known(label_targets))  # the planted leak
    late = findings(marks=marks)["late"]
    assert (late.passed, late.marks) == (False, ("across",))


@pytest.mark.parametrize(
    "unlearnt",
    [{"status": "draft"}, {"review": {"verdict": "reject"}}, {"label": "Other"}],
    ids=["a draft", "found wrong", "of another label set"],
)
def test_a_mark_that_gives_no_class_is_blamed_for_nothing_that_lies_under_it(unlearnt: dict[str, Any]) -> None:
    border = round(0.7 * N)
    marks = [span(border - 40, border - 10), {**span(border - 40, border + 40, name="across"), **unlearnt}]
    late = findings(marks=marks)["late"]
    assert (late.passed, late.marks) == (True, ())


def test_lines_levels_and_classes_of_the_chart_that_were_known_too_early_are_named() -> None:
    anchors = {"start": {"time": at(10), "price": 1.0}, "end": {"time": at(90), "price": 2.0}}
    line = {"id": "line", "kind": "trend_line", "label": "Long", **anchors, "known_at": at(90)}
    level = {"id": "level", "kind": "level", "label": "Long", "time": at(10), "until": at(60), "known_at": at(59)}
    chart = {"id": "chart", "kind": "chart_class", "label": "Long", "start": at(10), "end": at(60), "known_at": at(50)}
    good: list[dict[str, Any]] = [
        {**line, "id": "good line", "known_at": at(91)},
        {**level, "id": "good level", "known_at": at(60)},
        {"id": "whole chart", "kind": "chart_class", "label": "Long", "start": None, "end": None, "known_at": at(0)},
    ]
    assert findings(marks=[line, level, chart, *good])["known"].marks == ("line", "level", "chart")


def test_a_market_that_stands_still_is_no_leak_and_what_was_not_looked_at_is_not_claimed() -> None:
    still = {name: np.full(N, 100.0) for name in ("open", "high", "low", "close")}
    found = findings(candles=dataclasses.replace(market(N), **still))
    assert [check for check, each in found.items() if not each.passed] == []
    assert "no leak to plant" in found["control"].words
    unjudged = {
        each.check: each for each in find_leaks(data([]), dataclasses.replace(CONFIG, split=[1, 0, 0]), snapshot())
    }
    assert unjudged["shifts"].words == "no candle of validation has a candle target that could be moved"


def test_validation_candles_that_repeat_train_candles_are_counted() -> None:
    half = market(N // 2)
    again = dataclasses.replace(half, time=half.time + MINUTE * (N // 2))
    twins = findings(candles=joined(half, again))["twins"]
    assert not twins.passed
    assert "price for price" in twins.words


def test_the_audit_says_each_check_and_sums_up() -> None:
    job = Job(
        run_id=7, config=CONFIG, dataset=data([span(20, 40, known=30, name="early")]), device=choose("cpu"), threads=1
    )
    said = list(audit_leaks(job, Control(), snapshot(), "as it is"))
    told = [each for each in said if isinstance(each, LeakChecked)]
    assert [each.check for each in told] == CHECKS
    assert next(each for each in told if each.check == "known").line == (
        "Leak check known: LEAK: 1 annotations claim to be known before their last candle had closed: early"
    )
    end = said[-1]
    assert isinstance(end, RunEnded)
    assert end.summary["leaks"]["verdict"] == "leaks found"
    assert (end.summary["leaks"]["checks"][0]["check"], end.summary["leaks"]["checks"][0]["marks"]) == (
        "known",
        ["early"],
    )


def test_the_audit_stops_between_two_checks() -> None:
    control = Control()
    job = Job(run_id=7, config=CONFIG, dataset=data([]), device=choose("cpu"), threads=1)
    said = []
    for each in audit_leaks(job, control, snapshot(), "as it is"):
        said.append(each)
        control.end = "stopped"
    assert [type(each).__name__ for each in said] == ["RunStarted", "RunEnded"]


CONFIG = BatchConfig.from_json(batch())


def findings(
    candles: Candles | None = None, marks: list[dict[str, Any]] | None = None, features: Any = compute
) -> dict[str, Finding]:
    dataset = data(marks or [], candles)
    return {each.check: each for each in find_leaks(dataset, CONFIG, snapshot(bool(marks)), features)}


def data(marks: list[dict[str, Any]], candles: Candles | None = None) -> DatasetDir:
    labels = list(LABELS) if marks else []
    manifest = {"symbol": "TEST", "timeframe": "1m", "timeframe_ms": MINUTE, "labels": labels}
    return DatasetDir(manifest, candles or market(N), marks)


def snapshot(labelled: bool = False) -> Snapshot:
    return Learner(CONFIG, Schedule(1e-3), labels=LABELS if labelled else ()).publish()


def span(start: int, end: int, known: int | None = None, name: str = "") -> dict[str, Any]:
    known_at = at(end if known is None else known)
    label = LABELS[start // 20 % 2]
    return {
        "id": name or f"span {start}",
        "kind": "span",
        "label": label,
        "start": at(start),
        "end": at(end),
        "known_at": known_at,
    }


def at(row: int) -> int:
    return START + MINUTE * row


def _without_mask(q: Any, k: Any, v: Any, is_causal: bool) -> Any:
    assert is_causal
    return (q @ k.transpose(-1, -2)).softmax(-1) @ v


def _always_known(real: Any) -> Any:
    def made(*given: Any) -> LabelTargets:
        found: LabelTargets = real(*given)
        return dataclasses.replace(found, known_at=np.zeros_like(found.known_at))

    return made
