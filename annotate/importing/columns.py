"""Header names to roles: which column is the time, the open, the volume, in the names that exporters use."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotate.errors import InvalidInput
from annotate.importing.doubts import Choice, Doubts

PRICES = ("open", "high", "low", "close")

# Best first: an open time beats a plain time, and an epoch beats text of the same moment.
TIME = (
    *("opentime", "timeopen", "starttime", "timestart", "start", "startat", "periodstart", "candlebegintime"),
    *(
        "unix",
        "unixtimestamp",
        "unixtime",
        "epoch",
        "timestampms",
        "openingtime",
        "gmttime",
        "utctime",
        "timeutc",
        "dateutc",
    ),
    *(
        "utc",
        "datetimeutc",
        "timestamputc",
        "datetime",
        "timestamp",
        "localtime",
        "eet",
        "t",
        "ts",
        "time",
        "date",
        "datetimeest",
    ),
    *("day", "dt", "bartime", "tradedate", "tradingdate", "period", "id", "begin", "quotedate"),
    *(
        "datum",
        "zeit",
        "fecha",
        "data",
        "tanggal",
        "tarih",
        "дата",
        "日期",
        "日付",
        "日付け",
        "날짜",
        "交易日期",
        "时间",
        "ngày",
    ),
    *(
        "日時",
        "時間",
        "date/heure",
        "dataehora",
        "datazeit",
        "datumzeit",
        "fechahora",
        "dateheure",
        "candledatetimeutc",
    ),
)
CLOCK = (
    "time",
    "clock",
    "hour",
    "timeofday",
    "zeit",
    "uhrzeit",
    "hora",
    "heure",
    "время",
    "時刻",
    "时间",
    "saat",
    "czas",
    "ora",
)
CLOSE_TIME = ("closetime", "endtime", "timeclose", "end", "timeend", "periodend", "closingtime", "datetimeclose")
OPEN = (
    *(
        "open",
        "o",
        "openprice",
        "first",
        "openingprice",
        "priceopen",
        "opening",
        "openbid",
        "bidopen",
        "mido",
        "openusd",
        "bido",
        "openpricebid",
    ),
    *(
        "eröffn",
        "eröffnung",
        "eröffnungskurs",
        "erster",
        "ouv",
        "ouverture",
        "apertura",
        "abertura",
        "открытие",
        "откр",
    ),
    *("otwarcie", "açılış", "始値", "开盘", "开盘价", "시가", "entry", "terbuka", "pembukaan"),
)
HIGH = (
    *(
        "high",
        "h",
        "highprice",
        "max",
        "maximum",
        "pricehigh",
        "highest",
        "bidhigh",
        "highbid",
        "midh",
        "highusd",
        "bidh",
        "highpricebid",
    ),
    *(
        "hoch",
        "tageshoch",
        "höchst",
        "plushaut",
        "élevé",
        "haut",
        "máximo",
        "máx",
        "massimo",
        "máxima",
        "макс",
        "максимум",
    ),
    *("najwyższy", "yüksek", "高値", "高", "最高", "最高价", "고가", "alto", "tertinggi"),
)
LOW = (
    *(
        "low",
        "l",
        "lowprice",
        "min",
        "minimum",
        "pricelow",
        "lowest",
        "bidlow",
        "lowbid",
        "midl",
        "lowusd",
        "bidl",
        "lowpricebid",
    ),
    *("tief", "tagestief", "tiefst", "plusbas", "faible", "bas", "mínimo", "mín", "minimo", "mínima", "мин", "минимум"),
    *("najniższy", "düşük", "安値", "低", "最低", "最低价", "저가", "basso", "bajo", "baixo", "terendah"),
)
CLOSE = (
    *(
        "close",
        "c",
        "closeprice",
        "last",
        "closelast",
        "latest",
        "closingprice",
        "priceclose",
        "bidclose",
        "closebid",
        "midc",
    ),
    *(
        "closeusd",
        "bidc",
        "closepricebid",
        "lastprice",
        "price",
        "settle",
        "schluss",
        "schlusskurs",
        "zuletzt",
        "dernier",
        "clôture",
        "cierre",
        "último",
    ),
    *("chiusura", "ultimo", "fechamento", "цена", "закрытие", "закр", "zamknięcie", "ostatnio", "şimdi", "kapanış"),
    *("終値", "收盘", "收盘价", "종가", "terakhir", "penutupan", "laatste", "ultimate", "tradeprice"),
)
VOLUME = (
    *(
        "volume",
        "v",
        "vol",
        "basevolume",
        "volumebase",
        "volumebtc",
        "volumecrypto",
        "shares",
        "quantity",
        "amount",
        "size",
    ),
    *("volumen", "volumes", "obrót", "wolumen", "объём", "объем", "hacim", "出来高", "交易量", "成交量", "거래량"),
    *("totalvolume", "vol.", "candleacctradevolume", "volumetraded", "unitvolume", "sharevolume", "tradedvolume"),
)
TICK_VOLUME = ("tickvol", "tickvolume", "ticks")
SYMBOL: tuple[str, ...] = (
    "symbol",
    "ticker",
    "pair",
    "instrument",
    "market",
    "name",
    "code",
    "asset",
    "secid",
    "instid",
    "tradingpair",
)
SYMBOL += ("product", "productid", "sym", "act_symbol", "stock", "coin")
PERIOD = ("per", "interval", "timeframe", "resolution")
CONFIRMED = ("confirm", "complete", "closed", "isclosed", "isfinal")

NAMES: Mapping[str, tuple[str, ...]] = {
    "time": TIME,
    "close_time": CLOSE_TIME,
    "open": OPEN,
    "high": HIGH,
    "low": LOW,
    "close": CLOSE,
    "volume": VOLUME,
    "tick_volume": TICK_VOLUME,
    "symbol": SYMBOL,
    "period": PERIOD,
    "confirmed": CONFIRMED,
}


def plain(name: str) -> str:
    """Reduce a header cell to letters and digits: `<OPEN>`, `1. open` and `Open Price (USD)` meet their plain names."""
    text = name.strip().strip("\ufeff").lower()
    text = re.sub(r"^\d+[a-z]?\.\s+", "", text)
    text = re.sub(r"[(\[](usd|usdt|utc|gmt|\$|eur|s|ms)[)\]]$", "", text)
    return re.sub(r"\W|_", "", text)


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
    _find_clock(reduced, names, index, reasons)
    _find_named_volume(names, index, reasons)
    return Roles(index, reasons)


def _reduced(names: Sequence[str]) -> list[str]:
    """Reduce names; where `t` and `T` stand apart, as in Binance's stream, `T` ends the candle and `x` closes it."""
    exact = [name.strip() for name in names]
    if not {"t", "T"} <= set(exact):
        return [plain(name) for name in names]
    streamed = {"T": "closetime", "x": "closed"}
    return [streamed.get(name, plain(name) if not (len(name) == 1 and name.isupper()) else "") for name in exact]


def _find_clock(reduced: list[str], names: Sequence[str], index: dict[str, int], reasons: dict[str, str]) -> None:
    """Take `Date` and `Time` as the two halves of one time."""
    days = [
        at
        for at, name in enumerate(reduced)
        if name in ("date", "day", "tradedate", "datum", "fecha", "data", "дата", "日期")
    ]
    clocks = [at for at, name in enumerate(reduced) if name in CLOCK and at not in days]
    if days and clocks and reduced[index.get("time", -1)] in (reduced[days[0]], reduced[clocks[0]]):
        index["time"], index["clock"] = days[0], clocks[0]
        reasons["time"] = f"{names[days[0]].strip()!r} and {names[clocks[0]].strip()!r} together"


def _find_named_volume(names: Sequence[str], index: dict[str, int], reasons: dict[str, str]) -> None:
    """Take the first column such as `Volume ADA` or `Volume_(BTC)`: it is in the base asset by convention."""
    if "volume" in index:
        return
    for at, name in enumerate(names):
        if re.match(r"^\s*\W*vol(ume)?[\s_.(]", name, re.IGNORECASE) and at not in index.values():
            index["volume"], reasons["volume"] = (
                at,
                f"{name.strip()!r} is the first of the volume columns, the base asset's",
            )
            return


def ask_missing(roles: Roles, names: Sequence[str], doubts: Doubts) -> Roles:
    """Ask which column plays a role that no name gives; answers such as `column_close` also overrule names."""
    index, reasons = dict(roles.index), dict(roles.reasons)
    labels = [name.strip() or f"column {at + 1}" for at, name in enumerate(names)]
    for role in ("time", *PRICES, "volume"):
        if answer := doubts.given(f"column_{role}"):
            index[role], reasons[role] = _column(answer, labels, role), "as answered"
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
