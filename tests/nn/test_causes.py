"""What a person reads when a run fails."""

import pytest
import torch

from nn.causes import OUT_OF_MEMORY, cause_of
from nn.config import BatchConfig, ConfigError, LiveConfig


def test_a_refusal_speaks_for_itself() -> None:
    assert cause_of(ConfigError("epochs", 0, "must be at least 1")) == "epochs = 0: must be at least 1"


def test_a_mistake_of_ours_keeps_its_traceback() -> None:
    assert cause_of(ValueError("of another library")).startswith("ValueError: of another library")


def too_much() -> None:
    torch.empty(1 << 60, dtype=torch.uint8)


def test_a_lack_of_memory_comes_with_advice() -> None:
    with pytest.raises(RuntimeError) as met:
        too_much()
    said = cause_of(met.value)
    assert said.startswith(OUT_OF_MEMORY)
    assert "too_much" in said
    assert cause_of(MemoryError()).startswith(OUT_OF_MEMORY)
    for given in (BatchConfig(accumulate=2).to_json(), LiveConfig(batch_size=64).to_json(), {"shuffled_runs": 9}):
        assert "d_model = 32 saves about" in cause_of(met.value, given)
    assert "accumulate = 4 saves about" in cause_of(met.value, BatchConfig(accumulate=2).to_json())
    assert cause_of(MemoryError(), {"d_model": "wide"}).startswith(OUT_OF_MEMORY)
    assert not cause_of(RuntimeError("shapes differ")).startswith(OUT_OF_MEMORY)
