"""What every request is read with: JSON bodies that can be stored again, numbers of things that a database can hold."""

from __future__ import annotations

from typing import Any

from flask import Flask, Request, request
from flask.json.provider import DefaultJSONProvider
from werkzeug.routing import IntegerConverter, Map

from annotate.errors import InvalidInput
from annotate.store.runs import MAX_ID
from annotate.zips import parsed_json


class StorableJson(DefaultJSONProvider):
    """JSON without NaN, half characters or nesting without end: what it reads can be written again."""

    sort_keys = False

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:  # noqa: ARG002  # Flask's signature
        """Read a body; raise ValueError, as Flask expects it, for one that cannot be taken."""
        try:
            return parsed_json(s.decode("utf-8") if isinstance(s, bytes) else s, "the body")
        except InvalidInput as error:
            raise ValueError(error.message) from None


class JsonRequest(Request):
    """A request that says what is wrong with its JSON."""

    def on_json_loading_failed(self, e: ValueError | None) -> Any:
        """Raise InvalidInput for a body that is no JSON; another content type is answered as Flask does."""
        if e is None:
            return super().on_json_loading_failed(e)
        raise InvalidInput(str(e), field="body") from None


class Id(IntegerConverter):
    """`<int:…>` of a route: a larger number than any row can have is no address."""

    def __init__(self, map: Map) -> None:  # noqa: A002  # werkzeug's name
        super().__init__(map, max=MAX_ID)


def optional_json() -> Any:
    """Give the body of a request that may come without one: {} where none was sent."""
    return request.get_json() if request.content_length else {}


def register(app: Flask) -> None:
    """Read this app's requests so; before its routes are made."""
    app.json = StorableJson(app)
    app.request_class = JsonRequest
    app.url_map.converters["int"] = Id
