"""What tests of the learning side share."""

from collections.abc import Iterator

import pytest

from nn import events
from tests.nn.worker_process import Worker


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    """Give the one worker process of these tests; its start costs seconds. Runs have numbers of their own."""
    with Worker() as one:
        one.until(lambda s: isinstance(s, events.WorkerReady))
        yield one
