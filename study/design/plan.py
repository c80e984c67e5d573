"""From a condition's settings to seats and minds: what a round's episode is made of. Imports no models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kitchen.contract.agent import Agent
from kitchen.contract.organisation import Organisation
from kitchen.contract.world import Json, SettingsError
from kitchen.play.creating import MindPlan
from kitchen.registry.agents import get_agent, make_agent, plays
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import get_world
from study.design.team import is_apart, team_minds, team_organisation

NOBODY = "none"
"""The kind of co-player of a condition in which the participant plays alone."""


class Played(Protocol):
    """A condition, as a row or as a plan: who plays beside the participant."""

    coplayer: str
    coplayer_settings: Mapping[str, Json]
    teammates: int
    organisation: Mapping[str, Json]


def seats_of(played: Played) -> int:
    """How many seats of the world there are."""
    return played.teammates + (not is_apart(played.organisation))


def seat_of(played: Played) -> int:
    """Where the participant sits: the first seat, or beyond the last where they have none of the world's."""
    return played.teammates if is_apart(played.organisation) else 0


def mind_plans(played: Played) -> list[MindPlan]:
    """Who plays beside the participant: one mind that commands all other seats, those that its organisation
    names, or nobody. SettingsError where these do not fit."""
    if played.coplayer == NOBODY or not played.teammates:
        return []
    seats = _others(played.teammates, played.organisation)
    if not played.organisation:
        return [MindPlan(played.coplayer, tuple(seats), dict(played.coplayer_settings))]
    return team_minds(played.organisation, played.coplayer, played.coplayer_settings, seats)


def _others(teammates: int, organisation: Mapping[str, Json]) -> range:
    """The seats that are not the participant's."""
    return range(teammates) if is_apart(organisation) else range(1, teammates + 1)


def organisation_planned(played: Played) -> Organisation | None:
    """What those who play may do with one another; None where nothing is said of it. SettingsError."""
    return team_organisation(played.organisation, mind_plans(played), seats_of(played))


def minds_of(played: Played) -> list[tuple[MindPlan, Agent]]:
    """The minds beside the participant; none where they play alone. SettingsError or UnknownNameError for one
    that cannot be made."""
    return [(plan, make_agent(plan.kind, plan.settings)) for plan in mind_plans(played)]


def condition_cautions(played: Played) -> tuple[str, ...]:
    """What will keep the co-players from playing as they are set up, in whole sentences; nothing for those
    that cannot be played at all (`condition_check` says so)."""
    try:
        minds = minds_of(played)
    except (SettingsError, UnknownNameError):
        return ()
    return tuple(dict.fromkeys(caution for _, mind in minds for caution in mind.cautions()))


def condition_remarks(played: Played) -> tuple[str, ...]:
    """What of the co-players' settings comes to nothing, likewise."""
    try:
        minds = minds_of(played)
    except (SettingsError, UnknownNameError):
        return ()
    remarks = [remark for _, mind in minds for remark in mind.remarks()]
    return tuple(dict.fromkeys([*remarks, *_blind(played)]))


def _blind(played: Played) -> list[str]:
    if not is_apart(played.organisation):
        return []
    planned = organisation_planned(played)
    if planned is None or planned.seats_seen(seat_of(played)):
        return []
    return ["The participant leads and sees nothing of the world but what they are told."]


def condition_refusal(played: Played) -> None:
    """SettingsError, in words, for settings that are not to be chosen any more; who has them plays by them.
    SettingsError or UnknownNameError for a co-player that cannot be made."""
    for _, mind in minds_of(played):
        if why := mind.refusal():
            raise SettingsError(why)


def condition_check(
    *,
    world: str,
    settings: Mapping[str, Json],
    coplayer: str,
    coplayer_settings: Mapping[str, Json],
    teammates: int,
    organisation: Mapping[str, Json] | None = None,
    step_seconds: float | None = None,
) -> None:
    """SettingsError or UnknownNameError, in words, if this condition cannot be played."""
    kind, apart = get_world(world), is_apart(organisation or {})
    seats = teammates + (not apart)
    if not kind.min_seats <= seats <= kind.max_seats:
        own = 0 if apart else 1
        fitting = f"{kind.min_seats - own} to {kind.max_seats - own}"
        raise SettingsError(
            f"teammates: {teammates} do not fit, {world} takes {fitting} beside the participant"
        )
    kind.create(seats=seats, settings=settings)
    if (coplayer == NOBODY) != (teammates == 0):
        raise SettingsError("teammates: choose a co-player and at least one teammate, or neither")
    if coplayer != NOBODY:
        if not plays(get_agent(coplayer), world):
            raise SettingsError(f"co-player: {coplayer} cannot play {world}")
        make_agent(coplayer, coplayer_settings)
    if apart and step_seconds is None:
        raise SettingsError("step_seconds: who leads and does not act needs a step timer")
    if organisation:
        _check_team(organisation, world, coplayer, coplayer_settings, teammates)


def _check_team(
    organisation: Mapping[str, Json],
    world: str,
    coplayer: str,
    coplayer_settings: Mapping[str, Json],
    teammates: int,
) -> None:
    seats = _others(teammates, organisation)
    minds = team_minds(organisation, coplayer, coplayer_settings, seats) if teammates else []
    for mind in minds:
        if not plays(get_agent(mind.kind), world):
            raise SettingsError(f"members: {mind.kind} cannot play {world}")
        make_agent(mind.kind, mind.settings)
    team_organisation(organisation, minds, teammates + (not is_apart(organisation)))
