"""The predecessor's two failures, made to happen: run as a child process, since the race can crash an interpreter.

`python -m tests.nn.old_ways two_threads` and `python -m tests.nn.old_ways mode_flip` print the error that they meet.
"""

import sys
import threading

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from nn.config import ModelConfig
from nn.features import FEATURES
from nn.models import build
from nn.targets import head_classes

LENGTH, PATIENCE_S = 24, 30


def network(**changes: float | bool) -> nn.Module:
    config = ModelConfig.from_json(
        {"d_model": 16, "n_layers": 2, "n_heads": 2, "sequence_length": LENGTH, "dropout": 0.1} | changes
    )
    return build(config, head_classes(()))


def loss_of(module: nn.Module) -> Tensor:
    x = torch.randn(1, LENGTH, len(FEATURES), generator=torch.Generator().manual_seed(0))
    logits: Tensor = module(x)["candle"]
    return F.cross_entropy(logits.flatten(0, 1), torch.zeros(LENGTH, dtype=torch.int64))


def two_threads() -> None:
    """Batch training and per-candle training share one module: a step lands between a forward and its backward."""
    module = network().train()
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3, fused=False)
    before_backward, stepped = threading.Barrier(2), threading.Barrier(2)
    errors: list[BaseException] = []

    def batch_training() -> None:
        loss = loss_of(module)
        before_backward.wait(PATIENCE_S)
        stepped.wait(PATIENCE_S)
        try:
            loss.backward()  # type: ignore[no-untyped-call]
        except RuntimeError as error:
            errors.append(error)

    def candle_training() -> None:
        loss_of(module).backward()  # type: ignore[no-untyped-call]
        before_backward.wait(PATIENCE_S)
        optimizer.step()
        optimizer.step()
        stepped.wait(PATIENCE_S)

    _together(batch_training, candle_training)
    _report(errors)


def mode_flip() -> None:
    """Inference switches the shared module to eval between a checkpointed forward and its recomputation."""
    module = network(use_gradient_checkpointing=True).train()
    before_backward, flipped = threading.Barrier(2), threading.Barrier(2)
    errors: list[BaseException] = []

    def training() -> None:
        loss = loss_of(module)
        before_backward.wait(PATIENCE_S)
        flipped.wait(PATIENCE_S)
        try:
            loss.backward()  # type: ignore[no-untyped-call]
        except RuntimeError as error:  # torch's CheckpointError is one
            errors.append(error)

    def inference() -> None:
        before_backward.wait(PATIENCE_S)
        module.eval()
        flipped.wait(PATIENCE_S)

    _together(training, inference)
    _report(errors)


def _together(*work: object) -> None:
    threads = [threading.Thread(target=target) for target in work]  # type: ignore[arg-type]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _report(errors: list[BaseException]) -> None:
    for error in errors:
        print(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    {"two_threads": two_threads, "mode_flip": mode_flip}[sys.argv[1]]()
