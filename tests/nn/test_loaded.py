"""Whose weights: the loaded model, else the newest checkpoint that fits, else fresh, always with the reason."""

from pathlib import Path
from typing import Any

import pytest
import torch

from nn.checkpoint import Weights, save, weights_of
from nn.config import ModelConfig
from nn.learner import Learner, Schedule
from nn.loaded import Choice, Loaded, LoadedModels, Refused, as_loaded, named_checkpoint
from tests.nn.live_market import small


def config(**changes: Any) -> ModelConfig:
    return ModelConfig.from_json(small() | changes)


def weights(labels: tuple[str, ...] = (), **changes: Any) -> Weights:
    snapshot = Learner(config(**changes), Schedule(1e-3), labels=labels).publish()
    return weights_of(snapshot, symbol="TEST", timeframe="1m", threads=1)


def loaded(run_id: int = 1, **changes: Any) -> Loaded:
    return as_loaded(Choice(weights(**changes), "checkpoint", "test", f"{run_id}/best"), config(**changes), run_id)


def on_disk(folder: Path, **changes: Any) -> str:
    save(folder, weights(**changes))
    return str(folder)


def test_without_anything_a_run_starts_fresh() -> None:
    choice = LoadedModels().choose(1, config(), [])
    assert (choice.origin, choice.weights) == ("fresh", None)
    assert "no checkpoint" in choice.reason


def test_the_loaded_model_comes_before_any_checkpoint(tmp_path: Path) -> None:
    models = LoadedModels()
    models.put(1, loaded())
    choice = models.choose(1, config(), [on_disk(tmp_path / "5" / "best")])
    assert (choice.origin, choice.checkpoint) == ("loaded", "1/best")


def test_a_loaded_model_that_does_not_fit_makes_way_and_is_named(tmp_path: Path) -> None:
    models = LoadedModels()
    models.put(1, loaded(d_model=8))
    choice = models.choose(1, config(), [on_disk(tmp_path / "5" / "best")])
    assert (choice.origin, choice.checkpoint) == ("checkpoint", "5/best")
    assert "d_model: have 8, want 16" in choice.reason


def test_another_series_or_model_has_its_own(tmp_path: Path) -> None:
    models = LoadedModels()
    models.put(1, loaded())
    assert models.choose(2, config(), []).origin == "fresh"
    assert models.choose(1, config(model="gru"), []).origin == "fresh"


def test_labels_belong_to_the_fit(tmp_path: Path) -> None:
    candidate = on_disk(tmp_path / "5" / "best", labels=("Long", "Short"))
    assert LoadedModels().choose(1, config(), [candidate], ("Long", "Short")).origin == "checkpoint"
    refused = LoadedModels().choose(1, config(), [candidate], ("Up",))
    assert refused.origin == "fresh"
    assert "labels: have ['Long', 'Short'], want ['Up']" in refused.reason
    assert LoadedModels().choose(1, config(), [candidate]).origin == "checkpoint"  # a load knows no labels


def test_a_torn_checkpoint_is_passed_over(tmp_path: Path) -> None:
    torn = Path(on_disk(tmp_path / "6" / "best"))
    (torn / "model.safetensors").write_bytes(b"torn")
    choice = LoadedModels().choose(1, config(), [str(torn), on_disk(tmp_path / "5" / "best")])
    assert choice.checkpoint == "5/best"
    assert "model.safetensors" in choice.reason


def test_a_named_checkpoint_is_taken_or_refused_by_field(tmp_path: Path) -> None:
    named = Path(on_disk(tmp_path / "5" / "best"))
    assert named_checkpoint(named, config()).origin == "checkpoint"
    with pytest.raises(Refused, match="d_model: have 16, want 32; trend_horizon: have 3, want 7"):
        named_checkpoint(named, config(d_model=32, trend_horizon=7))
    with pytest.raises(Refused, match="absent"):
        named_checkpoint(tmp_path / "absent", config())


def test_a_fresh_loaded_model_gives_no_weights_to_start_from() -> None:
    models = LoadedModels()
    models.put(1, as_loaded(Choice(None, "fresh", "test"), config(), 1))
    assert models.choose(1, config(), []).weights is None


def test_runs_share_no_weights() -> None:
    models = LoadedModels()
    models.put(1, loaded())
    start = models.choose(1, config(), []).weights
    assert start is not None
    before = {name: p.clone() for name, p in start.params.items()}
    learner = Learner(config(), Schedule(1.0), params=start.params)
    for parameter in learner._module.parameters():
        parameter.detach().add_(1.0)
    assert all(torch.equal(p, before[name]) for name, p in start.params.items())


def test_the_newest_loaded_model_of_a_series_answers_where_none_is_named() -> None:
    models = LoadedModels()
    models.put(1, loaded(1))
    models.put(1, loaded(2, model="gru"))
    assert models.get(1, None) is models.get(1, "gru")
    models.put(1, loaded(3))
    newest = models.get(1, None)
    assert newest is not None
    assert newest.run_id == 3


def test_discarding_forgets_one_model_or_all_of_a_series() -> None:
    models = LoadedModels()
    for series_id, model in ((1, "gru"), (1, "transformer"), (2, "gru")):
        models.put(series_id, loaded(model=model))
    assert models.discard(1, "gru") == 1
    assert models.get(1, "gru") is None
    assert models.discard(1, None) == 1
    assert models.get(2, None) is not None
