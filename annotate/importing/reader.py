"""From a file to candles with a report, or to the questions that it leaves open: open, read, parse, check, report."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from annotate.errors import InvalidInput
from annotate.importing.arriving import Arriving
from annotate.importing.arrow import mask_of, pc
from annotate.importing.arrow_files import is_arrow, read_arrow
from annotate.importing.columns import plain
from annotate.importing.container import Member, Upload, open_upload, refuse_others, sha256_of
from annotate.importing.delimited import read_delimited
from annotate.importing.doubts import Choice, Doubts
from annotate.importing.json_files import read_json
from annotate.importing.names import split_pair
from annotate.importing.parse import parse_rows
from annotate.importing.report import candles_json
from annotate.importing.series import FileFacts, Imported, assemble
from annotate.importing.table import Table
from annotate.importing.text import load_text

Watch = Callable[[float], None]

PREVIEW_ROWS = 20
OPENED, MAPPED, PARSED = 0.1, 0.4, 0.8  # share of a reading that is done after each step
MAX_SYMBOLS = 500


@dataclass(frozen=True, slots=True)
class Opened:
    """The tables of a file, the questions that they left open, and the answers that they rest on."""

    upload: Upload
    tables: list[Table]
    questions: Mapping[str, dict[str, Any]]
    answers: Mapping[str, str | None]

    def fits(self, doubts: Doubts) -> bool:
        """Tell whether the file would be opened so with these answers too: most are asked for later than that."""
        return all(doubts.given(name) == answer for name, answer in self.answers.items())


@dataclass(frozen=True, slots=True)
class _Source:
    """The tables of one series, perhaps from several members of an archive."""

    symbol: str | None
    tables: list[Table]


def read_file(
    path: Path,
    filename: str,
    answers: Mapping[str, Any],
    *,
    sha256: str | None = None,
    opened: Opened | None = None,
    watch: Watch = lambda _share: None,
) -> list[Imported]:
    """Read every series of a file.

    Raises InvalidInput (details line, column, value) for what cannot be read, and NeedsAnswer (details questions)
    for what can be read in more than one way. `answers` holds `symbol`, `timeframe`, `zone` and answers by question;
    `sha256` is the hash of the bytes and `opened` the file as `open_file` gave it, where the caller has them;
    `watch` is told the share done after each step, and what it raises ends the reading.
    """
    doubts = Doubts(answers)
    try:
        series = _read(path, filename, doubts, sha256, opened, watch)
    except InvalidInput:
        doubts.settle()  # what failed may rest on a guess, so the question comes first
        raise
    doubts.settle()
    return series


def open_file(path: Path, filename: str, answers: Mapping[str, Any], arriving: Arriving | None = None) -> Opened:
    """Read the tables of a file, perhaps while it arrives; raise as `read_file` does, OSError where it breaks off."""
    return _open(path, filename, Doubts(answers), lambda _share: None, arriving)


def preview(
    path: Path,
    filename: str,
    answers: Mapping[str, Any],
    *,
    sha256: str | None = None,
    opened: Opened | None = None,
) -> dict[str, Any]:
    """Show how a file would be read: its series with first and last candles and reasons, and the open questions.

    Where the likely answers lead nowhere there are no series yet; `problem` says why.
    """
    doubts = Doubts(answers)
    try:
        series, problem = _read(path, filename, doubts, sha256, opened, lambda _share: None), None
    except InvalidInput as error:
        if not doubts.questions:
            raise
        series, problem = [], error.message
    return {
        "series": [_shown(each) for each in series],
        "questions": list(doubts.questions.values()),
        "ready": not doubts.questions,
        "problem": problem,
    }


def _shown(imported: Imported) -> dict[str, Any]:
    candles = imported.candles
    return {
        "symbol": imported.symbol,
        "timeframe": imported.timeframe,
        "zone": imported.zone,
        "candles": len(candles),
        "first": candles_json(candles.slice(0, PREVIEW_ROWS)),
        "last": candles_json(candles.slice(max(0, len(candles) - PREVIEW_ROWS), len(candles))),
        "report": imported.report,
    }


def _read(
    path: Path, filename: str, doubts: Doubts, sha256: str | None, opened: Opened | None, watch: Watch
) -> list[Imported]:
    # Hashing leaves the interpreter free, so that it costs no time beside the reading on a second core.
    with ThreadPoolExecutor(1) as pool:
        hashing = pool.submit(lambda: sha256 or sha256_of(path))
        if opened is None or not opened.fits(doubts):
            opened = _open(path, filename, doubts, watch, None)
        doubts.questions.update(opened.questions)
        watch(MAPPED)
        sources = _chosen(_by_series([part for table in opened.tables for part in _by_symbol(table)]), doubts)
        parsed = []
        for done, source in enumerate(sources, 1):
            parsed.append([parse_rows(table, doubts) for table in source.tables])
            watch(MAPPED + (PARSED - MAPPED) * done / len(sources))
        upload = opened.upload
        facts = FileFacts(hashing.result(), upload.skipped, several=len(upload.members) > 1)
    symbols = [_symbol(source, doubts, len(sources)) for source in sources]
    return [assemble(parts, symbol, facts, doubts) for parts, symbol in zip(parsed, symbols, strict=True)]


def _open(path: Path, filename: str, doubts: Doubts, watch: Watch, arriving: Arriving | None) -> Opened:
    upload = open_upload(path, filename, arriving)
    watch(OPENED)
    tables = []
    for done, member in enumerate(upload.members, 1):
        tables += _tables(member, doubts)
        watch(OPENED + (MAPPED - OPENED) * done / len(upload.members))
    return Opened(upload, tables, dict(doubts.questions), dict(doubts.looked_for))


def _tables(member: Member, doubts: Doubts) -> list[Table]:
    refuse_others(member)
    if is_arrow(member):
        return read_arrow(member, doubts)
    text = load_text(member)
    if not any(line.strip() for line in text.sample):
        raise InvalidInput(f"{member.name} is blank: it has no text; download it again", name=member.name)
    if next(line for line in text.sample if line.strip()).lstrip()[0] in "[{":
        return read_json(text, doubts)
    return read_delimited(text, doubts)


def _by_symbol(table: Table) -> list[Table]:
    """Part a table by its symbol column; rows keep their lines."""
    column = table.columns.get("symbol")
    if column is None:
        return [table]
    cells = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
    names = [name for name in pc.unique(cells).to_pylist() if name]
    if plain(table.names["symbol"]) == "name" and all(name.isdigit() for name in names):
        return [table]  # CoinMarketCap numbers its coins there
    if len(names) > MAX_SYMBOLS:
        raise InvalidInput(
            f"{table.file} holds {len(names)} symbols; at most {MAX_SYMBOLS} are read at once", file=table.file
        )
    if len(names) <= 1:
        return [replace(table, symbol=names[0] if names else table.symbol)]
    parts = []
    for name in names:
        rows = np.flatnonzero(mask_of(pc.equal(cells, name)))
        parts.append(replace(table.take(rows), symbol=name))
    return parts


def _by_series(tables: list[Table]) -> list[_Source]:
    """Put tables of one symbol and timeframe together, such as the months of one market in an archive."""
    groups: dict[tuple[str, str | None], list[Table]] = {}
    for table in tables:
        stem = re.sub(r"[\d_.\- ]+$", "", table.file.rsplit(".", 1)[0])
        groups.setdefault((table.symbol or stem, table.timeframe), []).append(table)
    return [_Source(key[0] if len(groups) > 1 else group[0].symbol, group) for key, group in groups.items()]


def _chosen(sources: list[_Source], doubts: Doubts) -> list[_Source]:
    """Ask which of several series to take; all is the likely answer."""
    if len(sources) == 1:
        return sources
    names = [source.symbol or "unnamed" for source in sources]
    choices = [Choice("all", f"All {len(sources)}, a series each", likely=True)]
    choices += [Choice(name, name) for name in dict.fromkeys(names)]
    reason = f"The file holds {len(sources)} series: {', '.join(names[:20])}."
    answer = doubts.ask("symbols", "Which of the series in this file are to be imported?", choices, reason)
    return (
        sources if answer == "all" else [source for source, name in zip(sources, names, strict=True) if name == answer]
    )


def _symbol(source: _Source, doubts: Doubts, count: int) -> str | None:
    given = doubts.given("symbol") if count == 1 else None
    found = source.symbol or source.tables[0].symbol
    return given or (split_pair(found) if found else None)
