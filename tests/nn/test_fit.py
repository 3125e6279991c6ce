"""A batch run: what it says, whose weights it takes and leaves, how it ends, and that it goes on bit for bit."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from nn.checkpoint import Weights, load
from nn.config import BatchConfig
from nn.dataset_dir import Candles, DatasetDir, read
from nn.device import choose
from nn.events import BatchDone, CheckpointSaved, EpochDone, JudgedOnTest, RunEnded, RunResumed, RunStarted, Warned
from nn.fit import Control, Said, fit
from nn.job import Job
from tests.nn.live_market import MINUTE, START, batch, dataset, market

N = 700


class Run(NamedTuple):
    """All that a run said, and what it returned."""

    said: list[Said]
    weights: Weights | None

    def of(self, kind: type[Any]) -> list[Any]:
        return [said for said in self.said if isinstance(said, kind)]


def test_the_events_tell_of_every_step_and_epoch_in_the_known_lines() -> None:
    run = run_of(job())
    steps, epochs = run.of(BatchDone), run.of(EpochDone)
    assert [step.step for step in steps] == list(range(1, len(steps) + 1))
    assert [(epoch.epoch, epoch.batches) for epoch in epochs] == [(e, count(steps, e)) for e in (1, 2)]
    assert steps[0].line == (
        f"Batch 1/{steps[0].batches}, Loss: {steps[0].loss:.3f}, "
        f"Candle Acc: {steps[0].candle_accuracy:.1%}, Trend Acc: {steps[0].trend_accuracy:.1%}"
    )
    train = epochs[0].train
    assert epochs[0].line == (
        f"Epoch 1/2, Loss: {train['loss']:.3f}, Accuracy: {train['candle_accuracy']:.2%} ({epochs[0].batches} batches)"
    )
    assert train["loss"] == pytest.approx(np.mean([step.loss for step in steps if step.epoch == 1]))
    assert steps[-1].eta_s < steps[0].eta_s
    assert run.of(RunStarted)[0].data["steps"] == len(steps)
    assert run.of(RunEnded)[0].state == "finished"


def test_validation_stands_beside_the_train_figures_with_baselines_and_intervals() -> None:
    found = run_of(job(candles=market(2400), epochs=1)).of(EpochDone)[-1].validation
    assert set(found) >= {"loss", "candle_accuracy", "trend_accuracy", "n", "baselines", "heads"}
    assert set(found["baselines"]["candle"]) == {"majority", "persistence", "momentum", "logistic"}
    low, high = found["heads"]["candle"]["interval"]
    assert low < found["candle_accuracy"] < high
    expected = sum(of["nll"] * BatchConfig().heads[head] for head, of in found["heads"].items())
    assert found["loss"] == pytest.approx(expected)


def test_the_best_weights_are_judged_once_on_the_test_split_and_tell_calibrated_answers() -> None:
    run = run_of(job(candles=market(2400)))
    (tested,) = run.of(JudgedOnTest)
    best = next(epoch for epoch in reversed(run.of(EpochDone)) if epoch.best)
    assert tested.epoch == best.epoch
    assert run.weights is not None
    found = {head: of["calibration"]["temperature"] for head, of in best.validation["heads"].items()}
    assert run.weights.meta.temperatures == found
    assert (
        tested.test["heads"]["candle"]["n"] == 2400 - round(0.85 * 2400) - 3 - 1
    )  # after the embargo; the last has no next
    assert tested.test["heads"]["candle"]["nll"] != best.validation["heads"]["candle"]["nll"]
    assert run.said.index(tested) < run.said.index(run.of(RunEnded)[0])


def test_a_run_that_was_stopped_does_not_look_at_the_test_split() -> None:
    run = run_of(job(), end=lambda said: "stopped" if isinstance(said, EpochDone) else None)
    assert not run.of(JudgedOnTest)


def test_the_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    first, again, other = run_of(job()), run_of(job()), run_of(job(seed=2))
    assert losses(first) == losses(again)
    assert same_bits(first.weights, again.weights)
    assert losses(first) != losses(other)


def test_the_best_epoch_is_what_stays_not_the_last(tmp_path: Path) -> None:
    run = run_of(job(folder=tmp_path, epochs=6, learning_rate=0.02))
    epochs = run.of(EpochDone)
    best = min(epochs, key=lambda epoch: float(epoch.validation["loss"]))
    assert [epoch.epoch for epoch in epochs if epoch.best][-1] == best.epoch < 6
    assert run.weights is not None
    assert run.weights.meta.metrics["epoch"] == best.epoch
    assert run.weights.meta.step == sum(epoch.batches for epoch in epochs[: best.epoch])
    assert same_bits(load(tmp_path / "best"), run.weights)
    results = [(saved.name, saved.step) for saved in run.of(CheckpointSaved) if saved.result]
    assert results == [("best", run.weights.meta.step)]


def test_patience_ends_a_run_that_grows_no_better() -> None:
    run = run_of(job(epochs=50, learning_rate=0.02, patience=2))
    epochs = run.of(EpochDone)
    assert len(epochs) < 50
    assert [epoch.best for epoch in epochs[-3:]] == [True, False, False]


def test_a_stop_ends_after_the_step_and_serves_the_best() -> None:
    run = run_of(job(epochs=50), lambda said: "stopped" if isinstance(said, EpochDone) and said.epoch == 2 else None)
    assert run.of(RunEnded)[0].state == "stopped"
    assert len(run.of(EpochDone)) == 2
    assert run.weights is not None


def test_a_stop_while_an_epoch_is_judged_does_not_wait_for_the_judgement() -> None:
    slices = iter(range(1000))

    def first_slice_after_the_epoch(said: Said) -> str | None:
        return "stopped" if said is None and next(slices) > 8 else None

    run = run_of(job(epochs=50, stride=1), first_slice_after_the_epoch)
    assert run.of(RunEnded)[0].state == "stopped"
    assert not run.of(EpochDone)
    assert run.weights is not None


def test_a_run_stopped_before_its_first_epoch_ended_leaves_its_last_weights() -> None:
    run = run_of(job(), lambda said: "stopped" if isinstance(said, BatchDone) and said.step == 3 else None)
    assert run.weights is not None
    assert run.weights.meta.step == 3


def test_without_validation_there_is_no_best_score_and_the_last_weights_stay() -> None:
    run = run_of(job(split=[1, 0, 0]))
    assert all(epoch.validation is None and not epoch.best for epoch in run.of(EpochDone))
    assert "no_validation" in codes(run)
    assert run.weights is not None
    assert run.weights.meta.data_cut == START + (N - 1) * MINUTE


def test_the_data_cut_is_the_last_candle_that_the_weights_were_chosen_on() -> None:
    weights = run_of(job()).weights
    assert weights is not None
    assert weights.meta.data_cut == START + (round(N * 0.85) - 1) * MINUTE


def test_a_run_goes_on_from_weights_that_saw_nothing_of_its_validation() -> None:
    early = early_weights()
    run = run_of(job(weights=early, origin="checkpoint", reason="the newest that fits"))
    started = run.of(RunStarted)[0]
    assert (started.origin, started.reason) == ("checkpoint", "the newest that fits")
    assert run.weights is not None
    assert run.weights.meta.edges == early.meta.edges


def test_a_run_starts_fresh_when_its_weights_have_seen_its_validation_and_says_why() -> None:
    started = run_of(job(weights=run_of(job()).weights, origin="loaded")).of(RunStarted)[0]
    assert started.origin == "fresh"
    assert "validation starts at" in started.reason


def test_a_run_starts_fresh_when_the_weights_do_not_fit_and_names_the_fields() -> None:
    early = early_weights()
    started = run_of(job(weights=early, d_model=8)).of(RunStarted)[0]
    assert started.origin == "fresh"
    assert "d_model: have 16, want 8" in started.reason


def test_a_control_starts_fresh_and_leaves_nothing(tmp_path: Path) -> None:
    early = early_weights()
    run = run_of(job(weights=early, shuffle_targets=True, folder=tmp_path))
    assert run.of(RunStarted)[0].origin == "fresh"
    assert run.weights is None
    assert not any(saved.result for saved in run.of(CheckpointSaved))


def test_labels_are_learnt_and_their_f1_stands_beside_the_majority() -> None:
    marks = [span("Long" if i % 2 else "Short", 20 * i, 20 * i + 20) for i in range(N // 20)]
    run = run_of(job(marks=marks))
    found = run.of(EpochDone)[-1].validation
    assert 0 <= found["heads"]["label"]["f1"] <= 1
    assert set(found["baselines"]["label"]) == {"majority", "momentum", "logistic"}
    assert found["heads"]["label"]["n"] > 50


def test_a_dataset_with_labels_but_no_mark_says_that_the_label_head_learns_nothing() -> None:
    run = run_of(job(marks=[]))
    assert any("no candle of the dataset has a label" in note for note in run.of(RunStarted)[0].notes)
    assert "label" not in run.of(EpochDone)[0].validation["heads"]


def test_labels_of_one_class_are_said_to_teach_nothing() -> None:
    marks = [span("Long", 20 * i, 20 * i + 10) for i in range(N // 20)]
    (alike,), both = (run_of(job(marks=given)).of(RunStarted) for given in (marks, [*marks, span("Short", 30, 40)]))
    assert "every labelled candle of train is Long: there is nothing to tell it from" in alike.notes[-1]
    assert not [note for note in both[0].notes if "nothing to tell" in note]


def test_a_best_epoch_without_skill_is_said() -> None:
    draw = np.random.default_rng(0)
    close = 100 * np.exp(np.cumsum(draw.normal(0, 1e-3, N)))
    run = run_of(job(candles=dataclasses.replace(market(N), close=close)))
    assert run.of(EpochDone)[-1].verdict == "not better than the baselines"
    assert "not_better" in codes(run)


def test_twenty_steps_a_kill_and_twenty_more_are_forty_bit_for_bit(tmp_path: Path) -> None:
    whole = run_of(job(folder=tmp_path / "whole", epochs=4))
    killed_at = len(whole.of(BatchDone)) // 2 + 1
    folder = dataset(tmp_path / "data", market(N))
    script = KILLED.format(data=str(folder), kept=str(tmp_path / "kept"), step=killed_at)
    ended = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert ended.returncode == -9, ended.stderr
    resumed = run_of(job(folder=tmp_path / "kept", epochs=4, resume=True, recorded_step=killed_at, recorded_epoch=2))
    assert isinstance(resumed.said[0], RunResumed)
    assert 0 < resumed.said[0].step < killed_at
    assert losses(resumed) == losses(whole)[killed_at:]
    assert [epoch.validation for epoch in resumed.of(EpochDone)] == [e.validation for e in whole.of(EpochDone)[2:]]
    assert same_bits(resumed.weights, whole.weights)
    assert same_bits(load(tmp_path / "kept" / "last"), load(tmp_path / "whole" / "last"))


KILLED = """
import os, signal
from pathlib import Path
from nn.events import BatchDone
from nn.fit import Control, fit
from tests.nn.test_fit import job
for said in fit(job(data={data!r}, folder=Path({kept!r}), epochs=4), Control()):
    if isinstance(said, BatchDone) and said.step == {step}:
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("stored", [3, 0])
def test_a_checkpoint_past_what_was_stored_is_left_for_the_one_before(tmp_path: Path, stored: int) -> None:
    whole = run_of(job(epochs=3))
    half = job(folder=tmp_path, epochs=3)
    run_of(half, lambda said: "interrupted" if isinstance(said, BatchDone) and said.epoch == 2 else None)
    resumed = run_of(dataclasses.replace(half, resume=True, recorded_step=stored))
    assert losses(resumed) == losses(whole)[stored:]
    assert [epoch.epoch for epoch in resumed.of(EpochDone)] == [1, 2, 3]
    assert same_bits(resumed.weights, whole.weights)


def test_a_run_killed_just_after_it_kept_its_best_speaks_of_these_weights(tmp_path: Path) -> None:
    given = job(folder=tmp_path, epochs=3)
    for said in fit(given, Control()):
        if isinstance(said, CheckpointSaved) and said.name == "best" and said.meta["metrics"]["epoch"] == 2:
            break  # what comes next, the last checkpoint of that epoch, is never written
    stopped = run_of(dataclasses.replace(given, resume=True), lambda said: "stopped")
    (ended,) = stopped.of(RunEnded)
    assert stopped.weights is not None
    assert (ended.summary["best_epoch"], stopped.weights.meta.metrics["epoch"]) == (2, 2)
    assert ended.summary["validation"] == stopped.weights.meta.metrics["validation"]


def test_an_interrupted_run_leaves_no_result_and_goes_on(tmp_path: Path) -> None:
    whole = run_of(job(epochs=3))
    half = run_of(
        job(folder=tmp_path, epochs=3),
        lambda said: "interrupted" if isinstance(said, BatchDone) and said.epoch == 2 else None,
    )
    assert (half.of(RunEnded)[0].state, half.weights) == ("interrupted", None)
    rest = run_of(job(folder=tmp_path, epochs=3, resume=True))
    assert losses(half) + losses(rest) == losses(whole)
    assert same_bits(rest.weights, whole.weights)


def test_a_run_killed_before_its_first_checkpoint_begins_anew(tmp_path: Path) -> None:
    run = run_of(job(folder=tmp_path, resume=True))
    assert isinstance(run.said[0], RunStarted)


def test_steps_that_are_not_finite_are_skipped_counted_and_said_once() -> None:
    run = run_of(job(epochs=1, weights=early_weights(scale=1e38)))
    assert codes(run).count("non_finite") == 1
    assert run.of(RunEnded)[0].summary["skipped_steps"] == run.of(RunStarted)[0].data["steps"]
    assert (run.of(EpochDone)[0].train["loss"], run.of(EpochDone)[0].validation) == (None, None)
    assert run.weights is None
    assert not run.of(BatchDone)


def job(
    *,
    candles: Candles | None = None,
    marks: list[dict[str, Any]] | None = None,
    data: str | None = None,
    folder: Path | None = None,
    weights: Weights | None = None,
    origin: str = "fresh",
    reason: str = "asked for",
    resume: bool = False,
    recorded_step: int | None = None,
    recorded_epoch: int = 0,
    **changes: Any,
) -> Job:
    """Make a job of a small model on a short market."""
    labels = ["Long", "Short"] if marks is not None else []
    manifest = {"symbol": "T", "timeframe": "1m", "timeframe_ms": MINUTE, "labels": labels}
    return Job(
        run_id=1,
        config=BatchConfig.from_json(batch(**changes)),
        dataset=read(Path(data)) if data else DatasetDir(manifest, candles or market(N), marks or []),
        device=choose("cpu"),
        threads=1,
        checkpoint_dir=folder,
        weights=weights,
        origin=origin,
        reason=reason,
        resume=resume,
        recorded_step=recorded_step,
        recorded_epoch=recorded_epoch,
        now_ms=lambda: 0,
    )


def run_of(job: Job, end: Callable[[Said], str | None] | None = None) -> Run:
    """Run to the end; `end` looks at all that is said and may ask the run to end."""
    control = Control()
    run, said = fit(job, control), []
    while True:
        try:
            said.append(next(run))
        except StopIteration as stop:
            return Run(said, stop.value)
        if end is not None and control.end is None:
            control.end = end(said[-1])  # type: ignore[assignment]


def early_weights(scale: float = 1.0) -> Weights:
    """Train on the first candles alone, and blow the weights up."""
    weights = run_of(job(candles=market(N).slice(0, 400), epochs=1)).weights
    assert weights is not None
    return Weights({name: p * scale for name, p in weights.params.items()}, weights.meta)


def losses(run: Run) -> list[float]:
    return [step.loss for step in run.of(BatchDone)]


def codes(run: Run) -> list[str]:
    return [warning.code for warning in run.of(Warned)]


def count(steps: list[BatchDone], epoch: int) -> int:
    return sum(step.epoch == epoch for step in steps)


def same_bits(first: Weights | None, second: Weights | None) -> bool:
    assert first is not None
    assert second is not None
    return all(torch.equal(p, second.params[name]) for name, p in first.params.items())


def span(label: str, first: int, end: int) -> dict[str, Any]:
    start, stop = START + first * MINUTE, START + end * MINUTE
    return {"kind": "span", "label": label, "start": start, "end": stop, "known_at": stop}
