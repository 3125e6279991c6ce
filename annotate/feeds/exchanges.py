"""The exchanges that a feed may follow: a fixed list. An address is never taken from a person."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping

from annotate.errors import InvalidInput

EXCHANGES: Mapping[str, str] = {"binance": "Binance", "bybit": "Bybit", "okx": "OKX"}
"""Wire name, which is also ccxt's → the name a person reads. Each one's stream says which candle has closed."""

NEEDED = "ccxt"


def check_exchange(name: str) -> None:
    """Raise InvalidInput for an exchange that is not on the list, or where the extra `live` is not installed."""
    if name not in EXCHANGES:
        raise InvalidInput(
            f"feed.exchange = {name!r}: use one of {', '.join(EXCHANGES)}; candles of any other come by POST to the "
            "series (feed.kind = push)",
            field="feed.exchange",
            allowed=list(EXCHANGES),
        )
    if not is_installed():
        raise InvalidInput(
            "feed.kind = 'exchange': the package ccxt is not installed; in the project's folder, run "
            ".venv/bin/python -m pip install -e '.[live]'",
            field="feed.kind",
        )


def is_installed() -> bool:
    """Tell whether the extra `live` is there; nothing is imported."""
    return importlib.util.find_spec(NEEDED) is not None
