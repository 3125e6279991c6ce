"""No acknowledged mark is lost and none is doubled, over a link that drops a fifth of everything and through kills."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import requests

from annotate.models import Json
from tests.annotate.annotations.builders import span
from tests.serving import Server, start_server
from tests.web.marking import Marking, new_series, serving

WRITES = 500
DROPPED = 0.2
ROUNDS = 10
WRITES_OF_ALL_ROUNDS = 1_000


@pytest.fixture
def marking(tmp_path: Path) -> Iterator[Marking]:
    with serving(tmp_path) as marking:
        yield new_series(marking)


class Link:
    """A connection that loses a fifth of the calls: half of them on the way there, half of them on the way back."""

    def __init__(self, marking: Marking, seed: int) -> None:
        self._marking = marking
        self._random = random.Random(seed)
        self.lost = 0

    def send(self, mark_id: str, body: Json) -> Json | None:
        """Send a draft; None where no answer came."""
        luck = self._random.random()
        if luck < DROPPED / 2:
            self.lost += 1
            return None
        answer = self._marking.put(body, mark_id)
        if luck < DROPPED:
            self.lost += 1
            return None
        assert answer.status_code == 200, answer.text
        stored: Json | None = answer.json
        return stored


def test_500_rapid_writes_over_a_link_that_drops_a_fifth_are_500_marks(marking: Marking) -> None:
    link = Link(marking, seed=7)
    drawn = {str(uuid4()): span(place % 90, place % 90 + 5, comment=str(place)) for place in range(WRITES)}
    waiting = dict(drawn)
    while waiting:
        waiting = {mark_id: body for mark_id, body in waiting.items() if link.send(mark_id, body) is None}
    marks = marking.marks()
    assert {mark["id"]: mark["comment"] for mark in marks} == {name: body["comment"] for name, body in drawn.items()}
    assert {mark["revision"] for mark in marks} == {1}
    assert 50 < link.lost < 250


def test_writes_that_arrive_at_once_from_several_hands_are_each_there_once(marking: Marking) -> None:
    drawn = {str(uuid4()): span(place, place + 5) for place in range(40)}
    doubled = [*drawn.items(), *drawn.items()]
    failures: list[str] = []

    def send(part: list[tuple[str, Json]], author: str) -> None:
        client = marking.app.test_client()
        client.environ_base.update(marking.client.environ_base)
        mine = Marking(marking.app, client, marking.series_id)
        failures.extend(
            answer.text for name, body in part if (answer := mine.put(body, name, X_Author=author)).status_code != 200
        )

    hands = [threading.Thread(target=send, args=(doubled[hand::4], "me")) for hand in range(4)]
    for hand in hands:
        hand.start()
    for hand in hands:
        hand.join()
    assert failures == []
    assert sorted(mark["id"] for mark in marking.marks()) == sorted(drawn)


@pytest.mark.soak
@pytest.mark.timeout(1_800)
def test_ten_kills_of_the_server_in_a_thousand_writes_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    acknowledged: dict[str, int] = {}
    chance = random.Random(3)
    for _ in range(ROUNDS):
        server = start_server(tmp_path)
        series_id = server.get("/api/series")["items"][0]["id"]
        after = chance.randrange(20, 2 * WRITES_OF_ALL_ROUNDS // ROUNDS - 20)
        acknowledged |= write_until_killed(server, series_id, after)
    server = start_server(tmp_path)
    stored = {mark["id"]: mark["revision"] for mark in server.get(f"/api/series/{series_id}/annotations")["items"]}
    server.stop()
    assert len(acknowledged) > WRITES_OF_ALL_ROUNDS // 2
    assert acknowledged.items() <= stored.items()
    assert len(stored) <= len(acknowledged) + ROUNDS * HANDS  # no more than what was on its way at each kill


HANDS = 4


def write_until_killed(server: Server, series_id: int, after: int) -> dict[str, int]:
    """Write with several hands and kill the server in the midst of it; give what was acknowledged."""
    acknowledged: dict[str, int] = {}
    first = server.get(f"/api/series/{series_id}")["series"]["first"]
    enough = threading.Event()

    def write() -> None:
        while True:
            name = str(uuid4())
            body: dict[str, Any] = {"kind": "point", "label": "Long", "time": first, "price": 1.0, "comment": name}
            try:
                answer = server.call("PUT", f"/api/series/{series_id}/annotations/{name}", json=body)
            except requests.ConnectionError:
                return
            acknowledged[str(UUID(answer.json()["id"]))] = answer.json()["revision"]
            if len(acknowledged) >= after:
                enough.set()

    hands = [threading.Thread(target=write) for _ in range(HANDS)]
    for hand in hands:
        hand.start()
    assert enough.wait(300)
    server.kill()
    for hand in hands:
        hand.join()
    return acknowledged
