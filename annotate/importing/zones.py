"""Time zones of files: UTC, fixed offsets, IANA names and `New York+7`; local clocks to UTC, across clock changes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cached_property
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from annotate.errors import InvalidInput

Times = NDArray[np.int64]

MINUTE = 60_000
# Zones change their offset on quarter hours of the local clock, so one look-up serves a block.
BLOCK = 15 * MINUTE
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEW_YORK_SHIFTED = re.compile(r"^(?:america/)?new[ _]york\s*([+-]\s*\d{1,2})(?::?00)?(?:\s*h)?$", re.IGNORECASE)
OFFSET = re.compile(r"^(?:utc|gmt|z)?\s*([+-])\s*(\d{1,2})(?::?(\d{2}))?$", re.IGNORECASE)
# Names that mean one offset for all of the year, as data vendors write them.
FIXED = {"UTC": 0, "GMT": 0, "Z": 0, "ZULU": 0, "EST": -300, "MST": -420, "HST": -600, "JST": 540, "KST": 540}


@dataclass(frozen=True)
class Zone:
    """A rule from a local clock to UTC: look the clock less `shift_ms` up in `rule`."""

    name: str
    rule: tzinfo
    shift_ms: int = 0

    @cached_property
    def is_utc(self) -> bool:
        """Tell whether the clock is UTC's own."""
        return self.shift_ms == 0 and self.rule is UTC


def parse_zone(text: str) -> Zone:
    """Read `UTC`, `+02:00`, `Europe/Athens`, `EST` (fixed) or `New York+7`; raise InvalidInput for anything else."""
    name = text.strip()
    if name.upper() in FIXED:
        return _fixed(name.upper(), FIXED[name.upper()])
    if match := NEW_YORK_SHIFTED.match(name):
        hours = int(match[1].replace(" ", ""))
        return Zone(f"New York{hours:+d}", ZoneInfo("America/New_York"), hours * 60 * MINUTE)
    if match := OFFSET.match(name):
        minutes = int(match[2]) * 60 + int(match[3] or 0)
        if minutes <= 18 * 60 and int(match[3] or 0) < 60:
            return _fixed(name, -minutes if match[1] == "-" else minutes)
    try:
        return Zone(name, ZoneInfo(name))
    except (ValueError, OSError, KeyError):
        raise InvalidInput(
            f"zone {text!r} is not known; give UTC, an offset such as +02:00, a name such as Europe/Athens, "
            "or New York+7 for brokers whose day ends with New York's",
            name="zone",
            value=text,
        ) from None


def _fixed(name: str, minutes: int) -> Zone:
    if minutes == 0:
        return Zone("UTC", UTC)
    if name.upper() in FIXED:
        return Zone(name, timezone(timedelta(minutes=minutes)))
    hours, rest = divmod(abs(minutes), 60)
    return Zone(f"{'-' if minutes < 0 else '+'}{hours:02d}:{rest:02d}", timezone(timedelta(minutes=minutes)))


@dataclass(frozen=True, slots=True)
class InUtc:
    """Clock times as UTC: `ambiguous` clocks happened twice, `missing` ones never."""

    time: Times
    ambiguous: Times
    missing: Times


def to_utc(clock: Times, zone: Zone) -> InUtc:
    """Turn local clocks (ms, in order of time) into ms UTC.

    A clock that happened twice in an autumn night is its first time until the clock runs back or repeats, and its
    second one from there on. `ambiguous` and `missing` hold row indexes.
    """
    none = np.zeros(0, dtype=np.int64)
    if zone.is_utc or len(clock) == 0:
        return InUtc(clock, none, none)
    local = clock - zone.shift_ms
    blocks, block_of = np.unique(local // BLOCK, return_inverse=True)
    first, second = _offsets(blocks, zone.rule, 0)[block_of], _offsets(blocks, zone.rule, 1)[block_of]
    # fold=1 gives the later reading: a smaller offset where the clock ran back, a larger one inside a gap.
    ambiguous, missing = np.flatnonzero(first > second), np.flatnonzero(first < second)
    offset = first.copy()
    again = ambiguous[_ran_back(local, ambiguous)]
    offset[again] = second[again]
    return InUtc(local - offset, ambiguous, missing)


def _offsets(blocks: Times, rule: tzinfo, fold: int) -> Times:
    moments = ((EPOCH + timedelta(milliseconds=int(block) * BLOCK)).replace(tzinfo=rule, fold=fold) for block in blocks)
    return np.array([_offset_ms(moment) for moment in moments], dtype=np.int64)


def _offset_ms(moment: datetime) -> int:
    offset = moment.utcoffset()
    return 0 if offset is None else int(offset.total_seconds() * 1000)


def _ran_back(local: Times, ambiguous: Times) -> NDArray[np.bool_]:
    """Mark the ambiguous rows that come after the clock ran back within their night."""
    if len(ambiguous) == 0:
        return np.zeros(0, dtype=np.bool_)
    clock = local[ambiguous]
    new_night = (np.diff(ambiguous) > 1) | (np.diff(clock) > 12 * 60 * MINUTE)
    nights = np.split(clock, np.flatnonzero(new_night) + 1)
    return np.concatenate([_second_half(night) for night in nights])


def _second_half(night: Times) -> NDArray[np.bool_]:
    # Hourly candles repeat one clock; finer ones step back, and an equal clock there is a duplicate row.
    steps = np.diff(night, prepend=night[0] - 1)
    back = steps <= 0 if np.all(night == night[0]) else steps < 0
    return np.logical_or.accumulate(back)
