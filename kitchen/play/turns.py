"""One open step of one episode: who has commanded, and what happens once everybody has.

Only `services` uses this, inside its transactions.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Self

from django.utils import timezone

from kitchen.contract.world import Json, World
from kitchen.play import clock, stored
from kitchen.play.models import Episode, Seat, SeatCommand, Step


class StepTakenError(RuntimeError):
    """Two processes took the same step; the second is rolled back whole."""


class OpenTurn:
    """The step that can be commanded now, with the commands that are in."""

    def __init__(self, episode: Episode, seats: Iterable[Seat], rows: Iterable[SeatCommand] = ()) -> None:
        self.episode = episode
        self.seats = tuple(seats)
        self.given = {row.seat: row for row in rows}

    @classmethod
    def of(cls, episode: Episode) -> Self:
        """The open step of this episode as it is stored."""
        rows = SeatCommand.objects.filter(episode=episode, step=episode.step + 1)
        return cls(episode, episode.seats.all(), rows)

    @property
    def step(self) -> int:
        """The number of the open step; the first is 1."""
        return self.episode.step + 1

    @property
    def numbers(self) -> set[int]:
        """All seats."""
        return {seat.number for seat in self.seats}

    @property
    def people(self) -> set[int]:
        """Seats of people."""
        return {seat.number for seat in self.seats if seat.is_person}

    @property
    def pages(self) -> dict[int, str]:
        """The browser's page that plays each seat."""
        return {seat.number: seat.page for seat in self.seats}

    @property
    def is_complete(self) -> bool:
        """Every seat has its command."""
        return self.numbers <= self.given.keys()

    @property
    def overdue(self) -> list[int]:
        """Seats of people who have not commanded although the turn's time is over."""
        closes_at = self.episode.turn_closes_at
        playing = self.episode.status == Episode.Status.PLAYING
        if not playing or closes_at is None or timezone.now() < closes_at:
            return []
        return sorted(self.people - self.given.keys())

    @property
    def waits_for_minds(self) -> bool:
        """The people have commanded, and there are co-players that have not."""
        playing = self.episode.status == Episode.Status.PLAYING
        return playing and self.people <= self.given.keys() and not self.is_complete

    @property
    def due_at(self) -> datetime:
        """When it may run at the earliest: co-players think for at least so long from the moment at which
        the turn came to them, that is, when the last person had commanded."""
        came = (row.received_at for seat, row in self.given.items() if seat in self.people)
        thinking = self.episode.thinking_seconds if self.numbers - self.people else 0.0
        return max(came, default=self.episode.turn_opened_at) + timedelta(seconds=thinking)

    def add(self, row: SeatCommand) -> None:
        """One more command is in."""
        self.given[row.seat] = row

    def running_order(self) -> list[SeatCommand]:
        """People first, by seat; then co-players in the order in which their minds want them run."""
        rows = list(self.given.values())
        people = sorted((row for row in rows if row.seat in self.people), key=lambda row: row.seat)
        return people + [row for row in rows if row.seat not in self.people]


def take_step(turn: OpenTurn) -> None:
    """The world steps; the log row and the new state are written. Needs a transaction around it."""
    episode, opened_at, now = turn.episode, turn.episode.turn_opened_at, timezone.now()
    world = stored.episode_world(episode)
    rows = turn.running_order()
    events = world.step([(row.seat, stored.read_stored_command(row.command)) for row in rows])
    _store_state(episode, world, now=now)
    Step.objects.create(
        episode=episode,
        number=episode.step,
        commands=[_log_entry(row) for row in rows],
        events=[event.to_json() for event in events],
        state_hash=episode.state_hash,
        score=episode.score,
        opened_at=opened_at,
        taken_at=now,
    )


def _log_entry(row: SeatCommand) -> dict[str, Json]:
    return {
        "seat": row.seat,
        "command": row.command,
        "chosen_by": row.chosen_by,
        "fallback": row.fallback,
        "received_at": row.received_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }


def _store_state(episode: Episode, world: World, *, now: datetime) -> None:
    """Compare and set on the step number: the step that another process has taken is not taken again."""
    ended = world.over or world.cut_off
    status = Episode.Status.OVER if world.over else Episode.Status.CUT_OFF
    fresh = {
        "step": episode.step + 1,
        "state": world.to_dict(),
        "state_hash": world.state_hash(),
        "score": world.score(),
        "status": status if ended else Episode.Status.PLAYING,
        "ended_at": now if ended else None,
        "turn_opened_at": now,
        "turn_closes_at": None if ended else clock.next_close(episode, now),
        "deciding_until": None,
        "deciding_by": "",
    }
    if not Episode.objects.filter(pk=episode.pk, step=episode.step).update(**fresh):
        raise StepTakenError(f"step {episode.step + 1} of episode {episode.key} was taken by another process")
    for name, value in fresh.items():
        setattr(episode, name, value)
