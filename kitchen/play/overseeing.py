"""What somebody sees who leads without a seat of the world: what the organisation lets them, and no menu."""

from __future__ import annotations

from kitchen.contract.page import PlayerView, SeatView, StepView
from kitchen.contract.plans import known_plans
from kitchen.contract.world import Command
from kitchen.play import stored
from kitchen.play.intents import known_intents
from kitchen.play.models import Episode
from kitchen.play.past import PastStep
from kitchen.play.saying import organisation_of
from kitchen.play.turns import OpenTurn
from kitchen.registry.figures import achieved
from kitchen.registry.worlds import get_page


def overseen(turn: OpenTurn, number: int) -> SeatView:
    """Everything that the page of this member shows in this turn, but for what is said."""
    episode, world, page = turn.episode, turn.world, get_page(turn.episode.world)
    seen = seats_overseen(turn, number)
    eyes = seen[0] if seen else None
    return SeatView(
        seat=number,
        phase="lead" if turn.is_open else "over",
        step=episode.step,
        length=world.length,
        label=episode.label,
        players=tuple(
            PlayerView(seat.number, page.named(seat.number + 1), is_you=False) for seat in turn.acting
        ),
        waiting_for=(),
        brief=world.public_brief(),
        observation={} if eyes is None else world.observe(eyes),
        legal=(),
        anticipated=(),
        chosen=None,
        history=tuple(_known(turn, step, seen) for step in turn.past) if seen else (),
        score=episode.score,
        achieved=achieved(episode.world, episode.score),
        figures=tuple(figure for figure in world.figures if figure.words),
        step_seconds=episode.step_seconds,
        ended_by_staff=episode.status == Episode.Status.ABORTED,
        until=bool(episode.until),
        reached=episode.status == Episode.Status.REACHED,
        abandoned_because=episode.ended_because if episode.status == Episode.Status.ABANDONED else "",
        shown=episode.shown,
        shows_intents=episode.shows_intents and eyes is not None,
        plans=_plans(turn, eyes),
        intents=known_intents(world, eyes, turn.intents) if turn.is_open and eyes is not None else {},
        acts=False,
        looks_on=bool(page.overview_layout) and eyes is not None,
    )


def seats_overseen(turn: OpenTurn, number: int) -> tuple[int, ...]:
    """The seats whose observations this member gets."""
    organisation = organisation_of(turn.episode)
    return organisation.seats_seen(number) if organisation else ()


def _known(turn: OpenTurn, step: PastStep, seen: tuple[int, ...]) -> StepView:
    """What those seats got to know of a step, together."""
    commands: dict[int, Command] = {}
    for seat in seen:
        commands |= step.known(turn.world, seat).commands
    return StepView(step.number, commands, stored.known_events(turn.world, seen, step.events))


def _plans(turn: OpenTurn, eyes: int | None) -> dict[int, tuple[Command, ...]]:
    if eyes is None or not turn.episode.shows_intents:
        return {}
    return known_plans(turn.world, eyes, turn.plans, turn.step, others=True)
