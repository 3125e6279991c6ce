"""One series from the parsed rows of its files: sorted, one candle a time, with its timeframe and its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotate.candles import Candles, find_gaps, not_positive, rows_where, violations
from annotate.errors import InvalidInput
from annotate.importing import checks, report
from annotate.importing.doubts import Choice, Doubts
from annotate.importing.header_names import PRICES
from annotate.importing.parse import ParsedRows
from annotate.importing.report import Place, PlacesOf
from annotate.importing.steps import ChosenTimeframe, choose_timeframe
from annotate.timeframe import MONTH, floor_all

Ints = NDArray[np.int64]

VIOLATION_RULES = ("keep", "leave_out", "refuse")
STAMPS = ("open", "close")
MANY_CONFLICTS, MANY_SHARE = 5, 0.2
MANY_BROKEN = 5
DAY = 86_400_000
# The last moment of a candle is a ms, a second or a minute before the next: how long, on which grid, in words.
LAST_MOMENTS = ((1, 60_000, "millisecond"), (1_000, 60_000, "second"), (60_000, 900_000, "minute"))
EPOCH_LOOKS_WRONG = 10**11  # 1973 in ms: a smaller epoch number is rarely a time


@dataclass(frozen=True, slots=True)
class Imported:
    """One series of a file: candles in order of time, and the report that goes with them as plain data."""

    symbol: str | None
    timeframe: str
    zone: str
    candles: Candles
    report: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a report says of the file as a whole; `several` has lines named with their member."""

    sha256: str
    skipped: list[str]
    several: bool


@dataclass(frozen=True, slots=True)
class _Joined:
    """The rows of all parts end to end."""

    time: Ints
    values: dict[str, NDArray[np.float64]]
    places: PlacesOf
    dropped: dict[str, list[Place]]


def assemble(parts: Sequence[ParsedRows], symbol: str | None, facts: FileFacts, doubts: Doubts) -> Imported:
    """Sort, drop duplicates by the stated rule, find the timeframe, check, and write the report."""
    rows = _join(parts, several=facts.several)
    order = checks.find_order(rows.time)
    rule = doubts.option("duplicates", checks.KEEP_RULES)
    sorting = np.arange(len(rows.time)) if order.sorted else np.argsort(rows.time, kind="stable")
    duplicates = checks.find_duplicates(rows.time, rows.values, sorting, rule)
    _ask_about_many(len(duplicates.conflicting), len(rows.time), doubts)
    kept, dropped = duplicates.kept, dict(rows.dropped)
    dropped["exact duplicate"] = rows.places(duplicates.exact)
    dropped["conflicting duplicate"] = rows.places(duplicates.conflicting)
    candles = _candles(rows, kept, plain=order.sorted and len(kept) == len(rows.time))
    frame = choose_timeframe(candles.time, parts[0].table.timeframe, doubts, date_only=parts[0].clock.date_only)
    candles, stamp, notes = _opened(candles, frame, parts[0], doubts)
    candles, kept, broken = _by_rule(candles, kept, rows.places, dropped, doubts)
    body = {
        **_source_facts(parts, facts, rows.places),
        "rows_read": sum(part.read for part in parts),
        "rows_kept": len(candles),
        "dropped": report.dropped_json(dropped),
        "order": order.name,
        "out_of_order": report.lines_json(order.misplaced, rows.places),
        "duplicates": report.duplicates_json(duplicates, rule, rows.places),
        **_candle_facts(candles, kept, frame, broken, rows.places),
        "timeframe": frame.name,
        "timeframe_reason": frame.reason,
        "stamp": stamp,
        "symbol": symbol,
    }
    body["notes"] = _notes(body, parts, notes)
    return Imported(symbol, frame.name, parts[0].zone.zone.name, candles, body)


def _ask_about_many(conflicting: int, read: int, doubts: Doubts) -> None:
    """Ask where so many rows contradict another of their time that they may be no candles of one market."""
    if conflicting < max(MANY_CONFLICTS, MANY_SHARE * read):
        return
    words = {
        "last": "Keep the last row of each time",
        "first": "Keep the first",
        "larger_volume": "Keep the larger volume",
    }
    choices = [Choice(rule, words[rule], likely=rule == checks.KEEP_RULES[0]) for rule in checks.KEEP_RULES]
    reason = (
        f"{conflicting} of {read} rows share their time with another that says otherwise, as in bars of ticks, ranges "
        "or volume, in a file of several markets, or where the wrong column was taken for the time."
    )
    doubts.ask("duplicates", "Which of several rows of one time is the candle?", choices, reason)


def _join(parts: Sequence[ParsedRows], *, several: bool) -> _Joined:
    if len(parts) == 1 and not several:
        part = parts[0]
        dropped: dict[str, list[Place]] = {reason: list(lines) for reason, lines in part.dropped.items()}
        return _Joined(
            part.time, dict(part.values), lambda rows: part.lines_of(rows).tolist() if len(rows) else [], dropped
        )
    starts = np.cumsum([0, *(len(part.time) for part in parts)])

    def places(rows: Ints) -> list[Place]:
        which = np.searchsorted(starts, rows, side="right") - 1
        return [
            f"{parts[at].table.file}:{parts[at].lines_of(np.array([row - starts[at]]))[0]}"
            for at, row in zip(which.tolist(), rows.tolist(), strict=True)
        ]

    joined: dict[str, list[Place]] = {}
    for part in parts:
        for reason, lines in part.dropped.items():
            joined.setdefault(reason, []).extend(f"{part.table.file}:{line}" for line in lines)
    values = {role: np.concatenate([part.values[role] for part in parts]) for role in (*PRICES, "volume")}
    return _Joined(np.concatenate([part.time for part in parts]), values, places, joined)


def _candles(rows: _Joined, kept: Ints, *, plain: bool) -> Candles:
    values = (rows.values[role] for role in (*PRICES, "volume"))
    if plain:
        return Candles(rows.time, *(np.ascontiguousarray(column) for column in values))
    return Candles(rows.time[kept], *(column[kept] for column in values))


def _opened(
    candles: Candles, frame: ChosenTimeframe, part: ParsedRows, doubts: Doubts
) -> tuple[Candles, str, list[str]]:
    """Move end times to open times where the file has only ends, or where a person says that it has."""
    ends = part.closes
    lag, moment = _last_moment(candles.time, frame.ms)
    if part.table.layout.ends and frame.ms < DAY and np.any(candles.time % DAY):
        ends = _asked_stamp(part, frame, doubts) == "close"
    elif lag and not ends:
        ends = _asked_last_moment(moment, frame, doubts) == "close"
    elif doubts.given("stamp"):
        ends = doubts.option("stamp", STAMPS) == "close"
    if not ends:
        return candles, "open", []
    last_ms = not np.any((candles.time + 1) % 1000)
    end = candles.time + (lag or int(last_ms))
    # A month is no fixed length: its candle opens with the month that the end closes.
    shifted = floor_all(end - 1, frame.ms) if frame.ms % MONTH == 0 else end - frame.ms
    note = f"The file gives the end of each candle; candles open one {frame.name} earlier."
    return Candles(shifted, candles.open, candles.high, candles.low, candles.close, candles.volume), "close", [note]


def _last_moment(times: Ints, length: int) -> tuple[int, str]:
    """Give by how many ms all times miss the next candle, as ends such as 10:59:59 do, in words too; 0 for none."""
    for lag, grid, word in LAST_MOMENTS:
        # Nearly all files fail at their first time.
        if length >= 3 * lag and not any(np.any((part + lag) % min(grid, length)) for part in (times[:1], times)):
            return lag, word
    return 0, ""


def _asked_last_moment(moment: str, frame: ChosenTimeframe, doubts: Doubts) -> str:
    choices = [
        Choice("close", f"They end their candles: each opens one {frame.name} before its end", likely=True),
        Choice("open", "Leave the times as they are written: they open their candles"),
    ]
    reason = f"Every time is one {moment} before the {frame.name} candle after it would open."
    return doubts.ask("stamp", "Do the times open or end their candles?", choices, reason)


def _asked_stamp(part: ParsedRows, frame: ChosenTimeframe, doubts: Doubts) -> str:
    layout = part.table.layout
    choices = [
        Choice("open", "Leave the times as they are written: they open their candles", likely=not layout.surely_ends),
        Choice(
            "close",
            f"The times end their candles, as {layout.name} writes them: open each one {frame.name} earlier",
            likely=layout.surely_ends,
        ),
    ]
    reason = (
        f"{layout.name} usually stamps a candle with its end, and the file does not say. Nothing is moved unless you "
        "say so."
    )
    return doubts.ask("stamp", "Do the times open or end their candles?", choices, reason)


def _by_rule(
    candles: Candles, kept: Ints, places: PlacesOf, dropped: dict[str, list[Place]], doubts: Doubts
) -> tuple[Candles, Ints, Ints]:
    """Keep, leave out or refuse the candles that break the high/low rule; gives the broken ones that stay."""
    broken = violations(candles)
    rule = _violation_rule(len(broken), len(candles), doubts)
    if len(broken) == 0 or rule == "keep":
        return candles, kept, broken
    lines = places(kept[broken])
    if rule == "refuse":
        raise InvalidInput(
            f"line {lines[0]}: the high or the low does not enclose open and close ({len(lines)} such rows); "
            "check the columns, or answer violations with keep or leave_out",
            line=lines[0],
        )
    if len(broken) == len(candles):
        raise InvalidInput(
            f"line {lines[0]}: every candle breaks the high/low rule, so none stays; check the columns, or keep them",
            line=lines[0],
        )
    dropped["breaks the high/low rule"] = lines
    whole = np.ones(len(candles), dtype=np.bool_)
    whole[broken] = False
    return candles.take(whole), kept[whole], broken[:0]


def _violation_rule(broken: int, read: int, doubts: Doubts) -> str:
    """Give what becomes of candles that break the rule; asked where they are so many that the columns are doubtful."""
    if broken < max(MANY_BROKEN, MANY_SHARE * read):
        return doubts.option("violations", VIOLATION_RULES)
    words = {
        "keep": "Keep them as they are, flagged",
        "leave_out": "Leave them out",
        "refuse": "Refuse the file: its columns are others",
    }
    choices = [Choice(rule, words[rule], likely=rule == "refuse") for rule in VIOLATION_RULES]
    reason = f"The high or the low does not enclose open and close in {broken} of {read} candles."
    answer = doubts.ask("violations", "Are open, high, low and close the right columns?", choices, reason)
    return answer if doubts.given("violations") else "keep"  # until then a preview shows what is wrong with them


def _source_facts(parts: Sequence[ParsedRows], facts: FileFacts, places: PlacesOf) -> dict[str, Any]:
    first = parts[0]
    units = [part.clock.unit_of for part in parts if part.clock.unit_of is not None]
    joined = np.concatenate(units) if len(units) == len(parts) else None
    roles = [role for role in ("time", "close_time", *PRICES, "volume", "tick_volume") if role in first.table.names]
    return {
        "format": first.table.layout.name,
        "files": [part.table.file for part in parts],
        "skipped_files": facts.skipped,
        "sha256": facts.sha256,
        "header": list(first.table.header),
        "columns": {
            role: {
                "name": first.table.names[role],
                "number": first.table.places.get(role, -1) + 1,
                "reason": first.columns.get(role, ""),
            }
            for role in roles
        },
        "numbers": {"decimal": first.style.decimal, "reason": first.style.reason},
        "time_written": first.clock.written + (f" ({first.clock.reason})" if first.clock.reason else ""),
        "units": report.units_json(joined, places),
        "finer_than_ms": sum(part.clock.finer for part in parts),
        "zone": first.zone.zone.name,
        "zone_reason": first.zone.reason,
        "zone_stated": first.clock.zoned or first.clock.date_only,
        "date_only": first.clock.date_only,
    }


def _candle_facts(
    candles: Candles, kept: Ints, frame: ChosenTimeframe, broken: Ints, places: PlacesOf
) -> dict[str, Any]:
    volume = candles.volume
    negative = rows_where(len(volume), lambda rows: volume[rows] < 0)
    whole_grid = frame.ms < 28 * DAY
    return {
        "first": int(candles.time[0]),
        "last": int(candles.time[-1]),
        "gaps": report.gaps_json(find_gaps(candles, frame.ms)),
        "violations": report.lines_json(kept[broken], places),
        "not_positive": report.lines_json(kept[not_positive(candles)], places),
        "off_grid": report.lines_json(
            kept[checks.off_grid(candles.time, frame.ms)] if whole_grid else kept[:0], places
        ),
        "negative_volumes": report.lines_json(kept[negative], places),
        "null_volumes": int(np.count_nonzero(np.isnan(candles.volume))),
    }


def _notes(body: dict[str, Any], parts: Sequence[ParsedRows], notes: list[str]) -> list[str]:
    said = list(dict.fromkeys(note for part in parts for note in part.notes)) + notes
    if body["order"] == "descending":
        said.append(f"The file is newest first: its {body['rows_read']} rows were reversed.")
    if body["order"] == "unsorted":
        said.append(f"{body['out_of_order']['count']} rows stood out of order and were sorted.")
    if len({segment["unit"] for segment in body["units"]}) > 1:
        said.append("The unit of the times changes within the file; each was read by its size.")
    if body["finer_than_ms"]:
        said.append(f"{body['finer_than_ms']} times were finer than a millisecond and were floored to it.")
    if body["zone_reason"].startswith("the file states no zone"):
        said.append(f"Note on the zone: {body['zone_reason']}.")
    for key, text in (
        ("violations", "Candles whose high or low does not enclose open and close, kept and flagged"),
        ("not_positive", "Candles with a price of 0 or less, which a log scale cannot show"),
        ("negative_volumes", "Candles with a negative volume"),
        ("off_grid", "Candles that do not start on the grid of the timeframe"),
    ):
        if body[key]["count"]:
            said.append(f"{text}: {body[key]['count']}.")
    if body["units"] and body["last"] < EPOCH_LOOKS_WRONG:
        said.append("All times lie before 1973, read as seconds since 1970; check that they count from there.")
    return said
