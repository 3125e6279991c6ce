"""The sample: three series for a new data folder. data/sample/README.md names where their figures come from."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import csv
from sqlalchemy.orm import Session

from annotate import simulator
from annotate.candle_store import CandleStore
from annotate.candles import COLUMNS, Candles, price_decimals
from annotate.db import Database
from annotate.models import Json, Setting
from annotate.store.series import count_series, create_series

FOLDER = Path(__file__).parents[1] / "data" / "sample"
LOADED = "sample_loaded"
TYPES: dict[str, pa.DataType] = {name: pa.int64() if name == "time" else pa.float64() for name in COLUMNS}


@dataclass(frozen=True, slots=True)
class SampleFile:
    """A market's candles in the project's own compact file."""

    file: str
    symbol: str
    timeframe: str


MARKETS = (SampleFile("eurusd-1h.csv.gz", "EUR/USD", "1h"), SampleFile("aapl-1d.csv.gz", "AAPL", "1d"))


def load_sample(database: Database, store: CandleStore) -> bool:
    """Load the sample into a data folder that never had a series, whole or not at all; tell whether it was loaded."""
    with database.write() as session:
        if session.get(Setting, LOADED) or count_series(session):
            return False
        for market in MARKETS:
            _add(session, store, market.symbol, market.timeframe, read_sample(market), "sample", {})
        facts = {"simulator": {"seed": simulator.SEED}}
        _add(session, store, simulator.SYMBOL, simulator.TIMEFRAME, simulator.simulate(), "simulator", facts)
        session.add(Setting(name=LOADED, value=True))
    return True


def read_sample(market: SampleFile) -> Candles:
    """Read a sample file: gzipped CSV with a header, times in ms UTC."""
    table = csv.read_csv(FOLDER / market.file, convert_options=csv.ConvertOptions(column_types=TYPES))
    return Candles(*(table.column(name).to_numpy() for name in COLUMNS))


def _add(
    session: Session, store: CandleStore, symbol: str, timeframe: str, candles: Candles, source: str, facts: Json
) -> None:
    series = create_series(
        session,
        symbol=symbol,
        timeframe=timeframe,
        source=source,
        simulated=source == "simulator",
        facts={"precision": price_decimals(candles), **facts},
        created=time.time_ns() // 1_000_000,
    )
    store.write_series(session, series.id, timeframe, candles)
