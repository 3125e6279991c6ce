"""What a person reads when a run fails."""

from typing import Any

import pytest
import torch

from nn.causes import OUT_OF_MEMORY, cause_of
from nn.config import BatchConfig, ConfigError

Json = dict[str, Any]


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
    parts = BatchConfig(accumulate=2).to_json()
    runs: list[tuple[str, Json]] = [("batch", parts), ("live", {"batch_size": 64}), ("skill", {"shuffled_runs": 9})]
    for run in runs:
        assert "d_model = 32 saves about" in cause_of(met.value, run)
    assert "accumulate = 4 saves about" in cause_of(met.value, ("batch", parts))
    assert "batch_size = 2 saves about" in cause_of(met.value, ("live", {}))  # half of a live run's own 4
    assert cause_of(MemoryError(), ("load", {"d_model": "wide"})).startswith(OUT_OF_MEMORY)
    assert not cause_of(RuntimeError("shapes differ")).startswith(OUT_OF_MEMORY)
