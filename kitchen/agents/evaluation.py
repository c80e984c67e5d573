"""Build the situation that an agent sees, and compute the collaboration score (CoS).

The CoS averages completed / (completed + failed) orders over the tested intervals between orders (alpha); see
MindAgent, arXiv 2309.09971, section 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import fmean

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
    """Return the situation in the world's present state for an agent that holds these seats. `commanded`
    has the known commands of other seats, and `people` lists the seats of people."""
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
    """Return the situation with the organisation and the messages of one member. If `organisation` is
    None, return `seen` unchanged. `member` is the number of a member without a seat; by default the lowest
    seat is used."""
    if organisation is None:
        return seen
    number = min(seen.seats) if member is None else member
    return replace(seen, talk=TeamTalk(organisation, number, messages))


def collaboration_score(counts: Iterable[tuple[int, int]]) -> float | None:
    """Return the mean over intervals of completed / (completed + failed), from (completed, failed) pairs.
    None if there is no interval, or if both counts of an interval are 0."""
    shares = [done / (done + failed) if done + failed else None for done, failed in counts]
    return None if None in shares or not shares else fmean(share for share in shares if share is not None)
