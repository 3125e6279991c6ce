"""Whatever a stream and REST do, what is final is what closed at the exchange: none lost, doubled or still forming."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from annotate.feeds.arrivals import Candle
from annotate.feeds.assembler import Assembler
from annotate.feeds.messages import Update

SECOND = 1000
START = 1_700_000_000_000


@dataclass
class Market:
    """The truth: candles of a second, some periods without a trade."""

    open_time: int = START
    closed: list[Candle] = field(default_factory=list)
    forming: Candle | None = None
    trades: int = 0

    def trade(self) -> Update:
        self.trades += 1
        price = 100.0 + self.trades % 17
        volume = (self.forming.volume or 0.0) if self.forming else 0.0
        opened = self.forming.open if self.forming else price
        self.forming = Candle(self.open_time, opened, 200.0, 50.0, price, volume + 1)
        return Update(self.forming, closed=False)

    def close(self) -> Update | None:
        closed, self.forming = self.forming, None
        self.open_time += SECOND
        if closed is None:
            return None
        self.closed.append(closed)
        return Update(closed, closed=True)

    def rows(self, since: int, limit: int) -> list[Candle]:
        known = [*self.closed, *([self.forming] if self.forming else [])]
        return [row for row in known if row.time >= since][:limit]


def candle(number: int, close: float = 100.0) -> Candle:
    return Candle(START + number * SECOND, 100.0, 200.0, 50.0, close, 1.0)


class AnyExchange(RuleBasedStateMachine):
    """Messages may be lost, doubled, late, swapped or false; pages may arrive late; clocks may be off or unknown."""

    kind: ClassVar[type[Assembler]] = Assembler

    def __init__(self) -> None:
        super().__init__()
        self.market, self.assembler = Market(), self.kind("1s", START)
        self.wire: list[Update] = []
        self.pages: list[tuple[list[Candle], int | None, bool]] = []  # read by the exchange, on their way
        self.final: list[Candle] = []

    @rule()
    def trade(self) -> None:
        self.wire.append(self.market.trade())

    @rule()
    def close(self) -> None:
        said = self.market.close()
        self.wire += [said] if said is not None else []

    @precondition(lambda self: self.wire)
    @rule(place=st.integers(0, 2))
    def deliver(self, place: int) -> None:
        self.final += self.assembler.update(self.wire.pop(min(place, len(self.wire) - 1))).final

    @precondition(lambda self: self.wire)
    @rule()
    def lose(self) -> None:
        self.wire.pop(0)

    @precondition(lambda self: self.wire)
    @rule()
    def double(self) -> None:
        self.wire.append(self.wire[0])

    @rule(ahead=st.integers(2, 10_000))
    def raise_a_false_alarm(self, ahead: int) -> None:
        future = (self.market.open_time - START) // SECOND + ahead
        self.final += self.assembler.update(Update(candle(future), closed=False)).final

    @rule(limit=st.integers(1, 5), off_ms=st.none() | st.integers(-5000, 5000))
    def ask(self, limit: int, off_ms: int | None) -> None:
        rows = self.market.rows(self.assembler.frontier, limit)
        now = None if off_ms is None else self.market.open_time + 500 + off_ms
        self.pages.append((rows, now, len(rows) < limit))

    @precondition(lambda self: self.pages)
    @rule()
    def answer(self) -> None:
        rows, now, is_newest = self.pages.pop(0)
        self.final += self.assembler.page(rows, now, is_newest=is_newest).final

    @invariant()
    def what_is_final_is_what_closed_in_order(self) -> None:
        assert self.final == self.market.closed[: len(self.final)]

    def teardown(self) -> None:
        """In the end the exchange behaves: nothing has been lost."""
        while self.pages:
            self.answer()
        self.final += self.assembler.update(self.market.trade()).final
        for _ in range(2 * len(self.market.closed) + 2):
            self.ask(3, None)
            self.answer()
        self.assembler.update(self.market.trade())
        assert self.final == self.market.closed
        assert self.assembler.forming == self.market.forming


TestAnyExchange = AnyExchange.TestCase
TestAnyExchange.settings = settings(max_examples=60, stateful_step_count=50, deadline=None)


class Hasty(Assembler):
    """Takes the last row of a page for closed, whatever the clock says."""

    def _is_over(self, row: Candle, now: int | None) -> bool:
        return True


class AnyExchangeForHasty(AnyExchange):
    kind = Hasty


def test_an_assembler_that_decides_by_place_is_caught() -> None:
    quick = settings(max_examples=200, deadline=None, database=None, derandomize=True, phases=[Phase.generate])
    with pytest.raises(AssertionError):
        run_state_machine_as_test(AnyExchangeForHasty, settings=quick)


def test_an_hour_of_outage_is_read_again_page_by_page() -> None:
    market, assembler = Market(), Assembler("1s", START)
    for _ in range(3600):
        market.trade()
        market.close()
    assert assembler.update(market.trade()).final == []
    assert assembler.missing_count() == 3600
    final, pages = [], 0
    while assembler.missing():
        rows = market.rows(assembler.frontier, 500)
        final += assembler.page(rows, None, is_newest=len(rows) < 500).final
        pages += 1
    assert final == market.closed
    assert pages == 8


def test_a_period_without_trades_is_left_out_only_when_the_exchange_left_it_out_twice() -> None:
    assembler = Assembler("1s", START)
    rows = [candle(0), candle(3), candle(4)]
    assert assembler.page(rows, None, is_newest=True).final == [candle(0)]
    assert assembler.doubts()
    settled = assembler.page(rows, None, is_newest=True)
    assert (settled.final, settled.no_trade) == ([candle(3)], [(candle(1).time, candle(3).time)])
    assert (assembler.no_trade, assembler.frontier) == (2, candle(4).time)


def test_a_hole_that_fills_at_the_second_look_loses_nothing() -> None:
    assembler = Assembler("1s", START)
    assembler.page([candle(1), candle(2)], None, is_newest=True)
    assert assembler.page([candle(0), candle(1), candle(2)], None, is_newest=True).final == [candle(0), candle(1)]
    assert assembler.no_trade == 0


def test_whether_the_newest_candle_is_whole_is_decided_by_time_and_never_by_place() -> None:
    """A reply may end three periods ago, or with a candle that still forms."""
    ended = [candle(0), candle(1)]
    now = candle(11).time
    assert Assembler("1s", START).page(ended, now, is_newest=True).final == ended
    assert Assembler("1s", START).page(ended, candle(1).time + 500, is_newest=True).final == ended[:1]
    assert Assembler("1s", START).page(ended, None, is_newest=True).final == ended[:1]


def test_the_later_version_of_a_candle_that_two_pages_share_is_the_one_that_counts() -> None:
    assembler = Assembler("1s", START)
    half, whole = candle(1, 90.0), candle(1, 95.0)
    assert assembler.page([candle(0), half], None, is_newest=True).final == [candle(0)]
    assert assembler.page([whole, candle(2)], None, is_newest=True).final == [whole]


def test_a_message_off_the_grid_is_counted_and_changes_nothing() -> None:
    assembler = Assembler("1s", START)
    off = Candle(START + 26_383, 1.0, 1.0, 1.0, 1.0, 1.0)
    assert assembler.update(Update(off, closed=True)).final == []
    assert (assembler.misaligned, assembler.missing()) == (1, False)


def test_a_forming_candle_is_replaced_and_an_older_one_is_not_shown_again() -> None:
    assembler = Assembler("1s", START)
    for close in (100.0, 101.0, 102.0):
        assert assembler.update(Update(candle(0, close), closed=False)).final == []
    assert assembler.forming == candle(0, 102.0)
    assert assembler.update(Update(candle(0, 103.0), closed=True)).final == [candle(0, 103.0)]
    assembler.update(Update(candle(0, 102.0), closed=False))
    assert assembler.forming is None


def test_a_closed_candle_that_comes_again_is_given_back_to_be_compared() -> None:
    assembler = Assembler("1s", START)
    assembler.update(Update(candle(0), closed=True))
    assert assembler.update(Update(candle(0, 99.0), closed=True)).again == candle(0, 99.0)
