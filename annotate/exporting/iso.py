"""Times as the exports write them: ISO 8601 in UTC with Z, milliseconds only where there are some. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np

from annotate.errors import InvalidInput

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # in UTC as all times here are; an aware one writes +00:00
WHOLE_SECOND = ".000Z"


def iso(time: int) -> str:
    """Write a time, ms UTC.

    Examples
    --------
    >>> iso(1_763_831_021_000), iso(1_763_831_021_358)
    ('2025-11-22T17:03:41Z', '2025-11-22T17:03:41.358Z')
    """
    text = (EPOCH + timedelta(milliseconds=time)).isoformat(timespec="milliseconds") + "Z"
    return text[: -len(WHOLE_SECOND)] + "Z" if text.endswith(WHOLE_SECOND) else text


def from_iso(text: str) -> int:
    """Read what `iso` wrote; raise InvalidInput for anything else."""
    try:
        time = int(np.datetime64(text.removesuffix("Z"), "ms").astype(np.int64))
    except ValueError:
        time = 0
    if iso(time) != text:
        raise InvalidInput(f"time {text!r}: write it as 2025-11-22T17:03:41Z", value=text)
    return time
