"""Columns of numbers in an answer: base64 of little-endian doubles, or plain lists."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from annotate.errors import InvalidInput
from annotate.models import Json

Column = npt.NDArray[Any]


def encoder(encoding: str) -> Callable[[Column], Json | list[float | int | None]]:
    """Give how columns are written; raise InvalidInput for what is neither `binary` nor `list`."""
    if encoding not in ("binary", "list"):
        raise InvalidInput(f"encoding={encoding}: choose binary or list", field="encoding")
    return _binary if encoding == "binary" else _list


def binary_json(head: Json, columns: Mapping[str, Column]) -> bytes:
    """Give `head` and binary columns as JSON text: base64 needs none of the care that an encoder takes over strings."""
    parts = [json.dumps(head, separators=(",", ":")).encode()[:-1]]
    for name, values in columns.items():
        doubles = base64.b64encode(np.ascontiguousarray(values, "<f8").data)
        parts += [f',"{name}":{{"dtype":"f8","bdata":"'.encode(), doubles, b'"}']
    return b"".join([*parts, b"}\n"])


def _binary(values: Column) -> Json:
    """Give little-endian doubles in base64; a null is NaN there, which JSON could not say."""
    return {"dtype": "f8", "bdata": base64.b64encode(np.ascontiguousarray(values, "<f8").data).decode("ascii")}


def _list(values: Column) -> list[float | int | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]
