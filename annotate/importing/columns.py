"""Header names to roles: which column is the time, the open, the volume, in the names that exporters use."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from annotate.errors import InvalidInput
from annotate.importing.doubts import Choice, Doubts
from annotate.importing.header_names import CLOCK, CLOCK_PARTS, DATE, NAMES, PRICES, fold
from annotate.importing.names import QUOTES

# What stands in brackets after a name and says nothing of the role: a currency, a unit, a zone.
UNIT = r"usd|usdt|usdc|eur|gbp|jpy|inr|rs\.?|btc|\$|€|s|ms|us|ns|lots?|shares"
ZONE_TAIL = (
    r"(?:utc|gmt)?[+-]\d{1,2}(?::?\d{2})?|[a-z]+/[a-z_/]+|utc|gmt|e[sd]?t|edt|ct|mst|pt|cet|cest|eet|eest|msk|jst|kst"
)
NAMED_VOLUME = r"^\s*\W*vol(ume)?[\s_.(]"
# Widths of epochs that no compact date has: 20240131, 202401310930 and so on are text.
EPOCH = re.compile(r"\d{10}|\d{13}|\d{16}|\d{19}")
LOCAL_NAMES = ("date", "datetime", "time", "timestamp", "localtime", "dt", "day")
EPOCH_NAMES = ("unix", "unixtime", "unixtimestamp", "epoch", "timestamp", "timestampms", "time", "ts", "t")
ZONE_WORDS = {"et": "America/New_York", "edt": "-04:00", "ct": "America/Chicago", "pt": "America/Los_Angeles"}
ZONE_WORDS |= {"cest": "+02:00", "eest": "+03:00", "msk": "Europe/Moscow"}


def plain(name: str) -> str:
    """Reduce a header cell to letters and digits: `<OPEN>`, `1. open` and `Open Price (USD)` meet their plain names."""
    text = name.strip().strip("\ufeff").lower()
    text = re.sub(r"^\d+[a-z]?\.\s+", "", text)
    text = re.sub(rf"[(\[]({UNIT}|{ZONE_TAIL})[)\]]$", "", text)
    return re.sub(r"\W|_", "", fold(text))


def header_zone(name: str) -> str | None:
    """Give the zone that a header states, as `Time (EST)`, `Date [UTC+2]` and `datetime_utc` do."""
    text = name.strip()
    if match := re.search(rf"[(\[]\s*({ZONE_TAIL})\s*[)\]]$", text, re.IGNORECASE):
        return ZONE_WORDS.get(match[1].lower(), match[1])
    return "UTC" if re.search(r"(?:[\W_]|^)(?:utc|gmt)$", text, re.IGNORECASE) else None


@dataclass(frozen=True, slots=True)
class Roles:
    """Which column (by number from 0) plays which role, and why."""

    index: Mapping[str, int]
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Tell whether time and all prices are known."""
        return ("time" in self.index or "close_time" in self.index) and all(price in self.index for price in PRICES)


def roles_by_name(names: Sequence[str]) -> Roles:
    """Find the roles that header names give; of repeated names the first counts, and adjusted prices never do."""
    reduced = _reduced(names)
    if not set("ohlc") <= set(reduced):  # single letters mean prices only where all four stand together
        reduced = ["" if len(name) == 1 and name.isascii() and name not in "tv" else name for name in reduced]
    index: dict[str, int] = {}
    reasons: dict[str, str] = {}
    for role, known in NAMES.items():
        at = next(
            (reduced.index(name) for name in known if name in reduced and reduced.index(name) not in index.values()),
            None,
        )
        if at is not None:
            index[role], reasons[role] = at, f"named {names[at].strip()!r}"
    if {"amount", "vol", "count"} <= set(reduced):  # Huobi: `vol` is the turnover
        index["volume"], reasons["volume"] = reduced.index("amount"), "named 'amount', beside a turnover named 'vol'"
    if "time" not in index and "ticks" in reduced:  # Deribit calls the times so
        index["time"], reasons["time"] = reduced.index("ticks"), "named 'ticks', and no other column means the time"
        index.pop("tick_volume", None)
    _find_clock(reduced, names, index, reasons)
    _find_parts(reduced, index, reasons)
    _leave_open_which_close(reduced, index)
    _find_named_volume(names, index, reasons)
    return Roles(index, reasons)


def _reduced(names: Sequence[str]) -> list[str]:
    """Reduce names; where `t` and `T` stand apart, as in Binance's stream, `T` ends the candle and `x` closes it."""
    exact = [name.strip() for name in names]
    if {"_start", "_time"} <= set(exact):  # InfluxDB writes the range that was asked for into every row
        exact = ["" if name in ("_start", "_stop") else name for name in exact]
        names = exact
    if not {"t", "T"} <= set(exact):
        return [plain(name) for name in names]
    streamed = {"T": "closetime", "x": "closed"}
    return [streamed.get(name, plain(name) if not (len(name) == 1 and name.isupper()) else "") for name in exact]


def _find_clock(reduced: list[str], names: Sequence[str], index: dict[str, int], reasons: dict[str, str]) -> None:
    """Take `Date` and `Time` as the two halves of one time."""
    days = [at for at, name in enumerate(reduced) if name in DATE]
    clocks = [at for at, name in enumerate(reduced) if name in CLOCK and at not in days]
    if days and clocks and reduced[index.get("time", -1)] in (reduced[days[0]], reduced[clocks[0]]):
        index["time"], index["clock"] = days[0], clocks[0]
        reasons["time"] = f"{names[days[0]].strip()!r} and {names[clocks[0]].strip()!r} together"


def _find_parts(reduced: list[str], index: dict[str, int], reasons: dict[str, str]) -> None:
    """Take `Year`, `Month` and `Day`, perhaps with `Hour` and so on, as the parts of one time."""
    if not {"year", "month", "day"} <= set(reduced):
        return
    index.pop("clock", None)
    parts = [part for part in ("year", "month", "day", *CLOCK_PARTS) if part in reduced]
    index |= {part: reduced.index(part) for part in parts[1:]}
    index["time"], reasons["time"] = reduced.index("year"), f"{', '.join(parts)} together"


def _leave_open_which_close(reduced: list[str], index: dict[str, int]) -> None:
    """Leave the close to be asked where a future has a last trade and a settlement, and neither is named close."""
    if {"last", "settle"} <= set(reduced) and reduced[index["close"]] in ("last", "settle"):
        del index["close"]


def _find_named_volume(names: Sequence[str], index: dict[str, int], reasons: dict[str, str]) -> None:
    """Take `Volume ADA` or `Volume_(ADA)` and not the one in a quote currency; of two in these the first, by custom."""
    others = {at for role, at in index.items() if role != "volume"}
    named = [at for at, name in enumerate(names) if at not in others and re.match(NAMED_VOLUME, name, re.IGNORECASE)]
    if not named or ("volume" in index and index["volume"] not in named):
        return
    base = max(named, key=lambda at: (_baseness(names[at]), -at))
    why = "is the only volume" if len(named) == 1 else "is the first volume of the base asset"
    index["volume"], reasons["volume"] = base, f"{names[base].strip()!r} {why}"


def _baseness(name: str) -> int:
    """Rank a volume's name by how rarely its currency is the quoted one: dollars first, BTC late, others last."""
    words = re.split(r"[^A-Z]+", name.upper())
    return next((at for at, quote in enumerate(QUOTES) if quote in words), len(QUOTES))


def prefer_epochs(roles: Roles, names: Sequence[str], cells_of: Callable[[int], Sequence[object]]) -> Roles:
    """Take a column of epochs for the time where it goes with one of clocks whose zone nobody states."""
    at = roles.index.get("time")
    if at is None or {"clock", "month"} & set(roles.index) or plain(names[at]) not in LOCAL_NAMES:
        return roles
    for other, name in enumerate(names):
        if other == at or plain(name) not in EPOCH_NAMES:
            continue
        cells = [str(cell) for cell in cells_of(other)]
        mine = [str(cell) for cell in cells_of(at)]
        if _are_epochs(cells) and not _are_epochs(mine) and len(set(cells)) == len(cells):
            reason = f"{name.strip()!r} holds epochs, which need no zone"
            return Roles({**roles.index, "time": other}, {**roles.reasons, "time": reason})
    return roles


def _are_epochs(cells: Sequence[str]) -> bool:
    return bool(cells) and all(EPOCH.fullmatch(cell) for cell in cells)


def ask_missing(roles: Roles, names: Sequence[str], doubts: Doubts) -> Roles:
    """Ask which column plays a role that no name gives; answers such as `column_close` also overrule names."""
    answered = overruled(roles, names, doubts)
    index, reasons, labels = dict(answered.index), dict(answered.reasons), _labels(names)
    free = [at for at in range(len(names)) if at not in index.values()]
    for role in ("time", *PRICES):
        if role in index or (role == "time" and "close_time" in index):
            continue
        if not free:
            raise InvalidInput(f"no column is the {role}; the columns are {', '.join(labels)[:300]}", column=role)
        index[role] = _asked_column(role, free, labels, doubts)
        reasons[role] = "asked"
        free = [at for at in free if at != index[role]]
    return Roles(index, reasons)


def overruled(roles: Roles, names: Sequence[str], doubts: Doubts) -> Roles:
    """Put the columns that a person named in place of those that were found."""
    index, reasons, labels = dict(roles.index), dict(roles.reasons), _labels(names)
    for role in ("time", *PRICES, "volume"):
        answer = doubts.given(f"column_{role}")
        if answer is None or (at := _column(answer, labels, role)) == index.get(role):
            continue
        index[role], reasons[role] = at, "as answered"
        if role == "time":
            for part in ("clock", "month", "day", *CLOCK_PARTS):
                index.pop(part, None)
    return Roles(index, reasons)


def _labels(names: Sequence[str]) -> list[str]:
    return [name.strip() or f"column {at + 1}" for at, name in enumerate(names)]


def _asked_column(role: str, free: list[int], labels: list[str], doubts: Doubts) -> int:
    choices = [Choice(str(at + 1), labels[at], likely=at == free[0]) for at in free]
    reason = f"No header name means {role}; the header is {', '.join(labels)[:300]}."
    return _column(
        doubts.ask(f"column_{role}", f"Which column is the {role}?", choices, reason, free=True), labels, role
    )


def _column(answer: str, labels: list[str], role: str) -> int:
    if answer in labels:
        return labels.index(answer)
    if answer.isdigit() and 1 <= int(answer) <= len(labels):
        return int(answer) - 1
    raise InvalidInput(f"column_{role}: {answer!r} is no column; there are {', '.join(labels)}", name=f"column_{role}")
