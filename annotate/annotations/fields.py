"""Reading one JSON object field by field; whatever cannot be taken is refused by name. Pure; no database."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from annotate.errors import InvalidInput

# From year 1 to year 9999: what every calendar this product talks to can write down.
EARLIEST_MS = -62_135_596_800_000
LATEST_MS = 253_402_300_799_999


class Fields:
    """One JSON object; `where` is its name inside the body, such as `entry.`, and stands before each field's name."""

    def __init__(self, given: object, where: str = "") -> None:
        if not isinstance(given, Mapping):
            name = where.rstrip(".") or "body"
            raise InvalidInput(f"{name} = {shown(given)}: must be a JSON object", field=name)
        self._given: Mapping[str, Any] = given
        self._where = where

    def only(self, known: Collection[str], ignored: Collection[str] = ()) -> None:
        """Refuse a field that is neither known nor ignored."""
        for name in self._given:
            if name not in known and name not in ignored:
                raise self.bad(name, "unknown field; known are " + ", ".join(known))

    def has(self, name: str) -> bool:
        """Say whether the field is there and not null."""
        return self._given.get(name) is not None

    def value(self, name: str) -> Any:
        """Give the field as it is; null where it is left out."""
        return self._given.get(name)

    def object(self, name: str) -> Fields:
        """Give an object inside this one."""
        return Fields(self._needed(name), f"{self._where}{name}.")

    def items(self, name: str) -> list[Fields]:
        """Give the objects of a list."""
        given = self._needed(name)
        if not isinstance(given, list):
            raise self.bad(name, "must be a list")
        return [Fields(item, f"{self._where}{name}[{index}].") for index, item in enumerate(given)]

    def text(self, name: str, most: int, default: str | None = None) -> str:
        """Give a text of at most `most` characters; it is needed and not blank where there is no default."""
        if default is not None and not self.has(name):
            return default
        given = self._needed(name)
        if not isinstance(given, str):
            raise self.bad(name, "must be a text")
        if default is None and not given.strip():
            raise self.bad(name, "must not be blank")
        if len(given) > most:
            raise self.bad(name, f"must have at most {most} characters, this one has {len(given)}")
        if any("\ud800" <= letter <= "\udfff" for letter in given):
            raise self.bad(name, "holds half of a surrogate pair; send whole characters")
        return given

    def uuid(self, name: str) -> str:
        """Give a UUID in small letters."""
        given = self.text(name, 36)
        try:
            canonical = str(UUID(given))
        except ValueError:
            canonical = ""
        if canonical != given:
            raise self.bad(name, "must be a UUID in small letters")
        return given

    def choice(self, name: str, allowed: Collection[str]) -> str:
        """Give one of the allowed words."""
        given = self._needed(name)
        if not isinstance(given, str) or given not in tuple(allowed):
            raise self.bad(name, "use " + " or ".join(allowed))
        return given

    def flag(self, name: str) -> bool:
        """Give true or false; false where it is left out."""
        given = self._given.get(name, False)
        if not isinstance(given, bool):
            raise self.bad(name, "must be true or false")
        return given

    def whole(self, name: str, least: int, most: int) -> int:
        """Give a whole number within the limits."""
        given = self._needed(name)
        if isinstance(given, bool) or not isinstance(given, int):
            raise self.bad(name, "must be a whole number")
        if not least <= given <= most:
            raise self.bad(name, f"must be from {least} to {most}")
        return given

    def time(self, name: str) -> int:
        """Give a time, int ms UTC."""
        return self.whole(name, EARLIEST_MS, LATEST_MS)

    def optional_time(self, name: str) -> int | None:
        """Give a time, or None where it is null or left out."""
        return self.time(name) if self.has(name) else None

    def number(self, name: str) -> float:
        """Give a finite number."""
        given = self._needed(name)
        if isinstance(given, bool) or not isinstance(given, int | float):
            raise self.bad(name, "must be a number")
        # A whole number beyond the range of a float overflows here rather than becoming infinite.
        if (isinstance(given, int) and abs(given) > 1 << 1023) or not math.isfinite(given):
            raise self.bad(name, "must be a finite number")
        return float(given)

    def optional_number(self, name: str) -> float | None:
        """Give a finite number, or None where it is null or left out."""
        return self.number(name) if self.has(name) else None

    def bad(self, name: str, why: str) -> InvalidInput:
        """Make the error that names the field, its value and the way out."""
        field = self._where + name
        return InvalidInput(f"{field} = {shown(self._given.get(name))}: {why}", field=field)

    def _needed(self, name: str) -> Any:
        if not self.has(name):
            field = self._where + name
            raise InvalidInput(f"{field} is missing", field=field)
        return self._given[name]


def shown(value: object, most: int = 80) -> str:
    """Give a value as a message shows it: quoted, without half characters, cut where it is long."""
    text = repr(value).encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= most else text[:most] + "…"


def query_number(arguments: Mapping[str, str], name: str, least: int, most: int) -> int | None:
    """Give a whole number of a query string, None where it is left out; raise InvalidInput naming it."""
    given = arguments.get(name)
    if given is None:
        return None
    try:
        number: object = int(given)
    except ValueError:
        number = given
    return Fields({name: number}).whole(name, least, most)
