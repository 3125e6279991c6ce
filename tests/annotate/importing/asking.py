"""Small texts of candles for tests of single rules, and what they give: candles, a question or a refusal."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from annotate.errors import InvalidInput, NeedsAnswer
from annotate.importing import read_file
from tests.annotate.importing.files import imported

HEADER = "time,open,high,low,close,volume"


def table(times: Iterable[object], *, header: str | None = HEADER, cells: str = "10.5,11.25,9.75,10,100") -> bytes:
    """Write one candle a time, all with the same prices."""
    lines = ([] if header is None else [header]) + [f"{time},{cells}" for time in times]
    return ("\n".join(lines) + "\n").encode()


def ms(text: str) -> int:
    """Give an ISO time of UTC in ms."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def times_of(folder: Path, data: bytes, name: str = "a.csv", **answers: Any) -> list[int]:
    """Give the open times that a file is read with."""
    times: list[int] = imported(folder, name, data, answers).candles.time.tolist()
    return times


def asked(folder: Path, data: bytes, name: str = "a.csv", **answers: Any) -> dict[str, str]:
    """Give the questions that a file leaves open, each with its likely answer."""
    path = folder / "upload"
    path.write_bytes(data)
    with pytest.raises(NeedsAnswer) as raised:
        read_file(path, name, answers)
    questions = raised.value.details["questions"]
    assert all(question["question"] and question["reason"] for question in questions)
    return {each["name"]: next(choice["value"] for choice in each["choices"] if choice["likely"]) for each in questions}


def refused(folder: Path, data: bytes, name: str = "a.csv", **answers: Any) -> InvalidInput:
    """Give the refusal of a file."""
    path = folder / "upload"
    path.write_bytes(data)
    with pytest.raises(InvalidInput) as raised:
        read_file(path, name, answers)
    assert not isinstance(raised.value, NeedsAnswer)
    return raised.value
