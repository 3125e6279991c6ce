"""How a dataset is to be made: the split, the longest horizon, and which marks stay out. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from annotate.annotations.fields import Fields

MAX_SHARE = 1e6
MAX_HORIZON = 1000
NAMES = ("split", "horizon", "without_hindsight")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What a person, or the config of a run, decides about a dataset."""

    split: tuple[float, float, float] = (70.0, 15.0, 15.0)  # shares of train, validation, test, in order of time
    horizon: int = 5  # candles that the longest target looks ahead; rows are purged and embargoed by as many
    without_hindsight: bool = False  # leave out the marks whose author saw what came after

    @classmethod
    def from_fields(cls, fields: Fields) -> Self:
        """Read what was sent, defaults for the rest; raise InvalidInput naming the field."""
        default = cls()
        return cls(
            split=_split(fields) if fields.has("split") else default.split,
            horizon=fields.whole("horizon", 1, MAX_HORIZON) if fields.has("horizon") else default.horizon,
            without_hindsight=fields.flag("without_hindsight"),
        )

    @classmethod
    def of_config(cls, config: Mapping[str, Any]) -> Self:
        """Give the recipe that a run's config asks for; a live run has no split and takes the default one."""
        default = cls()
        split = tuple(float(share) for share in config.get("split", default.split))
        return cls(split=(split[0], split[1], split[2]), horizon=int(config.get("trend_horizon", default.horizon)))


def _split(fields: Fields) -> tuple[float, float, float]:
    shares = fields.value("split")
    if not isinstance(shares, list) or len(shares) != len(Recipe().split):
        raise fields.bad("split", "three shares such as [70, 15, 15]")
    train, validation, test = (Fields({"split": share}).number("split") for share in shares)
    if train <= 0 or min(validation, test) < 0 or max(train, validation, test) > MAX_SHARE:
        raise fields.bad("split", "shares are 0 or more, the first above 0")
    return train, validation, test
