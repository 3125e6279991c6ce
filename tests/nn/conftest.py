"""What tests of the learning side share."""

from collections.abc import Iterator

import pytest
import torch

from nn import events
from tests.nn.worker_process import Worker


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of a CUDA card where there is none."""
    if torch.cuda.is_available():
        return
    kept = [item for item in items if item.get_closest_marker("gpu") is None]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


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
