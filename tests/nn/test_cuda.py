"""What only a CUDA card can show; collected where there is one, and nowhere else."""

from __future__ import annotations

import torch

if torch.cuda.is_available():
    import dataclasses

    import pytest

    from nn.check import gradient_error, peak_bytes
    from nn.config import MODELS, ModelConfig
    from nn.device import choose
    from nn.learner import Learner, Schedule
    from nn.targets import head_classes
    from nn.windows import noise

    # A GRU's weights are plain parameters, which cuDNN lays side by side at each call, and says so.
    pytestmark = pytest.mark.filterwarnings("ignore:RNN module weights are not part of single contiguous chunk")

    @pytest.mark.gpu
    @pytest.mark.parametrize("model", MODELS)
    @pytest.mark.parametrize(("use_amp", "within"), [(False, 1e-3), (True, 5e-2)])
    def test_a_gradient_on_the_card_is_that_of_float64_on_a_cpu(model: str, use_amp: bool, within: float) -> None:
        config = ModelConfig(model=model, use_amp=use_amp)
        # cuDNN multiplies a GRU's float32 in TF32, which rounds to 10 bits.
        most = max(within, 5e-3) if model == "gru" else within
        assert gradient_error(config, choose("cuda", use_amp=use_amp)) <= most

    @pytest.mark.gpu
    @pytest.mark.parametrize("model", MODELS)
    def test_twenty_steps_on_the_card_lower_the_loss_and_skip_none(model: str) -> None:
        config = ModelConfig(model=model, dropout=0.0)
        learner, batch = Learner(config, Schedule(3e-3), device="cuda"), noise(config, head_classes(()), "cuda")
        results = [learner.step(batch) for _ in range(20)]
        assert learner.skipped == 0
        assert results[-1].loss < results[0].loss

    @pytest.mark.gpu
    def test_gradient_checkpointing_saves_memory_on_the_card() -> None:
        on, off = peak_bytes(dataclasses.replace(ModelConfig(), n_layers=4), "cuda")
        assert on < 0.7 * off
