"""Build an agent's situation, which is everything that the agent may know and do in one step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kitchen.contract.agent import Situation, TeamTalk
from kitchen.contract.organisation import Organisation
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Event, Json, World


def make_situation(
    world: World,
    seats: Iterable[int],
    *,
    memory: Json = None,
    events: tuple[Event, ...] = (),
    commanded: Mapping[int, tuple[str, ...]] | None = None,
    people: tuple[int, ...] = (),
    seed: int = 0,
) -> Situation:
    """Return what an agent that holds these seats can know in the world's present state. `commanded` has the
    known commands of other seats, and `people` lists the seats of people."""
    held = tuple(seats)
    return Situation(
        world=world.kind,
        step=world.clock,
        seats=held,
        briefs={seat: world.brief(seat) for seat in held},
        observations={seat: world.observe(seat) for seat in held},
        legal={seat: world.legal_actions(seat) for seat in held},
        commanded=dict(commanded or {}),
        people=people,
        events=events,
        memory=memory,
        seed=seed,
    )


def situation_in_organisation(
    seen: Situation,
    organisation: Organisation | None,
    messages: tuple[TeamMessage, ...] = (),
    member: int | None = None,
) -> Situation:
    """Return the situation `seen`, with the organisation (the team's rules) and one member's messages added.
    If `organisation` is None, return `seen` unchanged.

    `member` is the number of the member to whom the situation is shown. It must be given for a member without
    a seat. By default, it is the member with the situation's lowest seat.
    """
    if organisation is None:
        return seen
    number = min(seen.seats) if member is None else member
    return replace(seen, talk=TeamTalk(organisation, number, messages))
