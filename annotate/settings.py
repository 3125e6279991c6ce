"""One frozen Settings, read from ANNOTATE_* variables; an unknown name or a bad value is an error."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotate.errors import InvalidInput

PREFIX = "ANNOTATE_"
LOOPBACK_ADDRESS = re.compile(r"http://127\.0\.0\.1:[1-9]\d{0,4}")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def _setting(default: Any, meaning: str) -> Any:
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How this instance runs. Each field is `ANNOTATE_<NAME>` in the environment; docs/settings.md explains them."""

    data_dir: Path = _setting(
        Path("data"), "Folder that holds everything: database, candles, datasets, checkpoints, logs."
    )
    host: str = _setting("127.0.0.1", "Address to bind. Anything but loopback needs ANNOTATE_ALLOWED_HOSTS.")
    port: int = _setting(8050, "Port to serve on.")
    token: str = _setting("", "Access token; when unset a random one is made and kept in the data folder.")
    allowed_hosts: tuple[str, ...] = _setting(
        (), "Further names, comma separated, by which browsers may reach this server."
    )
    max_upload_mb: int = _setting(1024, "Largest upload, in MiB.")
    threads: int = _setting(0, "CPU threads for training; 0 measures what is fastest here.")
    device: str = _setting("auto", "Where to train: auto, cpu or cuda.")
    keep_candle_events_hours: int = _setting(168, "Age at which a live run's per-candle events fold into hourly rows.")
    exchange_at: str = _setting(
        "", "Address of this machine, such as http://127.0.0.1:9000, that stands in for every exchange; for trials."
    )
    keep_snapshots_mb: int = _setting(512, "Most room that the kept snapshots of one live run may take, in MiB.")
    worker_answer_s: int = _setting(
        120, "A training process that gives no sign of life between two steps for so many seconds is ended."
    )
    log_level: str = _setting("INFO", "Least severe log record kept: DEBUG, INFO, WARNING or ERROR.")

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise InvalidInput(f"ANNOTATE_PORT={self.port}: a port is a number from 0 to 65535", name="ANNOTATE_PORT")
        if self.host not in LOOPBACK and not self.allowed_hosts:
            raise InvalidInput(
                f"ANNOTATE_HOST={self.host} is not loopback; name the hosts that browsers will use in "
                "ANNOTATE_ALLOWED_HOSTS, or leave ANNOTATE_HOST unset",
                name="ANNOTATE_HOST",
            )
        for name, allowed in (
            ("device", ("auto", "cpu", "cuda")),
            ("log_level", ("DEBUG", "INFO", "WARNING", "ERROR")),
        ):
            if getattr(self, name) not in allowed:
                variable = PREFIX + name.upper()
                raise InvalidInput(f"{variable}={getattr(self, name)}: use one of {', '.join(allowed)}", name=variable)
        for name in ("max_upload_mb", "keep_candle_events_hours", "keep_snapshots_mb", "worker_answer_s"):
            if getattr(self, name) < 1:
                variable = PREFIX + name.upper()
                raise InvalidInput(f"{variable}={getattr(self, name)}: must be at least 1", name=variable)
        if self.exchange_at:
            loopback_address(self.exchange_at)
        if self.threads < 0:
            raise InvalidInput(f"ANNOTATE_THREADS={self.threads}: must be 0 or more", name="ANNOTATE_THREADS")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read every ANNOTATE_* variable; raise InvalidInput for an unknown one or a value of the wrong type."""
        known = {PREFIX + f.name.upper(): f for f in dataclasses.fields(cls)}
        given = {name: text for name, text in environment.items() if name.startswith(PREFIX)}
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise InvalidInput(f"unknown setting {unknown[0]}; known are {', '.join(sorted(known))}", name=unknown[0])
        return cls(**{known[name].name: _parsed(name, text, known[name].default) for name, text in given.items()})


def loopback_address(text: str) -> str:
    """Give an address of this machine as it is; raise InvalidInput for any other."""
    if not LOOPBACK_ADDRESS.fullmatch(text):
        raise InvalidInput(
            f"ANNOTATE_EXCHANGE_AT={text}: only an address of this machine is taken, such as http://127.0.0.1:9000",
            name="ANNOTATE_EXCHANGE_AT",
        )
    return text


def _parsed(name: str, text: str, default: object) -> Any:
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            raise InvalidInput(f"{name}={text}: a whole number is needed", name=name) from None
    if isinstance(default, Path):
        return Path(text)
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text
