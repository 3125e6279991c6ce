"""The cause of a failure in words that help: a refusal in its own, memory with advice, all else as a traceback."""

from __future__ import annotations

import traceback

import torch

from nn.config import ModelConfig
from nn.memory import advice

OUT_OF_MEMORY = "out of memory: use a smaller batch_size, sequence_length or d_model, or use_gradient_checkpointing"


def cause_of(error: Exception, config: ModelConfig | None = None) -> str:
    """Put a failure in words; of the run's config, where memory ran out, what each change would save."""
    if isinstance(error, ValueError) and type(error).__module__.startswith("nn."):
        return str(error)
    text = "".join(traceback.format_exception(error))
    if not is_scarcity(error):
        return text
    return f"{OUT_OF_MEMORY}\n{advice(config)}\n{text}" if config else f"{OUT_OF_MEMORY}\n{text}"


def is_scarcity(error: Exception) -> bool:
    """Tell whether memory ran out; torch on a CPU has no exception of its own for it."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)
