"""Reading episodes for pages, sockets and exports. Nothing here changes anything."""

from __future__ import annotations

from dataclasses import replace

from kitchen.contract.page import Page, PlayerView, SeatView, StepView
from kitchen.contract.world import Command, World
from kitchen.play import clock, stored
from kitchen.play.hints import hints_for
from kitchen.play.messages import StateMessage
from kitchen.play.models import Episode, Seat, SeatCommand, Step
from kitchen.registry.figures import achieved
from kitchen.registry.worlds import get_page

HISTORY = 8
"""Steps of *what just happened* that a page shows."""


def seat_by_key(key: str) -> Seat | None:
    """The person's seat that this key opens, with its episode; None if there is none."""
    return Seat.objects.select_related("episode").filter(key=key, mind=None).first()


def seat_page(seat: Seat) -> Page:
    """How the world of this seat is shown."""
    return get_page(seat.episode.world)


def episode_stamp(episode_id: int) -> tuple[object, ...] | None:
    """(steps taken, status, the turn's end, people's commands in for it): differs when a page has to change.

    That co-players have decided is nobody's to see before the step runs."""
    turn = Episode.objects.filter(pk=episode_id).values_list("step", "status", "turn_closes_at").first()
    if turn is None:
        return None
    given = SeatCommand.objects.filter(episode=episode_id, step=turn[0] + 1)
    return (*turn, given.filter(chosen_by__in=("person", clock.TIMEOUT)).count())


def seat_is_played_by(seat_id: int, page: str) -> bool:
    """Whether this page of a browser is still the newest at this seat."""
    return Seat.objects.filter(pk=seat_id, page=page).exists()


def seat_view(seat: Seat) -> SeatView:
    """Everything that the page of this seat shows now."""
    episode = Episode.objects.get(pk=seat.episode_id)
    world = stored.episode_world(episode)
    seats = list(episode.seats.all())
    given = _given(episode)
    missing = [other for other in seats if other.number not in given or not other.is_person]
    phase = _phase(episode, seat, missing)
    choosing = phase == "choose"
    view = SeatView(
        seat=seat.number,
        phase=phase,
        step=episode.step,
        length=world.length,
        label=episode.label,
        players=tuple(PlayerView(s.number, s.name, s.number == seat.number) for s in seats),
        waiting_for=tuple(other.number for other in missing) if phase != "over" else (),
        brief=world.brief(seat.number),
        observation=world.observe(seat.number),
        legal=world.legal_actions(seat.number) if choosing else (),
        anticipated=world.anticipated_actions(seat.number) if choosing else (),
        chosen=given.get(seat.number),
        history=_history(episode, seat.number, world),
        score=episode.score,
        achieved=achieved(episode.world, episode.score),
        step_seconds=episode.step_seconds,
        seconds_left=clock.seconds_left(episode) if choosing else None,
        ended_by_staff=episode.status == Episode.Status.ABORTED,
        abandoned_because=episode.ended_because if episode.status == Episode.Status.ABANDONED else "",
    )
    return replace(view, hints=hints_for(world, view)) if episode.hints and choosing else view


def _given(episode: Episode) -> dict[int, Command]:
    rows = SeatCommand.objects.filter(episode=episode, step=episode.step + 1)
    return {row.seat: stored.read_stored_command(row.command) for row in rows}


def _phase(episode: Episode, seat: Seat, missing: list[Seat]) -> str:
    """`over`, `choose`, `waiting` (for people) or `thinking` (co-players)."""
    if episode.status != Episode.Status.PLAYING:
        return "over"
    if seat.number in {other.number for other in missing}:
        return "choose"
    return "waiting" if any(other.is_person for other in missing) else "thinking"


def _history(episode: Episode, seat: int, world: World) -> tuple[StepView, ...]:
    """The last steps, as far as this seat may know them."""
    rows = Step.objects.filter(episode=episode).order_by("-number")[:HISTORY]
    return tuple(
        StepView(
            number=row.number,
            commands=stored.known_commands(world, seat, row.commands),
            events=stored.known_events(world, [seat], row.events),
            ran_out=clock.ran_out(seat, row.commands),
        )
        for row in rows
    )


def state_message(seat: Seat, view: SeatView) -> StateMessage:
    """The seat's view as it goes to a client that reads JSON."""
    return StateMessage(
        world=seat.episode.world,
        seats=len(view.players),
        seat=view.seat,
        phase=view.phase,
        step=view.step,
        length=view.length,
        observation=view.observation,
        legal=[list(command) for command in view.legal],
        anticipated=[list(command) for command in view.anticipated],
        score=dict(view.score),
        seconds_left=view.seconds_left,
        brief=dict(view.brief),
    )
