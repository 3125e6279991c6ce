"""Replay sessions and blind passes: who sees less than everything of which series."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotate.annotations.veil import Veil
from annotate.errors import Conflict, NotFound
from annotate.models import BlindPass, Json, ReplaySession

REPLAY_FIELDS = ("series_id", "author", "cursor", "furthest", "started", "random", "hide_price")
PASS_FIELDS = ("id", "series_id", "author", "hides", "started", "ended")


def every_veil(session: Session) -> dict[tuple[str, int], Veil]:
    """Give what is hidden, by author and series; those from whom nothing is hidden are left out."""
    replays = {(row.author, row.series_id): row.cursor for row in session.scalars(select(ReplaySession))}
    passes = {
        (row.author, row.series_id): row for row in session.scalars(select(BlindPass).where(BlindPass.ended.is_(None)))
    }
    veils = {}
    for key in replays.keys() | passes.keys():
        blind = passes.get(key)
        veils[key] = Veil(
            key[0], replays.get(key), hides=blind.hides if blind else None, since=blind.started if blind else 0
        )
    return veils


def find_replay(session: Session, series_id: int, author: str) -> ReplaySession | None:
    """Give the author's replay of a series, or None."""
    return session.get(ReplaySession, (series_id, author))


def get_replay(session: Session, series_id: int, author: str) -> ReplaySession:
    """Give the author's replay of a series; raise NotFound."""
    replay = find_replay(session, series_id, author)
    if replay is None:
        raise NotFound(f"{author} does not replay series {series_id}; open a replay first", series_id=series_id)
    return replay


def open_replay(
    session: Session, series_id: int, author: str, cursor: int, now: int, *, random: bool, hide_price: bool
) -> ReplaySession:
    """Begin a replay at a cursor; one that is open begins again."""
    replay = find_replay(session, series_id, author)
    if replay is None:
        replay = ReplaySession(series_id=series_id, author=author)
        session.add(replay)
    replay.cursor = replay.furthest = cursor
    replay.started, replay.random, replay.hide_price = now, random, hide_price
    session.flush()
    return replay


def move_replay(session: Session, replay: ReplaySession, cursor: int) -> None:
    """Move the cursor; how far it ever was is kept."""
    replay.cursor = cursor
    replay.furthest = max(replay.furthest, cursor)
    session.flush()


def close_replay(session: Session, series_id: int, author: str) -> None:
    """End the author's replay of a series, if there is one."""
    replay = find_replay(session, series_id, author)
    if replay is not None:
        session.delete(replay)
        session.flush()


def list_passes(session: Session, series_id: int) -> list[BlindPass]:
    """List the blind passes over a series, oldest first."""
    return list(session.scalars(select(BlindPass).where(BlindPass.series_id == series_id).order_by(BlindPass.id)))


def get_pass(session: Session, series_id: int, pass_id: int) -> BlindPass:
    """Give a pass over a series; raise NotFound."""
    found = session.get(BlindPass, pass_id)
    if found is None or found.series_id != series_id:
        raise NotFound(f"there is no blind pass {pass_id} over series {series_id}", id=pass_id)
    return found


def begin_pass(session: Session, series_id: int, author: str, hides: str, now: int) -> BlindPass:
    """Begin a pass; raise Conflict while the author makes one over this series."""
    running = _running(session, series_id, author)
    if running is not None:
        raise Conflict(f"{author} makes blind pass {running.id} over series {series_id}; end it first", id=running.id)
    made = BlindPass(series_id=series_id, author=author, hides=hides, started=now, ended=None)
    session.add(made)
    session.flush()
    return made


def end_pass(session: Session, series_id: int, author: str, now: int) -> BlindPass:
    """End the author's pass over a series; raise NotFound where there is none."""
    running = _running(session, series_id, author)
    if running is None:
        raise NotFound(f"{author} makes no blind pass over series {series_id}", series_id=series_id)
    running.ended = now
    session.flush()
    return running


def replay_to_json(replay: ReplaySession) -> Json:
    """Give a replay as the API shows it."""
    return {name: getattr(replay, name) for name in REPLAY_FIELDS}


def pass_to_json(blind: BlindPass) -> Json:
    """Give a pass as the API shows it."""
    return {name: getattr(blind, name) for name in PASS_FIELDS}


def _running(session: Session, series_id: int, author: str) -> BlindPass | None:
    query = select(BlindPass).where(BlindPass.series_id == series_id, BlindPass.author == author)
    return session.scalar(query.where(BlindPass.ended.is_(None)).limit(1))
