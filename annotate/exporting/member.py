"""One file of an export: its name in the zip, and its bytes block by block. Pure.

Blocks are made one after the other, so that a large export is never in memory as a whole and can be called off.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nn.dataset_dir import DatasetDir

Json = dict[str, Any]

BLOCK_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class Member:
    """A file; `parts` is how many blocks to expect, and `packed` says that deflating it again would gain nothing."""

    name: str
    blocks: Iterable[bytes]
    parts: int = 1
    packed: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """What is exported, and how."""

    folder: Path  # the dataset's
    dataset: DatasetDir
    figures: list[Json] = field(default_factory=list)  # of the run that last learnt here, {name, title, figure} each
    suggestions: list[Json] = field(default_factory=list)  # marks that are only proposed, with `lesson`, by lesson
    sequence_length: int = 200  # candles in a window
    stride: int = 50  # a window begins at every so many candles


class Drain(io.RawIOBase):
    """Where a writer of a binary format writes to; `take` gives what has come since and forgets it."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[bytes] = []
        self._position = 0

    def write(self, content: Any) -> int:
        """Keep a copy: Arrow uses its buffers again."""
        block = bytes(content)
        self._waiting.append(block)
        self._position += len(block)
        return len(block)

    def writable(self) -> bool:
        """Tell that it is for writing only."""
        return True

    def tell(self) -> int:
        """Count all bytes that ever came."""
        return self._position

    def take(self) -> bytes:
        """Give what came since the last call."""
        taken, self._waiting = b"".join(self._waiting), []
        return taken


def row_blocks(rows: int) -> list[tuple[int, int]]:
    """Cut rows into [start, end) of at most BLOCK_ROWS; one empty block where there are none."""
    return [(start, min(start + BLOCK_ROWS, rows)) for start in range(0, rows, BLOCK_ROWS)] or [(0, 0)]
