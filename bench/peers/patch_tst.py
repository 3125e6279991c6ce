"""Hugging Face's PatchTST under its Trainer on windows of 200 candles in 5 channels: windows a CPU second."""

from __future__ import annotations

import sys
import tempfile
from typing import Any

import torch
from transformers import (  # type: ignore[import-not-found]
    PatchTSTConfig,
    PatchTSTForClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from bench.peers.rounds import WARM_UP, StepClock, answer

CHANNELS, WINDOW, CLASSES, WINDOWS, STEPS = 5, 200, 5, 16, 6


class Timing(TrainerCallback):  # type: ignore[misc]
    """Tells a clock of each step."""

    def __init__(self, clock: StepClock) -> None:
        self.clock = clock

    def on_step_end(self, args: Any, state: Any, control: Any, **_rest: Any) -> None:  # noqa: ARG002 - its signature
        """Note the step."""
        self.clock.stepped(state.global_step)


def main(d_model: int, patch: int) -> None:
    """Measure at this width, one token for `patch` candles of a channel."""
    torch.set_num_threads(1)
    draw = torch.Generator().manual_seed(1)
    windows = [
        {
            "past_values": torch.randn(WINDOW, CHANNELS, generator=draw),
            "target_values": torch.randint(CLASSES, (), generator=draw),
        }
        for _ in range(WINDOWS * (WARM_UP + STEPS))
    ]
    with tempfile.TemporaryDirectory() as folder:
        answer(lambda: _rate(windows, d_model, patch, folder))


def _rate(windows: list[dict[str, torch.Tensor]], d_model: int, patch: int, folder: str) -> float:
    config = PatchTSTConfig(
        num_input_channels=CHANNELS,
        context_length=WINDOW,
        patch_length=patch,
        patch_stride=patch,
        num_targets=CLASSES,
        d_model=d_model,
        num_hidden_layers=2,
        num_attention_heads=4,
        ffn_dim=4 * d_model,
        ff_dropout=0.1,
        path_dropout=0.1,
        attention_dropout=0.0,
        use_cls_token=True,
    )
    given = TrainingArguments(
        output_dir=folder,
        use_cpu=True,
        per_device_train_batch_size=WINDOWS,
        max_steps=WARM_UP + STEPS,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
    )
    clock = StepClock()
    Trainer(PatchTSTForClassification(config), given, train_dataset=windows, callbacks=[Timing(clock)]).train()
    return WINDOWS * STEPS / clock.seconds()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
