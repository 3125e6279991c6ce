"""Windows for NumPy and PyTorch: the model's own features, ending with the candle they answer for."""

from __future__ import annotations

import io
import json
import struct

import numpy as np
import pytest
from safetensors.numpy import load

from annotate.errors import InvalidInput
from annotate.exporting import windows
from nn.dataset_dir import Candles
from nn.features import FEATURES, compute
from tests.annotate.annotations.builders import HOUR, START, candles_at, every, span, trade
from tests.annotate.exporting.builders import dataset_of, exported, hours, plain

T = 12


def npz(files: dict[str, bytes]) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(files["windows.npz"]), allow_pickle=False) as held:
        return dict(held)


def test_each_window_holds_the_features_that_the_model_sees_and_ends_with_its_candle() -> None:
    dataset = dataset_of([span(20, 30), trade(40, 50, side="short")])
    held = npz(exported(dataset, "windows_npz", sequence_length=T, stride=1))
    rows = compute(dataset.candles).rows
    ends = [(int(time) - START) // HOUR for time in held["train_time"]]
    assert ends == list(range(T - 1, 65))
    assert np.array_equal(held["train_x"], np.stack([rows[end - T + 1 : end + 1] for end in ends]))
    assert held["train_label_0"].tolist() == [0 if 20 <= end < 30 else -1 for end in ends]
    assert [end for end, side in zip(ends, held["train_entry"], strict=True) if side == -1] == [40]
    assert held["features"].tolist() == list(FEATURES)
    assert held["classes_0"].tolist() == ["Long", "Short", "Range", "Noise"]


def test_safetensors_holds_the_same_arrays_and_its_library_reads_them() -> None:
    dataset = dataset_of([span(20, 30)])
    files = exported(dataset, "windows_safetensors", sequence_length=T, stride=3)
    held, same = load(files["windows.safetensors"]), npz(exported(dataset, "windows_npz", sequence_length=T, stride=3))
    assert set(held) == set(same) - {"features", "layers", "classes_0"}
    for name, array in held.items():
        assert array.dtype == same[name].dtype
        assert np.array_equal(array, same[name])
    size = struct.unpack("<Q", files["windows.safetensors"][:8])[0]
    names = json.loads(files["windows.safetensors"][8 : 8 + size])["__metadata__"]
    assert json.loads(names["features"]) == list(FEATURES)


def test_no_window_crosses_a_gap() -> None:
    times = every("1h", 40) + every("1h", 60, START + 50 * HOUR)
    held = npz(exported(dataset_of([], plain(candles_at(times))), "windows_npz", sequence_length=T, stride=1))
    ends = [(int(time) - START) // HOUR for time in held["train_time"]]
    assert set(ends) & set(range(50, 50 + T - 1)) == set()
    assert 39 in ends
    assert 50 + T - 1 in ends


def test_a_purged_mark_answers_for_nothing() -> None:
    held = npz(exported(dataset_of([span(60, 75)]), "windows_npz", sequence_length=T, stride=1))
    assert set(held["train_label_0"].tolist()) == {-1}


def test_features_computed_in_blocks_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = npz(exported(dataset_of([]), "windows_npz", sequence_length=T, stride=1))
    monkeypatch.setattr(windows, "COMPUTED_ROWS", 7)
    monkeypatch.setattr(windows, "BLOCK_WINDOWS", 5)
    blocks = npz(exported(dataset_of([]), "windows_npz", sequence_length=T, stride=1))
    assert whole["train_x"].tobytes() == blocks["train_x"].tobytes()


def test_windows_that_would_fill_the_disk_are_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "MOST_BYTES", 1000)
    with pytest.raises(InvalidInput, match="raise the stride"):
        exported(dataset_of([]), "windows_npz", sequence_length=T)


def test_a_series_shorter_than_a_window_gives_empty_arrays() -> None:
    short: Candles = hours(20)
    held = npz(exported(dataset_of([], short), "windows_npz", sequence_length=50))
    assert held["train_x"].shape == (0, 50, len(FEATURES))
