"""An exchange on this machine: speaks Binance's REST and kline stream over 127.0.0.1, and misbehaves on demand.

Its candles are made by hand: nothing happens until a test says so, and what has closed is known exactly.
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import simple_websocket
from flask import Flask, Response, jsonify, request
from werkzeug.serving import make_server

from annotate.feeds.arrivals import Candle
from annotate.feeds.gateway import Busy, Lost, Page, Unreachable
from annotate.feeds.messages import Update, updates_of

Json = dict[str, Any]

ws: Any = simple_websocket  # the library has no types

SECOND = 1000
FILTERS = [
    {"filterType": "PRICE_FILTER", "minPrice": "0.01", "maxPrice": "1000000.00", "tickSize": "0.01"},
    {"filterType": "LOT_SIZE", "minQty": "0.00001", "maxQty": "9000.00", "stepSize": "0.00001"},
]


class LoopbackExchange:
    """One market, BTC/USDT, with candles of a second. `closed` is the truth that a feed has to come to."""

    def __init__(self, start: int) -> None:
        self.open_time = start  # of the candle that forms now
        self.closed: list[Candle] = []
        self.forming: Candle | None = None
        self.is_down = False  # neither REST nor stream answers
        self.limited = 0  # so many further questions are answered by 429
        self.retry_after_s = 1
        self.clock_ahead_ms = 0
        self.asked = 0  # questions for candles
        self.connections = 0
        self._lock = threading.RLock()
        self._sockets: list[Any] = []
        self._listener: Callable[[Json], None] | None = None
        self._number = 0

    def trade(self, say: bool = True) -> Candle:
        """Let the forming candle move."""
        with self._lock:
            self._number += 1
            price = 100 + (self._number * 7919 % 1000) / 100
            old = self.forming
            values = (
                (price, price, price, price, 0.0) if old is None else (old.open, old.high, old.low, price, old.volume)
            )
            open_, high, low, close, volume = values
            self.forming = Candle(
                self.open_time, open_, max(high, price), min(low, price), close, (volume or 0.0) + 0.5
            )
            if say:
                self.send(self.message(self.forming, closed=False))
            return self.forming

    def close(self, say: bool = True) -> Candle | None:
        """Close the candle that forms and begin the next; None where nobody traded, and then nothing is said of it."""
        with self._lock:
            closed, self.forming = self.forming, None
            self.open_time += SECOND
            if closed is not None:
                self.closed.append(closed)
                if say:
                    self.send(self.message(closed, closed=True))
            return closed

    def candle(self, say: bool = True) -> Candle:
        """Let a whole candle happen: two trades and its close."""
        self.trade(say)
        self.trade(say)
        closed = self.close(say)
        assert closed is not None
        return closed

    def message(self, candle: Candle, *, closed: bool) -> Json:
        """Give what the stream says of a candle; all prices are texts, as Binance sends them."""
        texts = {name: str(getattr(candle, field)) for name, field in zip("ohlcv", _VALUES, strict=True)}
        k = {"t": candle.time, "T": candle.time + SECOND - 1, "s": "BTCUSDT", "i": "1s", "x": closed, **texts}
        return {"e": "kline", "E": self.now(), "s": "BTCUSDT", "k": k}

    def now(self) -> int:
        """Give the exchange's clock, which may be wrong."""
        return self.open_time + 500 + self.clock_ahead_ms

    def send(self, message: Json) -> None:
        """Say something to everyone who listens."""
        if self._listener is not None and not self.is_down:
            self._listener(message)
        for socket in list(self._sockets):
            with contextlib.suppress(ws.ConnectionClosed, OSError):
                socket.send(json.dumps(message))

    def drop(self) -> None:
        """Cut every connection without a goodbye."""
        cut, self._sockets = self._sockets, []
        for socket in cut:
            with contextlib.suppress(OSError):
                socket.sock.shutdown(2)

    def listen(self, listener: Callable[[Json], None]) -> None:
        """Let someone in this process hear the stream."""
        self._listener = listener

    def is_limited(self) -> bool:
        """Count a question for candles; tell whether it is one too many."""
        with self._lock:
            self.asked += 1
            is_limited = self.limited > 0
            self.limited -= is_limited
            return is_limited

    def rows(self, since: int | None, limit: int) -> list[Candle]:
        """Give candles as REST does, the forming one included."""
        with self._lock:
            rows = [*self.closed, *([self.forming] if self.forming else [])]
        return rows[-limit:] if since is None else [row for row in rows if row.time >= since][:limit]

    def listeners(self) -> int:
        """Count those who have subscribed."""
        return len(self._sockets)

    @contextmanager
    def served(self) -> Iterator[str]:
        """Serve on a free port; give the address."""
        server = make_server("127.0.0.1", 0, self._app(), threaded=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.port}"
        finally:
            self.drop()
            server.shutdown()
            thread.join()
            server.server_close()

    def _app(self) -> Flask:
        app = Flask("exchange")
        app.add_url_rule("/api/v3/exchangeInfo", view_func=self._info)
        app.add_url_rule("/api/v3/time", view_func=self._time)
        app.add_url_rule("/api/v3/klines", view_func=self._klines)
        app.add_url_rule("/ws/<path:_stream>", view_func=self._stream, websocket=True)
        app.before_request(self._refuse)
        return app

    def _refuse(self) -> Response | None:
        if self.is_down:
            return Response(status=503)
        return None

    def _info(self) -> Response:
        market = {
            "symbol": "BTCUSDT", "status": "TRADING", "baseAsset": "BTC", "quoteAsset": "USDT", "filters": FILTERS,
            "baseAssetPrecision": 8, "quotePrecision": 8, "quoteAssetPrecision": 8, "orderTypes": ["LIMIT"],
            "isSpotTradingAllowed": True, "isMarginTradingAllowed": False, "permissions": ["SPOT"],
        }  # fmt: skip
        return jsonify({"timezone": "UTC", "serverTime": self.now(), "rateLimits": [], "symbols": [market]})

    def _time(self) -> Response:
        return jsonify({"serverTime": self.now()})

    def _klines(self) -> Response:
        if self.is_limited():
            answer = jsonify({"code": -1003, "msg": "Too many requests"})
            answer.status_code = 429
            answer.headers["Retry-After"] = str(self.retry_after_s)
            return answer
        rows = self.rows(request.args.get("startTime", None, int), request.args.get("limit", 500, int))
        return jsonify([_row(candle) for candle in rows])

    def _stream(self, _stream: str) -> Response:
        socket = ws.Server.accept(request.environ)
        self.connections += 1
        try:
            while True:
                asked = json.loads(socket.receive())
                if asked.get("method") == "SUBSCRIBE":
                    socket.send(json.dumps({"result": None, "id": asked["id"]}))
                    self._sockets.append(socket)
        except (ws.ConnectionClosed, OSError):
            if socket in self._sockets:
                self._sockets.remove(socket)
        return _Hung()


class _Hung(Response):
    """The answer of a request whose connection became a socket: nothing."""

    def __call__(self, *_given: Any) -> Any:
        raise ConnectionError  # werkzeug takes it for a client that left


_VALUES = ("open", "high", "low", "close", "volume")


def _row(candle: Candle) -> list[Any]:
    texts = [str(getattr(candle, name)) for name in _VALUES]
    return [candle.time, *texts, candle.time + SECOND - 1, "0", 1, "0", "0", "0"]


class DirectGateway:
    """The way to a loopback exchange without a process between: the same words, at once."""

    def __init__(self, exchange: LoopbackExchange) -> None:
        self.exchange = exchange
        self.reconnected = 0
        self.closed = False
        self._heard: queue.Queue[Update | Lost] = queue.Queue()
        exchange.listen(self._take)

    def candles(self, since: int | None, limit: int) -> Page:
        """Ask for candles as REST does."""
        if self.exchange.is_down:
            raise Unreachable("connection refused")
        now = self.exchange.now()
        if self.exchange.is_limited():
            raise Busy(self.exchange.retry_after_s)
        return Page(self.exchange.rows(since, limit), now)

    def receive(self, timeout_s: float) -> Update | Lost | None:
        """Wait for the next word of the stream."""
        try:
            return self._heard.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def reconnect(self) -> None:
        """Count it: there is nothing to connect."""
        self.reconnected += 1

    def close(self) -> None:
        """Leave the exchange alone."""
        self.closed = True

    def cut(self) -> None:
        """Lose the connection, with a word."""
        self._heard.put(Lost("connection closed"))

    def _take(self, message: Json) -> None:
        for update in updates_of("binance", message):
            self._heard.put(update)
