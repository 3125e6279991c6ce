"""The cause of a failure in words that help: a refusal in its own, memory with advice, all else as a traceback."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any

import torch

from nn.memory import advice_on

OUT_OF_MEMORY = "out of memory: use a smaller batch_size, sequence_length or d_model, or use_gradient_checkpointing"


def cause_of(error: Exception, run: tuple[str, Mapping[str, Any]] | None = None) -> str:
    """Put a failure in words; with the mode and config of a run, as they came, what saves memory where it ran out."""
    if isinstance(error, ValueError) and type(error).__module__.startswith("nn."):
        return str(error)
    text = "".join(traceback.format_exception(error))
    if not is_scarcity(error):
        return text
    return "\n".join([OUT_OF_MEMORY, *(advice_on(*run) if run is not None else []), text])


def is_scarcity(error: Exception) -> bool:
    """Tell whether memory ran out; torch on a CPU has no exception of its own for it."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)
