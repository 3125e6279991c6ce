"""Indicators of a series by TA-Lib: which there are, how they are asked for, and their lines. Pure.

Every line is computed from the first candle of the series on, never from what happens to be shown, so that panning
changes no value. A line has no value during its warm-up: NaN here, null in an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import talib

from annotate.candles import Candles
from annotate.errors import InvalidInput

Json = dict[str, Any]
Floats = npt.NDArray[np.float64]
Lines = dict[str, Floats]

MOST = 20  # indicators in one question
MOST_PERIOD = 5_000


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that a person may set."""

    name: str
    default: float
    least: float
    most: float
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class Indicator:
    """One kind of indicator; `pane` says whether it shares the prices' scale or has its own."""

    title: str
    pane: str  # price or own
    parameters: tuple[Parameter, ...]
    lines: Callable[..., Lines]


@dataclass(frozen=True, slots=True)
class Asked:
    """An indicator with its numbers; `text` is how it is written, `sma:20`."""

    text: str
    name: str
    values: tuple[float, ...]

    def lines(self, candles: Candles) -> Lines:
        """Compute every line for all candles, each (n,), NaN during the warm-up."""
        numbers = [
            int(value) if parameter.is_whole else value
            for parameter, value in zip(INDICATORS[self.name].parameters, self.values, strict=True)
        ]
        columns = {name: np.ascontiguousarray(getattr(candles, name)) for name in ("high", "low", "close")}
        return INDICATORS[self.name].lines(columns, *numbers)


def _period(default: int, name: str = "period", least: int = 2) -> Parameter:
    return Parameter(name, default, least, MOST_PERIOD)


def _average(function: Callable[..., Any]) -> Callable[..., Lines]:
    return lambda columns, period: {"value": function(columns["close"], timeperiod=period)}


def _macd(columns: Mapping[str, Floats], fast: int, slow: int, signal: int) -> Lines:
    if fast >= slow:
        raise InvalidInput(f"macd:{fast}-{slow}-{signal}: the fast period must be below the slow one", field="names")
    lines = talib.MACD(columns["close"], fastperiod=fast, slowperiod=slow, signalperiod=signal)
    return dict(zip(("macd", "signal", "histogram"), lines, strict=True))


def _bands(columns: Mapping[str, Floats], period: int, width: float) -> Lines:
    lines = talib.BBANDS(columns["close"], timeperiod=period, nbdevup=width, nbdevdn=width)
    return dict(zip(("upper", "middle", "lower"), lines, strict=True))


def _atr(columns: Mapping[str, Floats], period: int) -> Lines:
    return {"value": talib.ATR(columns["high"], columns["low"], columns["close"], timeperiod=period)}


INDICATORS: Mapping[str, Indicator] = {
    "sma": Indicator("Simple moving average", "price", (_period(20),), _average(talib.SMA)),
    "ema": Indicator("Exponential moving average", "price", (_period(20),), _average(talib.EMA)),
    "wma": Indicator("Weighted moving average", "price", (_period(20),), _average(talib.WMA)),
    "bbands": Indicator(
        "Bollinger bands", "price", (_period(20), Parameter("width", 2.0, 0.1, 10.0, is_whole=False)), _bands
    ),
    "rsi": Indicator("Relative strength index", "own", (_period(14),), _average(talib.RSI)),
    "macd": Indicator("MACD", "own", (_period(12, "fast"), _period(26, "slow"), _period(9, "signal", 1)), _macd),
    "atr": Indicator("Average true range", "own", (_period(14, least=1),), _atr),
}


def parse_names(text: str) -> list[Asked]:
    """Read `sma:20,rsi,macd:12-26-9`; numbers that are left out have their defaults.

    Raises InvalidInput naming what is not known or out of its limits.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or len(parts) > MOST:
        raise InvalidInput(
            f"names = {text!r}: name 1 to {MOST} of {', '.join(INDICATORS)}, such as sma:20,rsi:14", field="names"
        )
    return [_parse(part) for part in dict.fromkeys(parts)]


def offers() -> list[Json]:
    """List the indicators for a picker: name, title, pane, parameters with default and limits."""
    return [
        {
            "name": name,
            "title": each.title,
            "pane": each.pane,
            "parameters": [
                {"name": p.name, "default": p.default, "least": p.least, "most": p.most} for p in each.parameters
            ],
        }
        for name, each in INDICATORS.items()
    ]


def _parse(part: str) -> Asked:
    name, _, numbers = part.partition(":")
    if name not in INDICATORS:
        raise InvalidInput(f"names: {part!r} is not known; use {', '.join(INDICATORS)}", field="names")
    parameters = INDICATORS[name].parameters
    given = numbers.split("-") if numbers else []
    if len(given) > len(parameters):
        wanted = "-".join(parameter.name for parameter in parameters)
        raise InvalidInput(f"names: {part!r} has too many numbers; write {name}:{wanted}", field="names")
    values = [_number(part, parameter, text) for parameter, text in zip(parameters, given, strict=False)]
    return Asked(part, name, (*values, *(parameter.default for parameter in parameters[len(values) :])))


def _number(part: str, parameter: Parameter, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not parameter.least <= value <= parameter.most or (parameter.is_whole and not value.is_integer()):
        kind = "a whole number" if parameter.is_whole else "a number"
        raise InvalidInput(
            f"names: {part!r}: {parameter.name} must be {kind} from {parameter.least:g} to {parameter.most:g}",
            field="names",
        )
    return value


def shown(asked: Sequence[Asked], candles: Candles, first: int) -> list[Json]:
    """Give the lines of each indicator from row `first` on, as columns, with what a chart needs to draw them."""
    return [
        {
            "name": each.text,
            "kind": each.name,
            "pane": INDICATORS[each.name].pane,
            "parameters": {p.name: v for p, v in zip(INDICATORS[each.name].parameters, each.values, strict=True)},
            "lines": {name: line[first:] for name, line in each.lines(candles).items()},
        }
        for each in asked
    ]
