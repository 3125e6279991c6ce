"""The child process that speaks with an exchange through ccxt; one JSON object a line, questions in, candles out.

`python -m annotate.feeds.gateway_process EXCHANGE SYMBOL TIMEFRAME [LOOPBACK]`. It needs no key and has none. With
LOOPBACK, every address of the exchange is replaced by that one, which must be of this machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import ccxt.pro
from ccxt.base import errors

from annotate.feeds.exchanges import EXCHANGES
from annotate.feeds.messages import updates_of
from annotate.settings import loopback_address

Json = dict[str, Any]
Say = Callable[[Json], None]

RETRY_AFTER_S = 60.0  # where the exchange asks for peace without saying for how long
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0  # between two attempts to open the stream


class Teller:
    """Answers questions and passes on what the stream says."""

    def __init__(self, exchange: Any, symbol: str, timeframe: str, say: Say) -> None:
        self._exchange = exchange
        self._symbol = symbol
        self._timeframe = timeframe
        self._say = say

    async def answer(self, question: Json) -> None:
        """Ask the exchange for candles and give them, or the reason why not."""
        try:
            body = await self._candles(question["since"], question["limit"])
        except (errors.RateLimitExceeded, errors.DDoSProtection):
            body = {"busy": self._retry_after_s()}
        except (errors.BadSymbol, errors.BadRequest, errors.NotSupported, errors.ArgumentsRequired) as error:
            body = {"impossible": str(error)}
        except errors.BaseError as error:
            body = {"unreachable": f"{type(error).__name__}: {error}"}
        self._say({"answer": question["ask"], **body})

    async def _candles(self, since: int | None, limit: int) -> Json:
        known = self._exchange.timeframes
        if self._timeframe not in known:
            return {"impossible": f"it has no {self._timeframe} candles; it has {', '.join(known)}"}
        now = await self._exchange.fetch_time()
        rows = await self._exchange.fetch_ohlcv(self._symbol, self._timeframe, since=since, limit=limit)
        return {"now": now, "rows": rows}

    async def watch(self) -> None:
        """Keep the stream open; what it says comes by `handle_message`."""
        wait_s = FIRST_WAIT_S
        while True:
            try:
                await self._exchange.watch_ohlcv(self._symbol, self._timeframe)
                wait_s = FIRST_WAIT_S
            except errors.BaseError as error:
                self._say({"lost": f"{type(error).__name__}: {error}"[:300]})
                await asyncio.sleep(wait_s)
                wait_s = min(wait_s * 2, LONGEST_WAIT_S)

    def _retry_after_s(self) -> float:
        headers = {name.lower(): value for name, value in (self._exchange.last_response_headers or {}).items()}
        try:
            return float(headers.get("retry-after", RETRY_AFTER_S))
        except ValueError:
            return RETRY_AFTER_S


def make_exchange(name: str, at: str, say: Say) -> Any:
    """Make ccxt's object for an exchange of the list, with its stream's own words passed on to `say`."""
    if name not in EXCHANGES:
        raise ValueError(f"exchange {name}: use one of {', '.join(EXCHANGES)}")

    class Watching(getattr(ccxt.pro, name)):  # type: ignore[misc]  # chosen at run time
        def handle_message(self, client: Any, message: Any) -> None:
            try:
                for update in updates_of(name, message):
                    say(update.to_json())
            except (ValueError, KeyError, TypeError, IndexError) as error:
                sys.stderr.write(f"no candle in {str(message)[:300]}: {type(error).__name__}: {error}\n")
            super().handle_message(client, message)

    exchange = Watching(
        {"enableRateLimit": True, "options": {"defaultType": "spot", "fetchMarkets": {"types": ["spot"]}}}
    )
    exchange.has["fetchCurrencies"] = False  # needs a key at some, and candles do not need it
    if at:
        exchange.urls["api"] = _redirected(exchange.urls["api"], loopback_address(at))
    return exchange


def _redirected(urls: Any, at: str) -> Any:
    """Put an address in the place of every host, whatever the shape of the table."""
    if isinstance(urls, dict):
        return {name: _redirected(url, at) for name, url in urls.items()}
    scheme, _, rest = str(urls).partition("://")
    path = rest.partition("/")[2]
    host = at.partition("://")[2]
    return f"{'ws' if scheme.startswith('ws') else 'http'}://{host}/{path}"


async def serve(teller: Teller, questions: asyncio.Queue[Json | None]) -> None:
    """Answer until the questions end."""
    tasks: set[asyncio.Task[None]] = set()

    def begin(work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    begin(teller.watch())
    while (question := await questions.get()) is not None:
        begin(teller.answer(question))


async def main(name: str, symbol: str, timeframe: str, at: str = "") -> None:
    """Serve the parent on stdin and stdout."""
    loop, questions = asyncio.get_running_loop(), asyncio.Queue[Json | None]()

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(questions.put_nowait, json.loads(line))
        os._exit(0)  # the parent is gone; nothing here is worth keeping

    teller = Teller(make_exchange(name, at, say), symbol, timeframe, say)
    threading.Thread(target=read, daemon=True).start()
    await serve(teller, questions)


def say(body: Json) -> None:
    """Write one line to the parent."""
    sys.stdout.write(json.dumps(body) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
