"""Times as the exports write them: ISO 8601 in UTC with Z, milliseconds only where there are some. Pure."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from annotate.errors import InvalidInput

WHOLE_SECOND = ".000Z"


def iso(time: int) -> str:
    """Write a time, ms UTC.

    Examples
    --------
    >>> iso(1_763_831_021_000), iso(1_763_831_021_358)
    ('2025-11-22T17:03:41Z', '2025-11-22T17:03:41.358Z')
    """
    return iso_all(np.array([time], np.int64))[0]


def iso_all(times: npt.NDArray[np.int64]) -> list[str]:
    """Write many times, ms UTC (n,)."""
    texts = np.datetime_as_string(times.astype("datetime64[ms]"), unit="ms", timezone="UTC").tolist()
    return [text[: -len(WHOLE_SECOND)] + "Z" if text.endswith(WHOLE_SECOND) else text for text in texts]


def from_iso(text: str) -> int:
    """Read what `iso` wrote; raise InvalidInput for anything else."""
    try:
        time = int(np.datetime64(text.removesuffix("Z"), "ms").astype(np.int64))
    except ValueError:
        time = 0
    if iso(time) != text:
        raise InvalidInput(f"time {text!r}: write it as 2025-11-22T17:03:41Z", value=text)
    return time
