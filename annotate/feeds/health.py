"""How a feed is doing, in one word and a sentence: waiting, connected, back-filling, reconnecting, limited, stale."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from annotate.timeframe import parse

Json = dict[str, Any]
Word = Literal["waiting", "connected", "back-filling", "reconnecting", "limited", "stale"]

LEAST_PATIENCE_S = 10.0
PATIENCE_CANDLES = 3


@dataclass(frozen=True, slots=True)
class FeedState:
    """What a page shows of a feed, all the time that its run lasts."""

    kind: str  # push or exchange
    state: Word
    since: int  # when it became so, ms UTC; of a stale one, when something came last
    last_candle: int | None  # open time of the newest stored candle then
    message: str
    no_trade: int = 0  # periods without trades that the exchange confirmed
    conflicts: int = 0  # closed candles that came again with other values

    def to_json(self) -> Json:
        """Give the state as the API shows it."""
        return asdict(self)


def patience_s(timeframe: str) -> float:
    """Give how long a feed may say nothing before it counts as stale: three candles, 10 s at least."""
    return max(PATIENCE_CANDLES * parse(timeframe) / 1000, LEAST_PATIENCE_S)


def silence(seconds: float) -> str:
    """Say a time without candles: 40 s, 12 min, 3 h."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
