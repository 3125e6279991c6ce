"""The application with a series to mark, shared by the tests of a module; each test marks a series of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from annotate.models import Json
from annotate.settings import Settings
from annotate.views.services import Services
from tests.annotate.annotations.builders import START, Workspace, candles_at, every
from tests.conftest import TOKEN


@dataclass
class Marking:
    """A client, and the series that this test marks."""

    app: Flask
    client: FlaskClient
    series_id: int

    @property
    def parts(self) -> Services:
        """Give the parts of the instance."""
        parts: Services = self.app.extensions["annotate"]
        return parts

    def put(self, body: Json, mark_id: str | None = None, **headers: str) -> TestResponse:
        """Save a draft."""
        path = f"/api/series/{self.series_id}/annotations/{mark_id or uuid4()}"
        return self.client.put(
            path, json=body, headers={name.replace("_", "-"): text for name, text in headers.items()}
        )

    def put_ok(self, body: Json, mark_id: str | None = None, **headers: str) -> Json:
        """Save a draft that is taken; give the stored mark."""
        return answered(self.put(body, mark_id, **headers), 200)

    def marks(self) -> list[Json]:
        """Give the stored marks."""
        items: list[Json] = answered(self.client.get(f"/api/series/{self.series_id}/annotations"))["items"]
        return items


@contextmanager
def serving(folder: Path) -> Iterator[Marking]:
    """Run the whole application on a folder, without a worker."""
    from app import close_app, create_app

    app = create_app(Settings(data_dir=folder, token=TOKEN, threads=1))
    client = app.test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {TOKEN}"
    yield Marking(app, client, 0)
    close_app(app)


def new_series(marking: Marking) -> Marking:
    """Give the same application with a fresh series of 100 hours."""
    parts = marking.parts
    workspace = Workspace(parts.settings.data_dir, parts.database, parts.candles, 0)
    return Marking(marking.app, marking.client, workspace.add_series(candles_at(every("1h", 100, START))))


def answered(answer: TestResponse, status: int = 200) -> Json:
    """Give the JSON of an answer that must have this status."""
    assert answer.status_code == status, answer.text
    body: Json | None = answer.json
    assert body is not None
    return body


def refused(answer: TestResponse, status: int) -> Json:
    """Give what an error says, in the one shape."""
    error: Json = answered(answer, status)["error"]
    assert set(error) == {"code", "message", "details"}
    return error
