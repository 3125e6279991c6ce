"""What marked trades would have brought, before costs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TradeResult:
    """One trade; `change` is the share of the entry price, None where that is not above 0."""

    label: str
    side: str
    entry: int  # ms UTC
    exit: int
    change: float | None
    risk: float | None  # result ÷ distance from entry to stop; None without a stop on the losing side


@dataclass(frozen=True, slots=True)
class Totals:
    """What trades came to; those without a share count as trades only."""

    count: int
    won: int
    change: float | None
    mean: float | None


def results_of(marks: Iterable[Mapping[str, Any]]) -> list[TradeResult]:
    """Give the result of each trade, in the order given."""
    return [_result(mark) for mark in marks if mark["kind"] == "trade"]


def totals_of(results: Sequence[TradeResult]) -> Totals:
    """Sum up."""
    changes = [each.change for each in results if each.change is not None]
    total = sum(changes) if changes else None
    won = sum(change > 0 for change in changes)
    return Totals(len(results), won, total, None if total is None else total / len(changes))


def _result(trade: Mapping[str, Any]) -> TradeResult:
    sign = 1 if trade["side"] == "long" else -1
    entry, left = trade["entry"]["price"], trade["exit"]["price"]
    gain = sign * (left - entry)
    risk = None if trade["stop"] is None else sign * (entry - trade["stop"])
    return TradeResult(
        label=trade["label"],
        side=trade["side"],
        entry=trade["entry"]["time"],
        exit=trade["exit"]["time"],
        change=gain / entry if entry > 0 else None,
        risk=gain / risk if risk is not None and risk > 0 else None,
    )
