"""Is it skill? A market with momentum is told from a random walk by the NLL of shuffled twins."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from nn.config import ConfigError, SkillConfig
from nn.dataset_dir import Candles, DatasetDir
from nn.device import choose
from nn.events import ControlEpoch, RunEnded, RunStarted
from nn.fit import Control, Said
from nn.job import Job
from nn.skill import NO_SKILL, SKILL, is_it_skill, verdict
from nn.training_data import NothingToTrain
from tests.nn.live_market import MINUTE, market, small

ROWS = 1500


def test_a_market_with_momentum_is_called_skill_in_words_with_its_numbers() -> None:
    said = heard(market(ROWS))
    end = said[-1]
    assert isinstance(end, RunEnded)
    found = end.summary["skill"]
    assert found["verdict"] == SKILL
    assert found["real"] < min(found["shuffled"])
    assert len(found["shuffled"]) == 8
    assert found["words"].startswith(f"skill: validation loss {found['real']:.4f} on the real targets")
    assert set(found["heads"]) == {"candle", "trend", "range"}
    epochs = [each for each in said if isinstance(each, ControlEpoch)]
    assert [(each.number, each.epoch) for each in epochs] == [(n, e) for n in range(9) for e in (1, 2)]
    assert epochs[0].eta_s > epochs[-1].eta_s == 0
    assert min(each.loss for each in epochs if each.number == 3) == found["shuffled"][2]
    assert len([each for each in said if isinstance(each, RunStarted)]) == 1


def test_a_random_walk_is_called_no_skill() -> None:
    draw = np.random.default_rng(5)
    close = 100 * np.exp(np.cumsum(draw.normal(0, 1e-3, ROWS)))
    walk = dataclasses.replace(market(ROWS), open=close, high=close, low=close, close=close)
    end = heard(walk, heads={"candle": 1.0, "trend": 0.0, "range": 0.0, "label": 0.0})[-1]
    assert isinstance(end, RunEnded)
    assert end.summary["skill"]["verdict"] == NO_SKILL


def test_skill_needs_a_loss_below_every_shuffled_one_and_below_their_limit() -> None:
    shuffled = [1.60, 1.61, 1.62, 1.61, 1.60, 1.62, 1.61, 1.60]
    assert verdict(1.50, shuffled)["verdict"] == SKILL
    assert verdict(1.595, shuffled)["verdict"] == NO_SKILL  # below all eight, but as one more might be
    assert verdict(1.60, shuffled)["verdict"] == NO_SKILL
    found = verdict(1.50, shuffled)
    assert found["limit"] == pytest.approx(
        np.mean(shuffled) - 1.8946 * np.std(shuffled, ddof=1) * np.sqrt(9 / 8), abs=1e-4
    )


def test_twins_without_skill_are_seldom_called_skilful() -> None:
    draw = np.random.default_rng(0)
    called = sum(verdict(sample[0], sample[1:])["verdict"] == SKILL for sample in draw.normal(1.6, 0.01, (2000, 9)))
    assert called / 2000 < 0.065


def test_a_stop_ends_the_check_after_the_step_without_a_verdict() -> None:
    control = Control()

    def stop(said: Said) -> None:
        if isinstance(said, ControlEpoch) and said.number == 1:
            control.end = "stopped"

    said = heard(market(ROWS), control=control, listen=stop)
    end = said[-1]
    assert isinstance(end, RunEnded)
    assert (end.state, end.summary) == ("stopped", {})
    assert max(each.number for each in said if isinstance(each, ControlEpoch)) == 1


def test_without_validation_there_is_nothing_to_judge_by() -> None:
    with pytest.raises(NothingToTrain, match="no validation set"):
        heard(market(ROWS), split=[100, 0, 0])


def test_fewer_than_eight_shufflings_are_refused() -> None:
    with pytest.raises(ConfigError, match="shuffled_runs"):
        SkillConfig(shuffled_runs=7)


def heard(
    candles: Candles, control: Control | None = None, listen: Callable[[Said], None] | None = None, **changes: object
) -> list[Said]:
    """Run a check on skill to its end; give what it said."""
    given = small(batch_size=8, epochs=2, stride=8, learning_rate=1e-2) | changes
    data = DatasetDir({"symbol": "TEST", "timeframe": "1m", "timeframe_ms": MINUTE, "labels": []}, candles, [])
    job = Job(run_id=1, config=SkillConfig.from_json(given), dataset=data, device=choose("cpu"), threads=1)
    said: list[Said] = []
    for each in is_it_skill(job, control or Control()):
        if each is not None:
            said.append(each)
        if listen is not None:
            listen(each)
    return said
