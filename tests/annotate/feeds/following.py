"""A collector on a loopback exchange, with a memory in the place of the store."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from annotate.feeds.arrivals import Candle
from annotate.feeds.collector import Collector, Pace
from annotate.feeds.gateway import Gateway
from annotate.feeds.health import FeedState
from tests.exchange import LoopbackExchange

START = 1_700_000_000_000
QUICK = Pace(
    patience=0.6, poll=0.1, reconnect=0.3, turn=0.02, tolerance=0.05, doubt=0.05, backoff=0.05, longest_backoff=0.2
)
WAIT_S = 30.0


class Memory:
    """Keeps what it is given; a candle that comes twice must be the same."""

    def __init__(self) -> None:
        self.candles: list[Candle] = []
        self.forming: list[Candle] = []
        self.no_trade: list[tuple[int, int]] = []
        self.times_full = 0

    def store(self, closed: Sequence[Candle]) -> int:
        """Keep candles in the order in which they come; count those that contradict."""
        conflicts = 0
        for candle in closed:
            known = next((each for each in self.candles if each.time == candle.time), None)
            if known is None:
                self.candles.append(candle)
            else:
                conflicts += known != candle
        return conflicts

    def note_no_trade(self, start: int, end: int) -> None:
        """Keep a period without trades."""
        self.no_trade.append((start, end))

    def show_forming(self, candle: Candle) -> None:
        """Keep what was shown."""
        self.forming.append(candle)


class Followed:
    """Collector, memory and the states that it told."""

    def __init__(
        self, exchange: LoopbackExchange, gateway: Gateway, store: Memory | None = None, pace: Pace = QUICK
    ) -> None:
        self.exchange = exchange
        self.memory = store or Memory()
        self.states: list[FeedState] = []
        self.collector = Collector(gateway, self.memory, "1s", self.states.append, pace)

    def begin(self, newest: Candle | None = None, history: int = 3) -> None:
        """Fetch the history and follow."""
        self.collector.prepare(newest, history, threading.Event())
        self.collector.start()

    def end(self) -> None:
        """Stop following."""
        self.collector.close()
        self.collector.join(WAIT_S)

    def words(self) -> list[str]:
        """Give the states told so far, in one word each."""
        return [state.state for state in self.states]

    def wait_until_all_is_stored(self) -> None:
        """Wait until memory and exchange agree on every closed candle since the first that was fetched."""
        wait_for(lambda: self.memory.candles[-1:] == self.exchange.closed[-1:])
        assert self.memory.candles == [c for c in self.exchange.closed if c.time >= self.memory.candles[0].time]


def wait_for(condition: Callable[[], Any]) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "nothing came of it in time"
        time.sleep(0.005)
