"""The one door for candles from outside: stored durably and each once, then told to live runs and browsers."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from annotate.candles import Candles, Gap, find_gaps, violations
from annotate.errors import Conflict
from annotate.feeds.arrivals import Arrivals, Candle, columns_of, read_arrivals, row_of
from annotate.store.series import get_series
from annotate.timeframe import close_of, floor, parse

if TYPE_CHECKING:
    from annotate.candle_store import CandleStore
    from annotate.db import Database

Json = dict[str, Any]
Tell = Callable[[int, Json], None]

NOTED = 10_000  # periods without trades that are remembered of a series, until a run has read the candle after them
LISTED = 100  # times that a receipt lists of each kind; it counts them all


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of the candles of one call; what it calls stored is on the disk."""

    stored: int
    known: int  # candles that are stored already, equal in every value
    late: list[int]  # stored, but older than the newest was before: no live run learns them
    conflicts: list[Json]  # {time, stored, sent}: the stored one stays
    gaps: list[Gap]  # before and between the new candles
    flagged: list[int]  # stored although the high or low does not enclose the other prices
    forming: int | None
    repeated: int = 0
    out_of_order: int = 0
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> Json:
        """Give the receipt as the API shows it; lists are cut at 100, each with its whole count beside it."""
        gaps = [{"start": gap.start, "end": gap.end, "missing": gap.missing} for gap in self.gaps]
        lists: dict[str, list[Any]] = {
            "late": self.late,
            "conflicts": self.conflicts,
            "gaps": gaps,
            "flagged": self.flagged,
        }
        counts = {name: getattr(self, name) for name in ("stored", "known", "repeated", "out_of_order")}
        more = {f"{name}_count": len(items) for name, items in lists.items()}
        cut = {name: items[:LISTED] for name, items in lists.items()}
        return {**counts, **more, **cut, "forming": self.forming, "notes": self.notes}


class Intake:
    """Takes candles of any series, from any thread. `tell` (series, notice) reaches the browsers on a series."""

    def __init__(self, database: Database, candles: CandleStore, tell: Tell) -> None:
        self._database = database
        self._candles = candles
        self._tell = tell
        self._one_by_one = threading.Lock()  # between looking at what is stored and storing
        self._arrived = threading.Condition()
        self._count = 0
        self._following: list[Following] = []  # replaced, never changed
        self._no_trade: dict[int, deque[tuple[int, int]]] = {}  # series → newest periods without trades
        self._heard: dict[int, float] = {}  # series → when something came last, on the monotonic clock

    def post(self, series_id: int, body: object, now: int, cursor: int | None = None) -> Receipt:
        """Take what a call sends: one candle object, or a list of them; `now` is the clock, ms UTC.

        Raises InvalidInput for what cannot be taken and, for a single candle, Conflict where another one is stored;
        then nothing was stored. In a list the others are stored, and the receipt names the conflicts. With the
        `cursor` of a replay no stored candle that closes after it is told (`stored` is null), nor where candles are
        missing after it, nor which are older than what is stored there.
        """
        timeframe = self._timeframe(series_id)
        last = self._candles.bounds(series_id).last
        phase = 0 if last is None else last - floor(last, timeframe)
        arrivals = read_arrivals(body, timeframe, phase, now)
        receipt = self._take(series_id, timeframe, arrivals, notes=_notes(arrivals, timeframe, now))
        if cursor is not None:
            receipt = _told_up_to(cursor, timeframe, receipt)
        if receipt.conflicts and not isinstance(body, list):
            raise _contradiction(receipt.conflicts[0])
        return receipt

    def store(self, series_id: int, closed: Sequence[Candle]) -> Receipt:
        """Take closed candles, in order of time, from a feed of this process."""
        return self._take(series_id, self._timeframe(series_id), Arrivals(list(closed), None, 0, 0))

    def note_no_trade(self, series_id: int, start: int, end: int) -> None:
        """Note that nobody traded from the close of a candle up to the open time of the one after it."""
        with self._one_by_one:
            self._no_trade.setdefault(series_id, deque(maxlen=NOTED)).append((start, end))

    def is_no_trade(self, series_id: int, start: int, end: int) -> bool:
        """Tell whether what is missing between two candles was noted as without trades."""
        with self._one_by_one:
            return (start, end) in self._no_trade.get(series_id, ())

    def show_forming(self, series_id: int, candle: Candle) -> None:
        """Let a candle that still changes move on the charts; nothing else ever hears of it."""
        self._note_arrival(series_id)
        self._tell(series_id, {"what": "forming", "id": series_id, "candle": candle.to_json()})

    def heard_at(self, series_id: int) -> float | None:
        """Give the moment, on `time.monotonic`, at which something of a series came last; None for never."""
        return self._heard.get(series_id)

    def following(self, series_id: int) -> Following:
        """Give the stored candles of a series and word of new ones, for a feed."""
        with self._one_by_one:
            made = Following(self, self._candles, series_id)
            self._following = [*self._following, made]
        return made

    def unfollow(self, following: Following) -> None:
        """Tell a feed that is over nothing more."""
        with self._one_by_one:
            self._following = [other for other in self._following if other is not following]

    def count(self) -> int:
        """Give a number that grows whenever something came."""
        return self._count

    def wait(self, count: int, timeout_s: float) -> None:
        """Wait until the number is no longer `count`, at most so long."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._count != count, timeout_s)

    def _timeframe(self, series_id: int) -> str:
        with self._database.read() as session:
            return get_series(session, series_id).timeframe

    def _take(self, series_id: int, timeframe: str, arrivals: Arrivals, notes: Iterable[str] = ()) -> Receipt:
        with self._one_by_one:
            before = self._candles.bounds(series_id).last
            new, known, conflicts = self._part(series_id, arrivals.closed)
            late = [candle for candle in new if before is not None and candle.time < before]
            fresh = columns_of(new[len(late) :])
            self._insert(series_id, columns_of(late))
            self._candles.append(series_id, fresh)
            self._tell_late(series_id, late)
        self._note_arrival(series_id)
        if new:
            self._tell_stored(series_id, before, fresh)
        if arrivals.forming is not None and not self._is_over(series_id, arrivals.forming):
            self.show_forming(series_id, arrivals.forming)
        added = columns_of(new)
        return Receipt(
            stored=len(new),
            known=known,
            late=[candle.time for candle in late],
            conflicts=conflicts,
            gaps=self._gaps(before, timeframe, fresh),
            flagged=added.time[violations(added)].tolist(),
            forming=arrivals.forming.time if arrivals.forming else None,
            repeated=arrivals.repeated,
            out_of_order=arrivals.out_of_order,
            notes=list(notes),
        )

    def _part(self, series_id: int, closed: Sequence[Candle]) -> tuple[list[Candle], int, list[Json]]:
        """Part candles into new ones, the count of known ones, and those that another stored one contradicts."""
        if not closed:
            return [], 0, []
        stored = self._candles.read(series_id, closed[0].time, closed[-1].time + 1)
        rows = np.searchsorted(stored.time, [candle.time for candle in closed])
        new: list[Candle] = []
        known, conflicts = 0, []
        for candle, row in zip(closed, rows.tolist(), strict=True):
            if row == len(stored) or stored.time[row] != candle.time:
                new.append(candle)
            elif (found := row_of(stored, row)) == candle:
                known += 1
            else:
                conflicts.append({"time": candle.time, "stored": found.to_json(), "sent": candle.to_json()})
        return new, known, conflicts

    def _insert(self, series_id: int, late: Candles) -> None:
        if len(late):
            with self._database.write() as session:
                self._candles.merge(session, series_id, late)

    def _tell_late(self, series_id: int, late: Sequence[Candle]) -> None:
        for following in self._following if late else ():
            if following.series_id == series_id:
                following.is_late(late)

    def _gaps(self, before: int | None, timeframe: str, fresh: Candles) -> list[Gap]:
        if not len(fresh):
            return []
        edge = Candles.empty() if before is None else columns_of([Candle(before, 0, 0, 0, 0, None)])
        return find_gaps(Candles.concat([edge, fresh]), parse(timeframe))

    def _is_over(self, series_id: int, forming: Candle) -> bool:
        last = self._candles.bounds(series_id).last
        return last is not None and forming.time <= last

    def _note_arrival(self, series_id: int) -> None:
        self._heard[series_id] = time.monotonic()
        with self._arrived:
            self._count += 1
            self._arrived.notify_all()

    def _tell_stored(self, series_id: int, before: int | None, fresh: Candles) -> None:
        """Tell the browsers: the newest candle, the one before it, and how many there are now."""
        bounds = self._candles.bounds(series_id)
        newest = row_of(fresh, -1).to_json() if len(fresh) else None
        previous = int(fresh.time[-2]) if len(fresh) > 1 else before
        notice = {"first": bounds.first, "last": bounds.last, "candles": bounds.rows}
        self._tell(series_id, {"what": "candles", "id": series_id, **notice, "newest": newest, "previous": previous})


class Following:
    """The stored candles of one series, and word of new ones."""

    def __init__(self, intake: Intake, candles: CandleStore, series_id: int) -> None:
        self._intake = intake
        self._candles = candles
        self.series_id = series_id
        self._late: deque[Candle] = deque()  # filled by one thread, emptied by another

    def read(self, start: int) -> Candles:
        """Give the stored candles that open at or after a time."""
        return self._candles.read(self.series_id, start)

    def count(self) -> int:
        """Give a number that grows whenever candles were stored."""
        return self._intake.count()

    def wait(self, count: int, timeout_s: float) -> None:
        """Wait until the number is no longer `count`, at most so long."""
        self._intake.wait(count, timeout_s)

    def is_no_trade(self, start: int, end: int) -> bool:
        """Tell whether nobody traded between two candles, by the exchange's word."""
        return self._intake.is_no_trade(self.series_id, start, end)

    def is_late(self, candles: Iterable[Candle]) -> None:
        """Note candles that were stored after a newer one."""
        self._late.extend(candles)

    def late(self) -> Candles:
        """Give the candles that were stored after a newer one since this was asked last."""
        noted: list[Candle] = []
        while self._late:
            noted.append(self._late.popleft())
        return columns_of(sorted(noted, key=lambda candle: candle.time))

    def close(self) -> None:
        """Listen no longer."""
        self._intake.unfollow(self)


def _notes(arrivals: Arrivals, timeframe: str, now: int) -> list[str]:
    if not arrivals.closed:
        return []
    ahead = close_of(arrivals.closed[-1].time, timeframe) - now
    if ahead <= 0:
        return []
    return [f"the newest candle closes {ahead / 1000:,.0f} s after this server's clock; check both clocks"]


def _told_up_to(cursor: int, timeframe: str, receipt: Receipt) -> Receipt:
    conflicts = [
        conflict if close_of(conflict["time"], timeframe) <= cursor else {**conflict, "stored": None}
        for conflict in receipt.conflicts
    ]
    late = [time for time in receipt.late if close_of(time, timeframe) <= cursor]
    return replace(receipt, conflicts=conflicts, late=late, gaps=[gap for gap in receipt.gaps if gap.end <= cursor])


def _contradiction(conflict: Json) -> Conflict:
    return Conflict(
        f"another candle is stored at {conflict['time']}, and a stored candle stays; details hold both. Where yours is "
        "right, send the whole stretch to a new series",
        **conflict,
    )
