"""What tests of the learning side share."""

from collections.abc import Iterator

import pytest
import torch

from nn import events
from tests.nn.worker_process import Worker


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Compute here with as many threads as the worker of these tests: bits are compared."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    """Give the one worker process of these tests; its start costs seconds. Runs have numbers of their own."""
    with Worker() as one:
        one.until(lambda s: isinstance(s, events.WorkerReady))
        yield one
