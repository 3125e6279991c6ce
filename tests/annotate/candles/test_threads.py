"""Many readers while one writer appends and folds: every answer is a whole, earlier state."""

from __future__ import annotations

import threading
from collections.abc import Callable

from annotate.candles import Candles, aggregate
from tests.annotate.candles.builders import Shelf, random_candles, rows_of

READERS = 8


def test_eight_readers_see_only_whole_states_while_candles_arrive(shelf: Shelf) -> None:
    candles = random_candles(15_000, "1s", kept=0.5)
    series_id = shelf.series(candles.slice(0, 3_000), "1s")
    hours = {len(part): rows_of(aggregate(part, "1h")) for part in _prefixes(candles, 3_000, 1_000)}
    seen: list[int] = []

    def read() -> None:
        stored = shelf.store.read(series_id)
        assert len(stored) in hours
        assert stored.close.tolist() == candles.close[: len(stored)].tolist()
        assert rows_of(shelf.store.window(series_id, None, None, "1h", 100).candles) in hours.values()
        seen.append(len(stored))

    def append() -> None:
        for start in range(3_000, len(candles), 1_000):
            assert shelf.store.append(series_id, candles.slice(start, start + 1_000)) == 1_000

    _together(read, append)
    assert len(set(seen)) > 1
    assert rows_of(shelf.store.read(series_id)) == rows_of(candles)


def test_appends_from_several_threads_store_each_candle_once(shelf: Shelf) -> None:
    candles = random_candles(200)
    series_id = shelf.series(Candles.empty())
    stored: list[int] = []

    def append() -> None:
        for row in range(0, 200, 10):
            stored.append(shelf.store.append(series_id, candles.slice(0, row + 10)))

    threads = [threading.Thread(target=append) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(stored) == 200
    assert rows_of(shelf.store.read(series_id)) == rows_of(candles)


def _prefixes(candles: Candles, start: int, step: int) -> list[Candles]:
    return [candles.slice(0, rows) for rows in range(start, len(candles) + 1, step)]


def _together(read: Callable[[], None], write: Callable[[], None]) -> None:
    failures: list[BaseException] = []
    done = threading.Event()

    def reading() -> None:
        try:
            while not done.is_set():
                read()
        except BaseException as error:  # noqa: BLE001  # a thread's failure must reach the test
            failures.append(error)

    threads = [threading.Thread(target=reading) for _ in range(READERS)]
    for thread in threads:
        thread.start()
    try:
        write()
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert failures == []
