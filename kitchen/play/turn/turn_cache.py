"""Cache open turns (steps that wait for commands) in this process, to save database queries.

Before each use, `refresh_turn` compares the cached turn with the database and reads it again if it is
outdated. So any process can serve an episode at any time. The cache holds at most `MAX_TURNS` turns, and
drops one after `MAX_IDLE_MINUTES` without use.
"""

# `refresh_turn` compares a cached turn with the database before it is used. If step and state are equal, only
# pages, claims, times and commands are taken from the database. Otherwise the turn is read again. So any
# process can serve an episode at any time.
#
# One thread at a time uses a cached turn; another thread reads its own copy. A turn returns to the cache
# after the commit. At most `MAX_TURNS` are kept, unused ones for `MAX_IDLE_MINUTES`.

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet

from kitchen.infra.database_writes import json_from_driver, select_rows, time_from_driver
from kitchen.play.models import Episode, Seat, SeatCommand
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.turn_claims import MindClaim

MAX_TURNS = 500
"""Maximum number of turns that a process caches."""
MAX_IDLE_MINUTES = 10.0
"""Minutes after which an unused turn is removed."""

_SAME = ("key", "step", "state_hash")
_TIMES = ("deciding_until", "turn_opened_at", "turn_closes_at", "asked_at")
_CHANGING = (
    "status",
    "ended_because",
    "deciding_by",
    "thinking_seconds",
    "decision_seconds",
    "step_seconds",
    "messages",
    "plans",
    "schedule_state",
    "probe_state",
    "probing",
    *_TIMES,
)
_COMMAND = ("command", "chosen_by", "fallback", "received_at", "to_follow", "planned_in")
_COLUMNS = {
    **{name: f"episode.{name}" for name in (*_SAME, *_CHANGING)},
    "number": "seat.number",
    "seat_key": "seat.key",
    "page": "seat.page",
    "may_act_in": "seat.may_act_in",
    "answer_awaited_in": "seat.answer_awaited_in",
    **{name: f"command.{name}" for name in _COMMAND},
    "mind": "seat.mind_id",
    "mind_step": "mind.deciding_step",
    "mind_until": "mind.deciding_until",
    "mind_by": "mind.deciding_by",
    "decided": "(SELECT MAX(number) FROM kitchen_decision WHERE mind_id = seat.mind_id"
    " AND number IS NOT NULL)",
    "called_in": "mind.called_in",
    "leads_in": "CASE WHEN seat.acts AND mind.called_in IS NULL THEN NULL ELSE (SELECT MAX(step)"
    " FROM kitchen_decision WHERE mind_id = seat.mind_id AND dropped = '' AND because <> 'answer') END",
}
_READERS: dict[str, Callable[[Any], Any]] = {
    "key": str,
    "probing": bool,
    **dict.fromkeys(("plans", "schedule_state", "probe_state", "command", "to_follow"), json_from_driver),
    **dict.fromkeys((*_TIMES, "received_at", "mind_until"), time_from_driver),
}
_STANDING = f"""
SELECT {", ".join(_COLUMNS.values())}
FROM kitchen_seat seat
JOIN kitchen_episode episode ON episode.id = seat.episode_id
LEFT JOIN kitchen_mind mind ON mind.id = seat.mind_id
LEFT JOIN kitchen_seatcommand command
    ON command.episode_id = episode.id AND command.seat = seat.number AND command.step = episode.step + 1
WHERE seat.episode_id = %s
ORDER BY command.id, seat.number
"""  # noqa: S608 - names of our own columns
_LOCK = "SELECT id FROM kitchen_episode WHERE id = %s FOR UPDATE"

Row = dict[str, Any]

_lock = threading.Lock()
_turns: OrderedDict[int, tuple[float, OpenTurn]] = OrderedDict()
"""By episode id: the monotonic time of the last use, and the turn. The longest unused turn comes first."""


@contextmanager
def exclusive_turn(episode_id: int) -> Iterator[OpenTurn]:
    """Context manager: yield the open turn of this episode, for this thread alone. Call `refresh_turn` first:
    the turn may come from a cache and be out of date.

    The turn goes back to the cache after the commit, unless an error occurred. Raises Episode.DoesNotExist if
    the episode was erased.
    """
    turn = _take(episode_id) or OpenTurn(*_stored(episode_id))
    yield turn
    transaction.on_commit(partial(_put, turn))


@contextmanager
def read_turn(episode_id: int) -> Iterator[OpenTurn]:
    """Context manager: yield the open turn of this episode, up to date and only for reading. Raises
    Episode.DoesNotExist if the episode was erased."""
    with exclusive_turn(episode_id) as turn:
        refresh_turn(turn)
        yield turn


def refresh_turn(turn: OpenTurn, *, lock: bool = False) -> bool:
    """Compare the turn with the database, and take over what other processes have changed. With `lock`, no
    other process can change the episode until the transaction ends.

    Returns True if step and state of the turn were already up to date. Raises Episode.DoesNotExist if the
    episode was erased.
    """
    # the joined tables are read after the lock: no older snapshot
    rows = _standing(turn, _LOCK if lock and connection.features.has_select_for_update else "")
    same = agrees = _agrees(turn, rows)
    while not agrees:
        turn.begin_anew(*_stored(turn.episode.pk))
        rows = _standing(turn)
        agrees = _agrees(turn, rows)
    _take_over(turn, rows)
    return same


def _standing(turn: OpenTurn, lock: str = "") -> list[Row]:
    """Return the stored state of the episode and its seats: one row for each seat, with the columns of the
    episode repeated. `lock` is a statement that locks the episode first."""
    if rows := select_rows(_STANDING, [turn.episode.pk], lock=lock):
        return [{name: _read(name, value) for name, value in zip(_COLUMNS, row, strict=True)} for row in rows]
    raise Episode.DoesNotExist


def _read(name: str, value: Any) -> Any:
    return _READERS[name](value) if value is not None and name in _READERS else value


def _agrees(turn: OpenTurn, rows: list[Row]) -> bool:
    stored, episode = rows[0], turn.episode
    same = stored["key"].replace("-", ""), stored["step"], stored["state_hash"]
    minds = {row["number"]: row["mind"] for row in rows} == {seat.number: seat.mind_id for seat in turn.seats}
    return minds and same == (episode.key.hex, episode.step, episode.state_hash)


def _take_over(turn: OpenTurn, rows: list[Row]) -> None:
    """Copy to this turn those values in `rows` that other processes may have changed."""
    for name in _CHANGING:
        setattr(turn.episode, name, rows[0][name])
    seats = {seat.number: seat for seat in turn.seats}
    for row in rows:
        seat = seats[row["number"]]
        seat.key, seat.page = row["seat_key"], row["page"]
        seat.may_act_in, seat.answer_awaited_in = row["may_act_in"], row["answer_awaited_in"]
    turn.is_read = True
    turn.given = {row["number"]: _command(turn, row) for row in rows if row["chosen_by"] is not None}
    standing = {
        row["mind"]: MindClaim(row["mind_step"], row["mind_until"], row["mind_by"], row["decided"] or 0)
        for row in rows
        if row["mind"] is not None
    }
    team = turn.episode.team
    if team and (team.talks_within or team.is_timed) and standing != turn.standing:
        turn.forget_memories()  # an agent may have decided while a step was open
    turn.standing = standing
    turn.decided = {row["number"] for row in rows if row["leads_in"] == turn.step}
    called = {row["mind"] for row in rows if row["called_in"] == turn.step}
    turn.called = {min(seat.number for seat in turn.seats if seat.mind_id == mind) for mind in called}


def _command(turn: OpenTurn, row: Row) -> SeatCommand:
    given = {name: row[name] for name in _COMMAND}
    return SeatCommand(episode_id=turn.episode.pk, step=turn.step, seat=row["number"], **given)


def _stored(episode_id: int) -> tuple[Episode, QuerySet[Seat]]:
    return Episode.objects.get(pk=episode_id), Seat.objects.filter(episode=episode_id)


def _take(episode_id: int) -> OpenTurn | None:
    with _lock:
        return _turns.pop(episode_id, (0.0, None))[1]


def _put(turn: OpenTurn) -> None:
    now = time.monotonic()
    with _lock:
        if turn.is_open:
            _turns[turn.episode.pk] = (now, turn)
        oldest = now - 60 * MAX_IDLE_MINUTES
        while _turns and (len(_turns) > MAX_TURNS or next(iter(_turns.values()))[0] < oldest):
            _turns.popitem(last=False)
