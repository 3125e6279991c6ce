"""The kept snapshots of a live run as they stand on the disk: which there are, their room, which one to go back to."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from annotate.errors import Conflict, InvalidInput

Json = dict[str, Any]

FILES = ("model.safetensors", "meta.json")


@dataclass(frozen=True, slots=True)
class KeptSnapshot:
    """Weights of a run at one moment."""

    number: int
    step: int
    data_cut: int | None  # open time of the newest candle that they learnt from or were chosen on, ms UTC
    created: int  # ms UTC
    bytes: int


def kept_snapshots(run_folder: Path) -> list[KeptSnapshot]:
    """List the snapshots that a run keeps, newest first; one that is removed meanwhile is left out."""
    folder, found = run_folder / "kept", list[KeptSnapshot]()
    for path in folder.iterdir() if folder.is_dir() else ():
        with contextlib.suppress(FileNotFoundError):
            meta = json.loads((path / "meta.json").read_bytes())
            size = sum((path / name).stat().st_size for name in FILES)
            found.append(KeptSnapshot(int(path.name), meta["step"], meta["data_cut"], meta["created_ms"], size))
    return sorted(found, key=lambda kept: -kept.number)


def to_json(kept: Sequence[KeptSnapshot], most_bytes: int) -> Json:
    """Give `{items, bytes, most_bytes}`."""
    return {
        "items": [asdict(each) for each in kept],
        "bytes": sum(each.bytes for each in kept),
        "most_bytes": most_bytes,
    }


def choose(kept: Sequence[KeptSnapshot], since: int | None, number: int | None) -> tuple[KeptSnapshot, int]:
    """Give the snapshot to go back to and since when candles are forgotten; one of `since` and `number` says it."""
    if number is not None:
        chosen = numbered(kept, number)
        return chosen, (chosen.data_cut or 0) + 1 if since is None else since
    if since is None:
        raise InvalidInput("say since which candle to forget, or name a kept snapshot", field="since")
    return before(kept, since), since


def before(kept: Sequence[KeptSnapshot], since: int) -> KeptSnapshot:
    """Give the newest snapshot that has learnt no candle from `since` (ms UTC) on; raise InvalidInput without one."""
    found = next((each for each in kept if each.data_cut is None or each.data_cut < since), None)
    if found is None:
        cuts = [each.data_cut for each in kept if each.data_cut is not None]
        why = f"the oldest kept snapshot has learnt up to {min(cuts)}" if cuts else "this run keeps no snapshot yet"
        raise InvalidInput(
            f"since = {since}: {why}; name a later time, or start a run with a new model", field="since", value=since
        )
    return found


def numbered(kept: Sequence[KeptSnapshot], number: int) -> KeptSnapshot:
    """Give the snapshot of that number; raise Conflict where it is not, or no longer, kept."""
    found = next((each for each in kept if each.number == number), None)
    if found is None:
        raise Conflict(f"snapshot {number} is not kept; take one of {[each.number for each in kept]}", snapshot=number)
    return found
