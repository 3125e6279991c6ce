"""`python -m nn`: the lines of the page in a terminal, and bad input said with exit code 2."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nn.__main__ import main
from nn.checkpoint import load
from tests.nn.live_market import dataset, market

FIELDS = {
    "d_model": 16, "n_layers": 1, "n_heads": 2, "sequence_length": 24, "trend_horizon": 3,
    "batch_size": 8, "stride": 8, "epochs": 2, "threads": 1, "device": "cpu",
}  # fmt: skip
SMALL = [f"--{name}={value}" for name, value in FIELDS.items()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dataset(tmp_path_factory.mktemp("dataset") / "set", market(700), labels=("Long",))


def test_it_trains_and_prints_the_known_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(folder), *SMALL]) == 0
    lines = capsys.readouterr().out.splitlines()
    batches = [line for line in lines if line.startswith("Batch ")]
    assert all(re.fullmatch(BATCH, line) for line in batches)
    epochs = [line for line in lines if line.startswith("Epoch ")]
    assert [re.fullmatch(EPOCH, line) is not None for line in epochs] == [True, True]
    assert len(batches) == sum(int(line.split("(")[1].split()[0]) for line in epochs)
    assert any(line.startswith("  validation candle: ") and "majority" in line for line in lines)
    assert [line.split(":")[0] for line in lines if line.startswith("  test ")] == [
        "  test candle", "  test trend", "  test range",
    ]  # fmt: skip
    assert lines[-1].startswith("finished: ")


BATCH = r"Batch \d+/\d+, Loss: \d+\.\d{3}, Candle Acc: \d+\.\d%, Trend Acc: \d+\.\d%"
EPOCH = r"Epoch [12]/2, Loss: \d+\.\d{3}, Accuracy: \d+\.\d\d% \(\d+ batches\)"


def test_the_same_command_prints_the_same_figures_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for _ in range(2):
        main(["fit", str(folder), *SMALL, "--seed=3"])
        printed.append([line for line in capsys.readouterr().out.splitlines() if line.startswith(("Batch", "Epoch"))])
    assert printed[0] == printed[1]


def test_checkpoints_are_kept_where_it_is_told_to_and_resume_finds_them(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = f"--checkpoints={tmp_path / 'kept'}"
    assert main(["fit", str(folder), *SMALL, kept]) == 0
    assert load(tmp_path / "kept" / "best").meta.symbol == "TEST/USDT"
    assert main(["fit", str(folder), *SMALL, kept, "--resume"]) == 0
    assert "resumed at step" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--epochs=nan"], "epochs = "),
        (["--epochs=0"], "epochs = 0: must be from 1"),
        (["--d_model=30", "--n_heads=4"], "n_heads = 4: must divide d_model = 30"),
        (["--learning_rate=NaN"], "learning_rate = nan: must be from"),
        (['--heads={"candel": 1}'], "use candle, trend, range, label"),
        (["--split=70/15"], "three shares such as 70/15/15"),
        (["--sequence_length=5000"], "sequence_length = 5000: lower it"),
        (["--resume"], "--checkpoints"),
    ],
)
def test_a_bad_value_is_named_and_ends_with_2(
    folder: Path, capsys: pytest.CaptureFixture[str], given: list[str], message: str
) -> None:
    assert main(["fit", str(folder), *given]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err


def test_a_folder_that_is_no_dataset_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(tmp_path / "none")]) == 2
    assert str(tmp_path / "none") in capsys.readouterr().err


def test_an_unknown_field_ends_with_2(folder: Path) -> None:
    with pytest.raises(SystemExit) as end:
        main(["fit", str(folder), "--epoch=3"])
    assert end.value.code == 2


def test_split_and_heads_are_read_as_they_are_written_elsewhere(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(folder), *SMALL, "--split=80/20/0", '--heads={"range": 0, "label": 0}']) == 0
    assert "validation range" not in capsys.readouterr().out


def test_the_audits_say_each_finding_and_end_with_their_verdict(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["leaks", str(folder), *SMALL]) == 0
    *findings, verdict = capsys.readouterr().out.splitlines()
    assert len([line for line in findings if re.match(r"Leak check \w+: passed: ", line)]) == 9
    assert verdict == "no leak found"
    code = main(["skill", str(folder), *SMALL, "--epochs=1", "--stride=100", "--d_model=8"])
    *epochs, verdict = capsys.readouterr().out.splitlines()
    assert len([line for line in epochs if line.startswith(("Real targets, epoch 1/1", "Shuffled "))]) == 9
    told, _, words = verdict.partition(": ")
    assert (told, code) in [("skill", 0), ("no skill", 1)]
    assert words.startswith("validation loss ")


def test_help_names_every_field_with_its_default() -> None:
    shown = subprocess.run([sys.executable, "-m", "nn", "fit", "--help"], capture_output=True, text=True, check=True)
    for name in ("--epochs", "--use_amp", "--heads", "--shuffle_targets"):
        assert name in shown.stdout
    assert json.dumps(0.002) in shown.stdout
