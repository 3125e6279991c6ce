"""What the few-label model and the rules offer, as plain data: orders of asking, rules, their parameters. No numpy."""

from __future__ import annotations

from typing import Any, NamedTuple

Json = dict[str, Any]

ORDERS: dict[str, str] = {
    "random": "by chance",
    "entropy": "the classes of its candles are most open (entropy)",
    "margin": "the two likeliest classes of its candles are closest (margin)",
    "improbable": "the spans suggested there are least probable",
    "disagreement": "two models read it differently",
    "annotator": "the model reads a mark there differently from the one who drew it",
    "unseen": "it looks least like what is marked already",
}
"""Wire name → why a place is asked for."""


class Parameter(NamedTuple):
    """A number that a rule takes."""

    default: float
    least: float
    most: float
    meaning: str


class RuleOffer(NamedTuple):
    """A rule: what a person reads, what kind of marks it gives, its parameters."""

    title: str
    kind: str
    parameters: dict[str, Parameter]


_PENETRATION = {"penetration": Parameter(0.3, 0.0, 1.0, "share of the first body that the last one reaches into")}

PATTERNS: dict[str, str] = {
    "CDLENGULFING": "Engulfing",
    "CDLHAMMER": "Hammer",
    "CDLINVERTEDHAMMER": "Inverted hammer",
    "CDLSHOOTINGSTAR": "Shooting star",
    "CDLHANGINGMAN": "Hanging man",
    "CDLDOJI": "Doji",
    "CDLDRAGONFLYDOJI": "Dragonfly doji",
    "CDLGRAVESTONEDOJI": "Gravestone doji",
    "CDLHARAMI": "Harami",
    "CDLHARAMICROSS": "Harami cross",
    "CDLPIERCING": "Piercing",
    "CDLDARKCLOUDCOVER": "Dark cloud cover",
    "CDLMORNINGSTAR": "Morning star",
    "CDLEVENINGSTAR": "Evening star",
    "CDLMORNINGDOJISTAR": "Morning doji star",
    "CDLEVENINGDOJISTAR": "Evening doji star",
    "CDLABANDONEDBABY": "Abandoned baby",
    "CDL3WHITESOLDIERS": "Three advancing soldiers",
    "CDL3BLACKCROWS": "Three black crows",
    "CDL3INSIDE": "Three inside",
    "CDL3OUTSIDE": "Three outside",
    "CDL3LINESTRIKE": "Three-line strike",
    "CDLMARUBOZU": "Marubozu",
    "CDLBELTHOLD": "Belt-hold",
    "CDLHIKKAKE": "Hikkake",
    "CDLSPINNINGTOP": "Spinning top",
    "CDLTAKURI": "Takuri",
    "CDLRISEFALL3METHODS": "Rising or falling three methods",
    "CDLSEPARATINGLINES": "Separating lines",
    "CDLTASUKIGAP": "Tasuki gap",
}
"""Candle patterns of TA-Lib by their name there."""

PENETRATING = ("CDLDARKCLOUDCOVER", "CDLMORNINGSTAR", "CDLEVENINGSTAR", "CDLMORNINGDOJISTAR", "CDLEVENINGDOJISTAR",
               "CDLABANDONEDBABY")  # fmt: skip

RULES: dict[str, RuleOffer] = {
    "zigzag": RuleOffer("Zigzag swings", "span", {"turn": Parameter(5.0, 0.5, 50.0, "σ by which price turns")}),
    "triple_barrier": RuleOffer(
        "Triple barrier",
        "span",
        {
            "up": Parameter(3.0, 0.1, 50.0, "σ to the upper barrier"),
            "down": Parameter(3.0, 0.1, 50.0, "σ to the lower barrier"),
            "horizon": Parameter(24, 1, 1000, "candles to the last barrier"),
        },
    ),
    "moving_average_cross": RuleOffer(
        "Moving-average cross",
        "span",
        {
            "fast": Parameter(12, 1, 1000, "candles of the fast average"),
            "slow": Parameter(48, 2, 2000, "candles of the slow average"),
        },
    ),
    **{
        name: RuleOffer(f"Pattern: {title}", "point", dict(_PENETRATION) if name in PENETRATING else {})
        for name, title in PATTERNS.items()
    },
}
"""Wire name → the rule."""


def rules_to_json() -> list[Json]:
    """List the rules: `{name, title, kind, parameters: [{name, default, least, most, meaning}]}`."""
    return [
        {
            "name": name,
            "title": rule.title,
            "kind": rule.kind,
            "parameters": [{"name": key, **given._asdict()} for key, given in rule.parameters.items()],
        }
        for name, rule in RULES.items()
    ]


def checked_parameters(name: str, given: dict[str, float]) -> dict[str, float]:
    """Give every parameter of a rule, the default of each that is left out.

    Raises ValueError naming the rule, the parameter, its value and what is allowed.
    """
    if name not in RULES:
        raise ValueError(f"no rule {name!r}; there are {', '.join(RULES)}")
    parameters = RULES[name].parameters
    unknown = sorted(set(given) - set(parameters))
    if unknown:
        raise ValueError(f"{name} takes no {', '.join(unknown)}; it takes {', '.join(parameters) or 'nothing'}")
    values = {key: float(given.get(key, parameter.default)) for key, parameter in parameters.items()}
    for key, value in values.items():
        least, most = parameters[key].least, parameters[key].most
        if not least <= value <= most:
            raise ValueError(f"{name}: {key} = {value:g}; it lies between {least:g} and {most:g}")
    return values
