"""Decides which candles of an exchange are final: in order, each once, nothing left out. Pure; no clock, no socket.

A candle is final when the exchange's stream says so, when REST gives it together with a later one, or when the
exchange's own clock is past its close. What stands before the frontier is settled for good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from annotate.feeds.arrivals import Candle, is_aligned
from annotate.feeds.messages import Update
from annotate.timeframe import close_of, parse

GRACE_MS = 6_000  # after its close, before the clock alone makes a candle final; more than two clocks may differ
MOST_PENDING = 10_000  # candles that wait for those before them; what is beyond is read again by REST


@dataclass(frozen=True, slots=True)
class Settled:
    """What an update or a page came to."""

    final: list[Candle] = field(default_factory=list)  # in order, to be stored
    again: Candle | None = None  # a closed candle before the frontier, to be compared with what is stored
    no_trade: list[tuple[int, int]] = field(default_factory=list)  # [start, end) without trades, each up to a candle


class Assembler:
    """Puts a stream and REST pages together. `frontier` is the open time of the first candle that is not settled."""

    def __init__(self, timeframe: str, frontier: int) -> None:
        self.frontier = frontier
        self.begun = frontier  # open time of the newest candle that is known to have begun
        self.forming: Candle | None = None
        self.no_trade = 0  # periods that the exchange left out, twice asked
        self.misaligned = 0  # messages whose time opens no candle
        self._timeframe = timeframe
        self._start = frontier
        self._pending: dict[int, Candle] = {}  # said to be closed, at or after the frontier
        self._doubted: int | None = None  # where the last page had a hole

    def update(self, update: Update) -> Settled:
        """Take what the stream said."""
        candle = update.candle
        if not is_aligned(candle.time, self._timeframe):
            self.misaligned += 1
            return Settled()
        if candle.time < self.frontier:
            # One from before this feed has a wrong date, as after a clock jumped: nobody asked for such a candle.
            return Settled(again=candle if update.closed and candle.time >= self._start else None)
        if update.closed:
            if len(self._pending) < MOST_PENDING:
                self._pending[candle.time] = candle
        elif candle.time >= self.begun and candle.time not in self._pending:
            self.forming = candle
        self.begun = max(self.begun, candle.time)
        return Settled(self._drain())

    def page(self, rows: Sequence[Candle], now: int | None, *, is_newest: bool) -> Settled:
        """Take what REST gave, in order of time, from the frontier on.

        `now` is the exchange's clock from before the question, ms UTC; None where it is not to be trusted. With
        `is_newest` the page reaches the newest candle that the exchange has.
        """
        rows = [row for row in rows if row.time >= self.frontier and is_aligned(row.time, self._timeframe)]
        final: list[Candle] = []
        no_trade: list[tuple[int, int]] = []
        for row in rows:
            final += self._drain()
            if row.time < self.frontier:
                continue
            hole = self.frontier
            is_next = row.time == hole or self._is_empty_up_to(row.time)
            if self.frontier > hole:
                no_trade.append((hole, self.frontier))
            if not is_next:
                break
            if not (row.time < rows[-1].time or self._is_over(row, now)):
                break
            final.append(row)
            self._settle()
        final += self._drain()
        if is_newest and rows:
            self._believe(rows[-1].time)
        return Settled(final, no_trade=no_trade)

    def doubts(self) -> bool:
        """Tell whether the last page had a hole at the frontier, which is to be read once more."""
        return self._doubted == self.frontier

    def missing(self) -> bool:
        """Tell whether something from the frontier on has to be asked for by REST."""
        return self.begun > self.frontier or bool(self._pending)

    def missing_count(self) -> int:
        """Count the candles that are known to have begun after the frontier."""
        return max(0, self.begun - self.frontier) // parse(self._timeframe)

    def _is_empty_up_to(self, time: int) -> bool:
        """Say whether the exchange left out what stands before `time`: only where it did so twice."""
        empty_until = min([time, *(pending for pending in self._pending if pending > self.frontier)])
        if self._doubted != self.frontier:
            self._doubted = self.frontier
            return False
        while self.frontier < empty_until:
            self.no_trade += 1
            self._settle()
        return empty_until == time

    def _is_over(self, row: Candle, now: int | None) -> bool:
        return now is not None and close_of(row.time, self._timeframe) + GRACE_MS <= now

    def _believe(self, newest: int) -> None:
        """Go by REST: a message of a time beyond the newest candle that the exchange has was no word of a candle."""
        self.begun = max(self.frontier, newest)
        self._pending = {time: candle for time, candle in self._pending.items() if time <= self.begun}
        if self.forming is not None and self.forming.time > self.begun:
            self.forming = None

    def _settle(self) -> None:
        self._pending.pop(self.frontier, None)
        self.frontier = close_of(self.frontier, self._timeframe)
        self.begun = max(self.begun, self.frontier)
        if self.forming is not None and self.forming.time < self.frontier:
            self.forming = None

    def _drain(self) -> list[Candle]:
        final = []
        while (candle := self._pending.get(self.frontier)) is not None:
            final.append(candle)
            self._settle()
        return final
