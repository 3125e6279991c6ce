"""neuralforecast's VanillaTransformer on windows of 200 candles: windows a CPU second of its own training loop."""

from __future__ import annotations

import logging
import sys
from typing import Any

import numpy as np
import pandas as pd
import torch
from neuralforecast import NeuralForecast  # type: ignore[import-not-found]
from neuralforecast.models import VanillaTransformer  # type: ignore[import-not-found]
from pytorch_lightning.callbacks import Callback  # type: ignore[import-not-found]

from bench.peers.rounds import WARM_UP, StepClock, answer

ROWS, WINDOW, HORIZON, WINDOWS, STEPS = 20_000, 200, 5, 16, 6
clock = StepClock()  # of this program; the library copies its callbacks


class Timing(Callback):  # type: ignore[misc]
    """Tells the clock of each step."""

    def on_train_batch_end(self, trainer: Any, *_rest: Any) -> None:
        """Note the step."""
        clock.stepped(trainer.global_step)


def main(d_model: int) -> None:
    """Measure at this width."""
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    closes = np.random.default_rng(1).standard_normal(ROWS).cumsum()
    times = pd.date_range("2020-01-01", periods=ROWS, freq="s")
    series = pd.DataFrame({"unique_id": "a", "ds": times, "y": closes})
    answer(lambda: _rate(series, d_model))


def _rate(series: pd.DataFrame, d_model: int) -> float:
    model = VanillaTransformer(
        h=HORIZON,
        input_size=WINDOW,
        hidden_size=d_model,
        n_head=4,
        encoder_layers=2,
        decoder_layers=1,
        conv_hidden_size=4 * d_model,
        dropout=0.1,
        max_steps=WARM_UP + STEPS,
        batch_size=1,
        windows_batch_size=WINDOWS,
        accelerator="cpu",
        callbacks=[Timing()],
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
    )
    NeuralForecast(models=[model], freq="s").fit(series)
    return WINDOWS * STEPS / clock.seconds()


if __name__ == "__main__":
    main(int(sys.argv[1]))
