"""The real way to an exchange: ccxt in its own process, against a loopback exchange that has a bad day."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Iterator

import pytest

from annotate.errors import InvalidInput
from annotate.feeds import exchanges
from annotate.feeds.exchanges import EXCHANGES, check_exchange
from annotate.feeds.gateway import Busy, GatewayProcess, Impossible, Unreachable
from tests.annotate.feeds.following import QUICK, START, Followed, wait_for
from tests.exchange import LoopbackExchange

# A child that is killed needs seconds to come back: only a stream that is silent for long is opened anew.
PATIENT = dataclasses.replace(QUICK, patience=2.0, reconnect=60.0)


@pytest.fixture
def exchange() -> LoopbackExchange:
    made = LoopbackExchange(START)
    for _ in range(8):
        made.candle()
    return made


@pytest.fixture
def address(exchange: LoopbackExchange) -> Iterator[str]:
    with exchange.served() as at:
        yield at


def test_a_bad_day_at_the_exchange_loses_doubles_and_invents_nothing(exchange: LoopbackExchange, address: str) -> None:
    """Cut, doubled, late, swapped and forming messages, a wrong clock, an hour of outage, 429, quiet seconds."""
    gateway = GatewayProcess("binance", "BTC/USDT", "1s", address)
    _refuses_in_kind(exchange, gateway)
    followed = Followed(exchange, gateway, pace=PATIENT)
    exchange.trade()
    followed.begin(history=5)
    assert followed.memory.candles == exchange.closed[3:]
    wait_for(lambda: exchange.listeners() == 1)
    exchange.close()
    exchange.candle()
    followed.wait_until_all_is_stored()
    for _ in range(5):  # each message twice, the next candle heard of first, an old one late
        moved = exchange.message(exchange.trade(), closed=False)
        closed = exchange.close(say=False)
        assert closed is not None
        exchange.trade()
        for message in (exchange.message(closed, closed=True), exchange.message(closed, closed=True), moved):
            exchange.send(message)
    for _ in range(4):
        exchange.drop()  # the stream comes back without a word of what it missed
        exchange.candle(say=False)
        exchange.clock_ahead_ms += 3_600_000
        wait_for(lambda: exchange.listeners() == 1)
        exchange.trade()
    followed.wait_until_all_is_stored()
    exchange.is_down = True
    exchange.drop()
    for number in range(3600):
        exchange.candle() if number % 100 else exchange.close()
    wait_for(lambda: followed.words()[-1] == "stale")
    exchange.limited = 2
    exchange.is_down = False
    wait_for(lambda: exchange.listeners() == 1)
    exchange.trade()
    followed.wait_until_all_is_stored()
    wait_for(lambda: exchange.trade().time and followed.words()[-1] == "connected")
    followed.end()
    assert {"stale", "limited"} <= set(followed.words())
    assert all(state.conflicts == 0 for state in followed.states)
    assert exchange.connections >= 5


def _refuses_in_kind(exchange: LoopbackExchange, gateway: GatewayProcess) -> None:
    assert gateway.candles(START + 6000, 10).rows == exchange.closed[6:]
    exchange.limited, exchange.retry_after_s = 1, 17
    with pytest.raises(Busy) as busy:
        gateway.candles(None, 1)
    assert busy.value.retry_after_s == 17
    exchange.is_down, exchange.retry_after_s = True, 1
    with pytest.raises(Unreachable):
        gateway.candles(None, 1)
    exchange.is_down = False


def test_a_market_or_a_timeframe_that_is_not_there_is_named(address: str) -> None:
    for symbol, timeframe, words in (("NO/SUCH", "1s", "NO/SUCH"), ("BTC/USDT", "7m", "no 7m candles; it has 1s, 1m")):
        gateway = GatewayProcess("binance", symbol, timeframe, address)
        with pytest.raises(Impossible, match=words):
            gateway.candles(None, 1)
        gateway.close()


def test_the_process_leaves_when_nobody_speaks_to_it_any_more(address: str) -> None:
    """As after a kill of the server, whose end closes the pipe."""
    command = [sys.executable, "-m", "annotate.feeds.gateway_process", "binance", "BTC/USDT", "1s", address]
    assert subprocess.run(command, input="", capture_output=True, text=True, timeout=120, check=False).returncode == 0


def test_only_exchanges_of_the_list_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in EXCHANGES:
        check_exchange(name)
    with pytest.raises(InvalidInput, match="use one of binance, bybit, okx"):
        check_exchange("http://exchange.example")
    monkeypatch.setattr(exchanges, "NEEDED", "a_package_that_is_not_there")
    with pytest.raises(InvalidInput, match=r"pip install -e '.\[live\]'"):
        check_exchange("binance")


def test_with_a_stand_in_no_address_of_an_exchange_is_left_and_it_is_of_this_machine() -> None:
    words = f"""
from annotate.errors import InvalidInput
from annotate.feeds.gateway_process import make_exchange
for name in {list(EXCHANGES)}:
    print(make_exchange(name, "http://127.0.0.1:9", print).urls["api"])
try:
    make_exchange("binance", "http://exchange.example:80", print)
except InvalidInput as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, timeout=120, check=True).stdout
    urls, _, refusal = said.strip().rpartition("\n")
    assert urls.count("://") == urls.count("://127.0.0.1:9/") > 10
    assert "only an address of this machine is taken" in refusal
