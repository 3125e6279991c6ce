"""The times of a file as read: one value for the modules that parse them and the ones that use them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNITS = ("s", "ms", "us", "ns")


@dataclass(frozen=True, slots=True)
class Clock:
    """Times as a file gives them, in ms: UTC where `zoned`, else the file's own clock.

    `unit_of` has an index into UNITS for each row of an epoch column and is None for text; `finer` counts the
    times that were finer than a millisecond and were floored; `reason` says how day and month were told apart; `zone`
    is the IANA name that stands in every cell.
    """

    ms: NDArray[np.int64]
    zoned: bool
    date_only: bool
    written: str
    unit_of: NDArray[np.int8] | None = None
    finer: int = 0
    reason: str = ""
    zone: str | None = None
