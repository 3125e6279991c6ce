"""Replay and blind passes over HTTP: an author of a series chooses to see less, and the server keeps to it."""

from __future__ import annotations

from random import SystemRandom

from flask import Blueprint, request

from annotate.annotations.fields import Fields
from annotate.annotations.veil import HIDES
from annotate.annotations.walk import MOST_STEPS, Walk
from annotate.models import Json, ReplaySession
from annotate.store.hiding import (
    begin_pass,
    close_replay,
    end_pass,
    find_replay,
    get_replay,
    list_passes,
    move_replay,
    open_replay,
    pass_to_json,
    replay_to_json,
)
from annotate.store.series import get_series
from annotate.views.services import author, now_ms, services

bp = Blueprint("replay", __name__, url_prefix="/api/series/<int:series_id>")

CHANCE = SystemRandom()


@bp.get("/replay")
def get_one(series_id: int) -> Json:
    """Give this author's replay of the series, null without one."""
    with services().database.read() as session:
        get_series(session, series_id)
        replay = find_replay(session, series_id, author())
    return {"replay": None if replay is None else _shown(replay, _walk(series_id))}


@bp.post("/replay")
def post_replay(series_id: int) -> tuple[Json, int]:
    """Begin to replay at a time, or at a random one; from now on nothing after the cursor is told to this author."""
    fields = Fields(request.get_json())
    fields.only(("at", "random", "hide_price"))
    walk = _walk(series_id)
    random = fields.flag("random")
    cursor = walk.random(CHANCE) if random else walk.at(fields.time("at"))
    with services().database.write() as session:
        hide_price = fields.flag("hide_price") if fields.has("hide_price") else random
        replay = open_replay(session, series_id, author(), cursor, now_ms(), random=random, hide_price=hide_price)
    services().veils.reload()
    return {"replay": _told(replay, walk)}, 201


@bp.patch("/replay")
def patch_replay(series_id: int) -> Json:
    """Go on or back by candles of a timeframe, or to a time; show or hide the price axis."""
    fields = Fields(request.get_json())
    fields.only(("step", "timeframe", "at", "hide_price"))
    walk = _walk(series_id)
    with services().database.write() as session:
        replay = get_replay(session, series_id, author())
        if fields.has("hide_price"):
            replay.hide_price = fields.flag("hide_price")
        move_replay(session, replay, _moved(fields, walk, replay.cursor))
    services().veils.reload()
    return {"replay": _told(replay, walk)}


@bp.delete("/replay")
def delete_replay(series_id: int) -> Json:
    """End this author's replay: everything is told again."""
    with services().database.write() as session:
        get_series(session, series_id)
        close_replay(session, series_id, author())
    services().veils.reload()
    _tell(series_id, None)
    return {"replay": None}


@bp.get("/blind")
def get_passes(series_id: int) -> Json:
    """List the blind passes over the series, oldest first."""
    with services().database.read() as session:
        get_series(session, series_id)
        return {"items": [pass_to_json(each) for each in list_passes(session, series_id)]}


@bp.post("/blind")
def post_pass(series_id: int) -> tuple[Json, int]:
    """Begin to mark without seeing the marks of others, or any that are older."""
    fields = Fields(request.get_json())
    fields.only(("hides",))
    hides = fields.choice("hides", HIDES)
    with services().database.write() as session:
        get_series(session, series_id)
        made = begin_pass(session, series_id, author(), hides, now_ms())
    services().veils.reload()
    _tell_of_pass(series_id)
    return {"pass": pass_to_json(made)}, 201


@bp.delete("/blind")
def delete_pass(series_id: int) -> Json:
    """End this author's blind pass; it stays in the list, to compare by."""
    with services().database.write() as session:
        get_series(session, series_id)
        ended = end_pass(session, series_id, author(), now_ms())
    services().veils.reload()
    _tell_of_pass(series_id)
    return {"pass": pass_to_json(ended)}


def _moved(fields: Fields, walk: Walk, cursor: int) -> int:
    if fields.has("at"):
        return walk.at(fields.time("at"))
    if not fields.has("step"):
        return cursor
    timeframe = fields.text("timeframe", 10) if fields.has("timeframe") else walk.timeframe
    return walk.stepped(cursor, fields.whole("step", -MOST_STEPS, MOST_STEPS), timeframe)


def _walk(series_id: int) -> Walk:
    with services().database.read() as session:
        timeframe = get_series(session, series_id).timeframe
    return Walk(services().candles.read(series_id).time, timeframe)


def _told(replay: ReplaySession, walk: Walk) -> Json:
    """Give a replay and tell the author's other pages of it."""
    shown = _shown(replay, walk)
    _tell(replay.series_id, shown)
    return shown


def _tell(series_id: int, replay: Json | None) -> None:
    body = {"what": "replay", "id": author(), "author": author()}
    services().publisher.series_changed(series_id, body | ({} if replay is None else {"cursor": replay["cursor"]}))


def _tell_of_pass(series_id: int) -> None:
    """Tell the author's pages that other marks are hidden now, or none: they ask again for what they hold."""
    services().publisher.series_changed(series_id, {"what": "blind", "id": author(), "author": author()})


def _shown(replay: ReplaySession, walk: Walk) -> Json:
    """Give a replay with how many candles it shows, and whether there are more; not how many."""
    row = walk.row(replay.cursor)
    return {**replay_to_json(replay), "candles": row + 1, "at_end": row + 1 >= len(walk.opens)}
