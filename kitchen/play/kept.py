"""Turns that this process has read and keeps: a step then costs one look at the row that others may have
changed.

The promise. What is kept decides nothing. Whoever takes a turn compares it with what is stored
(`bring_up_to_date`): the episode's key, its step and the hash of its state. Where they are the same, the
world, the past steps and what minds remember follow from them and are not read again; pages, claims, the
clock and the commands that are in are taken from the database every time. Where anything differs, what was
kept is dropped and read anew. So any other process may serve the same episode at any moment, and a process
that dies loses nothing that was stored.

A turn is taken by one thread at a time; another one that wants it meanwhile reads its own. It is put back
when the transaction around it has been committed, and only then. At most `MOST` are kept, the longest unused
go first.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet

from kitchen.machine.statements import as_json, as_time, select
from kitchen.play.models import Episode, Seat, SeatCommand
from kitchen.play.turns import OpenTurn

MOST = 500
"""Turns that a process keeps."""

_EPISODE = ("key", "step", "state_hash", "status", "ended_because", "deciding_by")
_SECONDS = ("thinking_seconds", "decision_seconds", "step_seconds")
_TIMES = ("deciding_until", "turn_opened_at", "turn_closes_at")
_SEAT = ("number", "key", "page")
_COMMAND = ("command", "chosen_by", "fallback", "received_at")

_STANDING = """
SELECT {columns}
FROM kitchen_seat seat
JOIN kitchen_episode episode ON episode.id = seat.episode_id
LEFT JOIN kitchen_seatcommand command
    ON command.episode_id = episode.id AND command.seat = seat.number AND command.step = episode.step + 1
WHERE seat.episode_id = %s
ORDER BY command.id, seat.number
""".format(  # names of our own columns
    columns=", ".join(
        [f"episode.{name}" for name in (*_EPISODE, *_SECONDS, *_TIMES)]
        + [f"seat.{name}" for name in _SEAT]
        + [f"command.{name}" for name in _COMMAND]
    )
)
_LOCK = "SELECT id FROM kitchen_episode WHERE id = %s FOR UPDATE"

_lock = threading.Lock()
_kept: OrderedDict[int, OpenTurn] = OrderedDict()


@contextmanager
def turn_taken(episode_id: int) -> Iterator[OpenTurn]:
    """The open turn of this episode for this thread alone, perhaps as it was some time ago. It is kept for
    the next one afterwards, unless something went wrong. Episode.DoesNotExist."""
    turn = _take(episode_id) or OpenTurn(*_stored(episode_id))
    yield turn
    transaction.on_commit(partial(_put, turn))


@contextmanager
def turn_now(episode_id: int) -> Iterator[OpenTurn]:
    """The open turn as it is stored, to be read. Episode.DoesNotExist."""
    with turn_taken(episode_id) as turn:
        bring_up_to_date(turn)
        yield turn


def bring_up_to_date(turn: OpenTurn, *, lock: bool = False) -> bool:
    """Compare with what is stored and take over what others may have changed; whether the step and the state
    were what the turn says. With `lock` nobody else changes the episode until the transaction ends.
    Episode.DoesNotExist."""
    if (
        lock and connection.features.has_select_for_update
    ):  # what is joined is read after it: no older snapshot
        select(_LOCK, [turn.episode.pk])
    rows = _standing(turn)
    same = agrees = _agrees(turn, rows)
    while not agrees:
        turn.begin_anew(*_stored(turn.episode.pk))
        rows = _standing(turn)
        agrees = _agrees(turn, rows)
    _take_over(turn, rows)
    return same


def _standing(turn: OpenTurn) -> list[tuple[Any, ...]]:
    if rows := select(_STANDING, [turn.episode.pk]):
        return rows
    raise Episode.DoesNotExist


def _agrees(turn: OpenTurn, rows: list[tuple[Any, ...]]) -> bool:
    key, step, state_hash, *_ = rows[0]
    episode = turn.episode
    return (str(key).replace("-", ""), step, state_hash) == (
        episode.key.hex,
        episode.step,
        episode.state_hash,
    )


def _take_over(turn: OpenTurn, rows: list[tuple[Any, ...]]) -> None:
    """What others may have changed, as it is stored."""
    seats, given = {seat.number: seat for seat in turn.seats}, {}
    _, _, _, *facts = rows[0]
    for name, value in zip((*_EPISODE[3:], *_SECONDS), facts, strict=False):
        setattr(turn.episode, name, value)
    for name, value in zip(_TIMES, facts[len(_EPISODE) - 3 + len(_SECONDS) :], strict=False):
        setattr(turn.episode, name, value and as_time(value))
    for *_, number, key, page, command, chosen_by, fallback, received_at in rows:
        seats[number].key, seats[number].page = key, page
        if chosen_by is not None:
            given[number] = SeatCommand(
                episode_id=turn.episode.pk,
                step=turn.step,
                seat=number,
                command=as_json(command),
                chosen_by=chosen_by,
                fallback=fallback,
                received_at=as_time(received_at),
            )
    turn.given = given


def _stored(episode_id: int) -> tuple[Episode, QuerySet[Seat]]:
    return Episode.objects.get(pk=episode_id), Seat.objects.filter(episode=episode_id)


def _take(episode_id: int) -> OpenTurn | None:
    with _lock:
        return _kept.pop(episode_id, None)


def _put(turn: OpenTurn) -> None:
    with _lock:
        _kept[turn.episode.pk] = turn
        while len(_kept) > MOST:
            _kept.popitem(last=False)
