"""Names that exporters give to the columns of candles, reduced to letters and digits; several languages."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

PRICES = ("open", "high", "low", "close")
NUMBERS = (*PRICES, "volume", "tick_volume")


def fold(text: str) -> str:
    """Take the accents off letters, as many exporters do."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if unicodedata.category(letter) != "Mn")


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(fold(text).split()))


# Best first: an open time beats a plain time, and an epoch beats text of the same moment.
TIME = _words(
    """
    candledatetimeutc snapshottimeutc timeperiodstart periodstarttime periodstart opentime timeopen starttime timestart
    start startat candlebegintime unix unixtimestamp unixtime epoch timestampms openingtime gmttime utctime timeutc
    dateutc utc datetimeutc timestamputc datetime timestamp localtime eet t ts time date day dt bartime tradedate
    tradingdate period id begin startedat startedattime windowstart tsevent candletime candlestart barstart
    observationtime snapshottime quotedate tradingday timeleft dtyyyymmdd dateyyyymmdd datum dato zeit fecha data
    tanggal tarih дата päivämäärä dátum ημερομηνία תאריך التاريخ วันที่ 日期 日付 日付け 날짜 일자
    交易日期 时间 ngày 日時 時間 dataehora datumzeit fechahora dateheure year month
    week jahr monat año mes mois année
    """
)
DATE = _words(
    """
    date day tradedate tradingday datum dato fecha data tarih tanggal дата dátum 日期 일자
    dtyyyymmdd dateyyyymmdd dateymd
    """
)
CLOCK = _words("time clock tradingtime minute hour timeofday zeit uhrzeit hora heure время 時刻 时间 saat czas ora")
CLOCK_PARTS = ("hour", "minute", "second")
CLOSE_TIME = _words(
    "timeperiodend timeright closetime endtime timeclose end timeend periodend closingtime datetimeclose"
)
OPEN = _words(
    """
    open o openprice first openingprice priceopen opening openbid bidopen mido openusd bido openpricebid askopen
    openask asko eröffn eröffnung eröffnungskurs erster ouv ouverture apertura abertura открытие откр otwarcie
    açılış 始値 开盘 开盘价 시가 entry terbuka pembukaan openpx öppning öppen avaus άνοιγμα åben åpning otevření nyitás
    פתיחה الافتتاح เปิด mở pxopen 開盤價
    """
)
HIGH = _words(
    """
    high h highprice max maximum pricehigh highest bidhigh highbid midh highusd bidh highpricebid askhigh
    highask askh hoch tageshoch höchst plushaut élevé haut máximo máx massimo máxima макс максимум najwyższy
    yüksek 高値 高 最高 最高价 고가 alto tertinggi highpx högst högsta ylin υψηλό høj høy nejvyšší hoog גבוה
    الأعلى สูง cao pxhigh 最高價
    """
)
LOW = _words(
    """
    low l lowprice min minimum pricelow lowest bidlow lowbid midl lowusd bidl lowpricebid asklow lowask askl
    tief tagestief tiefst plusbas faible bas mínimo mín minimo mínima мин минимум najniższy düşük 安値 低 最低
    最低价 저가 basso bajo baixo terendah lowpx lägst lägsta alin χαμηλό lav nejnižší laag נמוך الأدنى ต่ำ thấp
    pxlow 最低價
    """
)
CLOSE = _words(
    """
    close c closeprice clot last closelast latest closingprice priceclose bidclose closebid midc closeusd bidc
    closepricebid askclose closeask askc lastprice price settle schluss schlusskurs zuletzt dernier clôture
    cierre último chiusura ultimo fechamento цена закрытие закр zamknięcie ostatnio şimdi kapanış 終値 收盘
    收盘价 종가 terakhir penutupan laatste laatst ultimate tradeprice closepx senast stängning viimeisin τελευταία
    seneste poslední utolsó שער الأخير ล่าสุด lầncuối pxlast 收盤價
    """
)
VOLUME = _words(
    """
    volume v vol basevolume volumebase volumefrom basetokenvolume noofshares numberofshares sharestraded
    tottrdqty ttltrdqnt totaltradedquantity stücke stück stuecke umsatzstück
    hac volumebtc volumecrypto shares quantity amount size volumen volumes obrót
    wolumen объём объем hacim 出来高 交易量 成交量 거래량 totalvolume candleacctradevolume volumetraded
    unitvolume sharevolume tradedvolume lasttradedvolume wol volym qty όγκος objem forgalom נפח الحجم ปริมาณ kl
    pxvolume 成交股數
    """
)
TICK_VOLUME = _words("tickvol tickvolume ticks")
ZONE = _words("timezone tz zone exchangetimezone exchangetimezonename timezonename")
SYMBOL = _words(
    """
    symbol ticker pair instrument market name code asset secid instid tradingpair product productid sym
    act_symbol stock coin
    """
)
PERIOD = _words("per interval timeframe resolution")
CONFIRMED = _words("confirm complete closed isclosed isfinal")

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
    "zone": ZONE,
    "confirmed": CONFIRMED,
}
