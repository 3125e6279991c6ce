"""Judging: the same figures for any batch size, the right words for skill and for none."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pytest

from nn.baselines import momentum
from nn.calibration import cooled
from nn.config import BatchConfig
from nn.dataset_dir import DatasetDir
from nn.features import compute
from nn.judging import (
    BETTER,
    NOT_BETTER,
    Judged,
    Rivals,
    _span_figures,
    fit_rivals,
    judge,
    report,
    without_details,
)
from nn.learner import Learner, Schedule
from nn.targets import candle_class, fit_edges
from nn.training_data import TrainingData, prepare
from nn.windows import Windows
from tests.nn.live_market import MINUTE, market, small

Json = dict[str, Any]
Result = TypeVar("Result")

N = 3000
CONFIG = BatchConfig.from_json(small(stride=10, heads={"candle": 1, "trend": 0, "range": 0, "label": 0}))
DATA = prepare(CONFIG, DatasetDir({"timeframe_ms": MINUTE, "labels": []}, market(N), []))


@pytest.fixture(scope="module")
def rivals() -> Rivals:
    return ended(fit_rivals(DATA, seed=0))


def test_the_batch_size_of_the_training_changes_no_figure() -> None:
    one, many = (dataclasses.replace(CONFIG, batch_size=size) for size in (1, 64))
    assert answers_of(one) == answers_of(many)


def test_answers_that_know_more_than_the_baselines_are_called_better(rivals: Rivals) -> None:
    found = reported(rivals, sureness=0.5)
    assert found["verdict"] == found["heads"]["candle"]["verdict"] == BETTER
    assert found["heads"]["candle"]["against"]["logistic"]["interval"][1] < 0


@pytest.mark.parametrize("sureness", [0.0, -0.3])
def test_answers_that_know_nothing_or_err_are_not(rivals: Rivals, sureness: float) -> None:
    found = reported(rivals, sureness)
    assert found["verdict"] == NOT_BETTER
    assert found["heads"]["candle"]["against"]["logistic"]["difference"] > 0


def test_on_random_walks_noise_is_seldom_called_better() -> None:
    called = 0
    for seed in range(40):
        draw = np.random.default_rng(seed)
        noisy = np.full((rows_of(DATA).size, 5), 0.2) * np.exp(draw.normal(0, 0.05, (rows_of(DATA).size, 5)))
        random = draw.integers(0, 5, N)
        data = dataclasses.replace(DATA, targets={"candle": random}, last={"candle": np.roll(random, 1)})
        fitted = ended(fit_rivals(data, seed))
        found = report(judged_with(noisy), data, fitted, CONFIG.heads)
        assert found is not None
        called += found["verdict"] == BETTER
    assert called <= 2


def test_the_loss_is_the_weighted_loss_of_the_heads_and_n_its_targets(rivals: Rivals) -> None:
    found = reported(rivals, 0.5)
    assert found["loss"] == pytest.approx(found["heads"]["candle"]["nll"])
    assert found["n"] == int((DATA.targets["candle"][rows_of(DATA)] >= 0).sum())
    assert set(found["baselines"]["candle"]) == {"majority", "persistence", "momentum", "logistic"}


def test_where_no_target_counts_there_is_no_report(rivals: Rivals) -> None:
    empty = dataclasses.replace(DATA, targets={"candle": np.full(N, -1)})
    assert report(judged_with(np.full((rows_of(DATA).size, 5), 0.2)), empty, rivals, CONFIG.heads) is None


def test_the_figures_are_of_the_next_candle() -> None:
    candles, sigma = market(N), compute(market(N)).sigma
    edges = fit_edges(candles.slice(0, DATA.split.train.last), sigma[: DATA.split.train.last])
    rows = rows_of(DATA)
    outcome = candle_class(candles.close[rows], candles.close[rows + 1], sigma[rows], edges)
    assert np.array_equal(outcome, DATA.targets["candle"][rows])


@pytest.mark.parametrize(("knows", "helps"), [(True, True), (False, False)])
def test_doubt_helps_where_it_knows_which_answers_are_wrong_and_does_not_at_random(
    rivals: Rivals, knows: bool, helps: bool
) -> None:
    right = DATA.targets["candle"][rows_of(DATA)]
    draw = np.random.default_rng(5)
    wrong = draw.random(right.size) < 0.5
    said = np.where(wrong, draw.integers(0, 5, right.size), right)
    scores = 2.0 * np.eye(5)[said]
    doubt = np.where(wrong if knows else draw.permutation(wrong), 3.0, 1.0)[:, None]
    told = {name: {"candle": cooled(of, 1.0)} for name, of in (("with", scores / doubt), ("without", scores))}
    found = report(Judged(rows_of(DATA), told["with"], told["without"]), DATA, rivals, CONFIG.heads)
    assert found is not None
    effect = found["heads"]["candle"]["uncertainty"]
    low, high = effect["interval"]
    assert low < effect["difference"] < high
    assert (high < 0) if helps else (low > 0)


@pytest.mark.parametrize("model", ["transformer", "multiscale_logistic"])
def test_without_its_doubt_a_network_chooses_alike_and_one_that_has_none_is_told_nothing_of(model: str) -> None:
    doubting = dataclasses.replace(CONFIG, model=model, use_uncertainty_estimation=True)
    learner = Learner(doubting, Schedule(0.05), edges=DATA.edges)
    windows = Windows(DATA.rows, DATA.targets, doubting.sequence_length)
    for at in range(5):
        learner.step(windows.batch(np.arange(at * 100, at * 100 + 64)))
    part = DATA.split.validation
    assert part is not None
    judged = ended(judge(learner.publish(), windows, DATA, part, doubting.stride))
    one, other = judged.log_probabilities["candle"], judged.undoubted["candle"]
    assert np.array_equal(one.argmax(axis=1), other.argmax(axis=1))
    assert not np.allclose(one, other)
    plain = ended(judge(Learner(CONFIG, Schedule(0.05)).publish(), windows, DATA, part, CONFIG.stride))
    assert plain.undoubted == {}


def answers_of(config: BatchConfig) -> list[float]:
    learner = Learner(config, Schedule(1e-3), edges=DATA.edges)
    windows = Windows(DATA.rows, DATA.targets, config.sequence_length)
    assert DATA.split.validation is not None
    judged = ended(judge(learner.publish(), windows, DATA, DATA.split.validation, config.stride))
    values: list[float] = judged.log_probabilities["candle"].ravel().tolist()
    return values


def reported(rivals: Rivals, sureness: float) -> Json:
    """Report answers that put `sureness` more on the right class than on each other one."""
    right = DATA.targets["candle"][rows_of(DATA)]
    weights = np.ones((right.size, 5))
    weights[np.arange(right.size), right] *= np.exp(2 * sureness)
    found = report(judged_with(weights), DATA, rivals, CONFIG.heads)
    assert found is not None
    return found


def judged_with(weights: npt.NDArray[np.float64]) -> Judged:
    return Judged(rows_of(DATA), {"candle": np.log(weights / weights.sum(axis=1, keepdims=True))})


def rows_of(data: TrainingData) -> npt.NDArray[np.int64]:
    part = data.split.validation
    assert part is not None
    return np.arange(part.first, part.last)


def ended(work: Generator[None, None, Result]) -> Result:
    """Run a generator to its end; give what it returns."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: Result = end.value
            return result


def test_a_report_holds_the_confusion_the_classes_and_the_calibration(rivals: Rivals) -> None:
    head = reported(rivals, 0.5)["heads"]["candle"]
    matrix = np.array(head["confusion"])
    assert matrix.sum() == head["n"]
    assert np.trace(matrix) / matrix.sum() == pytest.approx(head["accuracy"])
    assert [of["n"] for of in head["classes"]] == matrix.sum(axis=1).tolist()
    assert head["classes"][0]["name"] == "strong fall"
    assert head["classes"][0]["recall"] == pytest.approx(matrix[0, 0] / matrix[0].sum())
    assert np.mean([of["f1"] for of in head["classes"]]) == pytest.approx(head["f1"])
    assert sum(of["n"] for of in head["calibration"]["bins"]) == head["n"]


def test_every_baseline_has_its_interval_around_its_accuracy(rivals: Rivals) -> None:
    baselines = reported(rivals, 0.5)["baselines"]["candle"]
    assert set(baselines) == {"majority", "persistence", "momentum", "logistic"}
    for of in baselines.values():
        low, high = of["interval"]
        assert low < of["accuracy"] < high


def test_momentum_answers_with_what_followed_rises_and_falls() -> None:
    up = momentum(DATA.rows) == 1
    follows = dataclasses.replace(DATA, targets={"trend": np.where(up, 1, 0)}, last={})
    against = dataclasses.replace(DATA, targets={"trend": np.where(up, 0, 1)}, last={})
    rows = np.flatnonzero(momentum(DATA.rows) >= 0)
    for data in (follows, against):
        answers = ended(fit_rivals(data, 0)).answers(data, "trend", rows)["momentum"]
        assert (answers.predicted == data.targets["trend"][rows]).all()


def test_spans_are_found_by_runs_of_an_answer_on_labelled_candles_alone() -> None:
    rows = np.concatenate([np.arange(10, 40), np.arange(60, 80)])  # a jump ends a span
    targets = np.array([-1] * 5 + [0] * 10 + [1] * 10 + [-1] * 5 + [0] * 20)
    said = np.array([1] * 5 + [0] * 8 + [1] * 12 + [0] * 5 + [0] * 10 + [1] * 10)
    found = _span_figures(rows, targets, said)
    assert (found["true"], found["found"]) == (3, 3)
    assert found["f1"] == pytest.approx(2 * 3 / (3 + 4))


def test_an_epoch_that_is_not_the_best_leaves_the_details_out(rivals: Rivals) -> None:
    found = reported(rivals, 0.5)
    short = without_details(found)
    assert short is not None
    assert short["heads"]["candle"].keys() == found["heads"]["candle"].keys() - {"confusion", "classes", "calibration"}
    assert short["loss"] == found["loss"]
    assert without_details(None) is None
