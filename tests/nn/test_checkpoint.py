"""Checkpoints: the same bits come back; what is torn, crafted or of another shape is refused and runs nothing."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from nn import checkpoint
from nn.checkpoint import CheckpointError, Mismatch, Weights, load, load_state, mismatches, save, weights_of
from nn.config import BatchConfig, LiveConfig, ModelConfig
from nn.features import FEATURES
from nn.learner import Learner, Schedule
from nn.targets import Edges, head_classes
from nn.windows import noise

CONFIG = ModelConfig(d_model=8, n_layers=1, n_heads=2, sequence_length=16, batch_size=2)
LABELS = ("Long", "Short")
EDGES = Edges((-2.0, -1.0, 1.0, 2.0), (1.0, 2.0, 3.0, 4.0), "test")


class Poison:
    """An object whose unpickling writes a file."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.trace,)


@pytest.fixture
def learner() -> Learner:
    learner = Learner(CONFIG, Schedule(1e-3), labels=LABELS, edges=EDGES)
    learner.step(noise(CONFIG, head_classes(LABELS)), learnt_to=77)
    return learner


@pytest.fixture
def folder(tmp_path: Path, learner: Learner) -> Path:
    save(tmp_path / "last", kept(learner), learner.state())
    return tmp_path / "last"


def test_what_was_saved_comes_back_bit_for_bit(folder: Path, learner: Learner) -> None:
    loaded, published = load(folder), learner.publish()
    assert all(torch.equal(loaded.params[name], p) for name, p in published.params.items())
    assert loaded.meta == kept(learner).meta
    assert (loaded.meta.data_cut, loaded.meta.step, loaded.meta.edges) == (77, 1, EDGES)
    assert load_state(folder)["steps"] == 1


@pytest.mark.parametrize("config", [BatchConfig(epochs=3), LiveConfig(learn_every=2)])
def test_the_config_of_any_run_can_be_kept_and_read_as_a_model(tmp_path: Path, config: ModelConfig) -> None:
    learner = Learner(config, Schedule(1e-3))
    save(tmp_path / "best", weights_of(learner.publish(), symbol="S", timeframe="1m", threads=1))
    assert not mismatches(load(tmp_path / "best").meta, config, ())


def test_a_later_save_replaces_an_earlier_one_and_leaves_nothing_beside_it(folder: Path, learner: Learner) -> None:
    learner.step(noise(CONFIG, head_classes(LABELS)))
    save(folder, kept(learner))
    assert load(folder).meta.step == 2
    assert sorted(path.name for path in folder.parent.iterdir()) == ["last"]
    assert sorted(path.name for path in folder.iterdir()) == ["meta.json", "model.safetensors"]


def test_a_crash_between_the_two_renames_loses_nothing(folder: Path, learner: Learner) -> None:
    folder.rename(folder.with_name("last.old"))
    assert checkpoint.exists(folder)
    assert load(folder).meta.step == 1
    save(folder, kept(learner))
    assert load(folder).meta.step == 1
    assert sorted(path.name for path in folder.parent.iterdir()) == ["last"]


def test_a_crash_while_the_new_files_are_written_leaves_the_old_ones(folder: Path) -> None:
    half = folder.with_name("last.new")
    half.mkdir()
    (half / "model.safetensors").write_bytes(b"half")
    assert load(folder).meta.step == 1


@pytest.mark.parametrize("name", ["model.safetensors", "meta.json"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_torn_file_is_refused_by_its_name(folder: Path, name: str, share: float) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: int(len(content) * share)])
    with pytest.raises(CheckpointError, match=name):
        load(folder)


@pytest.mark.parametrize("forged", [False, True], ids=["torn", "torn and vouched for"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_torn_state_is_refused(folder: Path, share: float, forged: bool) -> None:
    content = (folder / "state.pt").read_bytes()
    (folder / "state.pt").write_bytes(content[: int(len(content) * share)])
    if forged:
        rehash(folder)
    with pytest.raises(CheckpointError, match=r"state\.pt"):
        load_state(folder)


@pytest.mark.parametrize("of_then", [{"state_sha256": None}, {"features": ["return", "body"]}])
def test_a_state_of_an_earlier_version_is_called_so(folder: Path, of_then: dict[str, Any]) -> None:
    meta = json.loads((folder / "meta.json").read_text()) | of_then
    (folder / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(CheckpointError, match="kept by an earlier version, it cannot be resumed; start a new run"):
        load_state(folder)


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    assert not checkpoint.exists(tmp_path / "none")
    with pytest.raises(CheckpointError, match=r"meta\.json"):
        load(tmp_path / "none")


def test_a_state_that_would_run_code_is_refused_and_runs_nothing(folder: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    torch.save({"learner": Poison(trace)}, folder / "state.pt")
    with pytest.raises(CheckpointError, match="not the file"):
        load_state(folder)
    rehash(folder)
    with pytest.raises(CheckpointError):
        load_state(folder)
    (folder / "state.pt").write_bytes(pickle.dumps(Poison(trace)))
    rehash(folder)
    with pytest.raises(CheckpointError):
        load_state(folder)
    assert not trace.exists()
    pickle.loads(pickle.dumps(Poison(trace)))  # the control: this is what unpickling would have done
    assert trace.exists()


def test_a_pickle_in_place_of_the_weights_is_refused_and_runs_nothing(folder: Path, tmp_path: Path) -> None:
    content = pickle.dumps(Poison(tmp_path / "trace"))
    (folder / "model.safetensors").write_bytes(content)
    rehash(folder)
    with pytest.raises(CheckpointError, match=r"model\.safetensors"):
        load(folder)
    assert not (tmp_path / "trace").exists()


def test_a_state_that_unpacks_to_more_than_a_run_can_hold_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(folder / "state.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", b"\0" * 5_000_000)
    rehash(folder)
    monkeypatch.setattr(checkpoint, "MAX_STATE_BYTES", 1_000_000)
    with pytest.raises(CheckpointError, match="5000000 bytes"):
        load_state(folder)


def test_a_file_larger_than_its_config_makes_it_is_not_read(folder: Path) -> None:
    with (folder / "model.safetensors").open("ab") as file:
        file.truncate(3 << 20)
    with pytest.raises(CheckpointError, match="3145728 bytes; at most"):
        load(folder)


@pytest.mark.parametrize("change", ["shape", "missing", "more", "dtype", "nan"])
def test_tensors_that_the_config_does_not_make_are_refused_by_name(folder: Path, change: str) -> None:
    params = dict(load(folder).params)
    name = "input.mix.weight"
    changed = {
        "shape": {name: torch.zeros(3, 3)},
        "missing": {},
        "more": {name: params[name], "stranger": torch.zeros(1)},
        "dtype": {name: params[name].half()},
        "nan": {name: params[name] * float("nan")},
    }[change]
    del params[name]
    save_file(params | changed, folder / "model.safetensors")
    rehash(folder)
    with pytest.raises(CheckpointError, match=r"stranger" if change == "more" else r"input\.mix\.weight"):
        load(folder)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", 9), ("config", {"d_model": 7}), ("config", []), ("labels", "Long"), ("features", None),
        ("edges", {"candle": [1], "range": [], "source": ""}), ("step", "many"), ("data_cut", []), ("metrics", 3),
    ],
)  # fmt: skip
def test_a_meta_file_with_a_wrong_field_is_refused(folder: Path, field: str, value: object) -> None:
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps(meta | {field: value}))
    with pytest.raises(CheckpointError, match=r"meta\.json"):
        load(folder)


def test_a_meta_file_nested_without_end_is_refused(folder: Path) -> None:
    (folder / "meta.json").write_text("[" * 100_000)
    with pytest.raises(CheckpointError, match=r"meta\.json"):
        load(folder)


def test_weights_are_refused_field_by_field(folder: Path) -> None:
    meta = load(folder).meta
    assert mismatches(meta, CONFIG, LABELS) == []
    wanted = dataclasses.replace(CONFIG, d_model=16, sequence_length=32, dropout=0.5)
    assert mismatches(meta, wanted, ("Long",), FEATURES[:2]) == [
        Mismatch("d_model", 8, 16),
        Mismatch("sequence_length", 16, 32),
        Mismatch("features", list(FEATURES), list(FEATURES[:2])),
        Mismatch("labels", ["Long", "Short"], ["Long"]),
    ]


def kept(learner: Learner) -> Weights:
    weights = weights_of(learner.publish(), symbol="TEST/USDT", timeframe="1m", threads=1, metrics={"loss": 1.5})
    return Weights(weights.params, dataclasses.replace(weights.meta, created_ms=5))


def rehash(folder: Path) -> None:
    """Let the meta file vouch for the files as they are now, as a forger would."""
    meta = json.loads((folder / "meta.json").read_text())
    for field, name in (("sha256", "model.safetensors"), ("state_sha256", "state.pt")):
        if (folder / name).exists():
            meta[field] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "meta.json").write_text(json.dumps(meta))
